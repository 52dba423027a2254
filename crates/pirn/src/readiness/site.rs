//! The record of one source. The module's header has the protocol.

use std::ptr;
use std::task::Waker;

use super::interest::Interest;
use crate::base::drop_guard::drop_caught;
use crate::base::mutant::mutant;
use crate::fiber::FiberPtr;
use crate::fiber::ticket::Wake;
use crate::fiber::waiter::WaitQueue;
use crate::shim::atomic::{AtomicPtr, AtomicU64, Ordering};
use crate::shim::{Lock, Mutex};
use crate::sys::poller::{Driver, Event, RawSource};
use crate::wait::object::{Describe, ObjectKind};
use crate::wait::polling::call;
use crate::wait::wake_all;

const READ: u64 = 1;
const WRITE: u64 = 2;
const READ_CLOSED: u64 = 4;
const WRITE_CLOSED: u64 = 8;
const URGENT: u64 = 16;
/// The increment for one event.
const TICK: u64 = 32;

/// A source's record.
pub(super) struct Site {
    /// See the table in the module's header.
    word: AtomicU64,
    pub(super) waits: Lock<Waits>,
    pub(super) home: Mutex<Home>,
    /// The home's driver, for a check without its lock.
    pub(super) driver: AtomicPtr<Driver>,
}

/// The waiters of a source.
pub(crate) struct Waits {
    pub(super) generation: u32,
    readers: WaitQueue<()>,
    writers: WaitQueue<()>,
    /// The tasks that have polled it last, one for each side, if they wait.
    read_task: Option<Waker>,
    write_task: Option<Waker>,
    /// The calls of libc that wait, or have waited.
    #[cfg(target_os = "linux")]
    calls: Option<Box<Calls>>,
}

/// Calls of libc on a descriptor.
#[cfg(target_os = "linux")]
struct Calls {
    descriptor: i32,
    reads: Side,
    writes: Side,
}

/// Those of one side.
#[cfg(target_os = "linux")]
#[derive(Default)]
struct Side {
    /// The last one.
    function: &'static str,
    /// How many wait, or are about to.
    count: u32,
}

/// The registration of a source.
pub(super) struct Home {
    pub(super) driver: Option<&'static Driver>,
    pub(super) raw: Option<RawSource>,
}

/// The readiness known at one moment.
#[derive(Debug, Copy, Clone)]
pub(crate) struct Seen(u64);

impl Describe for Waits {
    fn describe(&self) -> ObjectKind {
        #[cfg(target_os = "linux")]
        if let Some(calls) = &self.calls {
            let function = |side: &Side| (side.count > 0).then_some(side.function);
            return ObjectKind::Call {
                reading: function(&calls.reads),
                writing: function(&calls.writes),
                descriptor: calls.descriptor,
            };
        }
        ObjectKind::Socket {
            reading: self.readers.count() + usize::from(self.read_task.is_some()),
            writing: self.writers.count() + usize::from(self.write_task.is_some()),
        }
    }
}

impl Waits {
    pub(super) fn queue(&mut self, interest: Interest) -> &mut WaitQueue<()> {
        match interest {
            Interest::Readable => &mut self.readers,
            Interest::Writable => &mut self.writers,
        }
    }

    #[cfg(any(feature = "futures", pirn_modelled))]
    fn task(&mut self, interest: Interest) -> &mut Option<Waker> {
        match interest {
            Interest::Readable => &mut self.read_task,
            Interest::Writable => &mut self.write_task,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queues_are_empty() && self.read_task.is_none() && self.write_task.is_none()
    }

    pub(super) fn each_fiber(&self, mut f: impl FnMut(FiberPtr)) {
        self.readers.each_fiber(&mut f);
        self.writers.each_fiber(&mut f);
    }

    /// Counts a call of `function` that is about to wait for this descriptor.
    #[cfg(target_os = "linux")]
    pub(super) fn begin_call(
        &mut self,
        (function, descriptor): (&'static str, i32),
        interest: Interest,
    ) {
        let calls = self.calls.get_or_insert_with(|| {
            Box::new(Calls {
                descriptor,
                reads: Side::default(),
                writes: Side::default(),
            })
        });
        let side = calls.side(interest);
        side.function = function;
        side.count += 1;
    }

    /// Ends [`begin_call`](Self::begin_call).
    #[cfg(target_os = "linux")]
    pub(super) fn end_call(&mut self, interest: Interest) {
        if let Some(calls) = &mut self.calls {
            calls.side(interest).count -= 1;
        }
    }

    /// Returns the generation, and whether calls of libc wait to read and to write.
    #[cfg(target_os = "linux")]
    pub(super) fn calls(&self) -> (u32, (bool, bool)) {
        let sides = self.calls.as_ref();
        let sides = sides.map(|it| (it.reads.count > 0, it.writes.count > 0));
        (self.generation, sides.unwrap_or_default())
    }

    /// Returns true if calls of libc have waited, and none waits now.
    #[cfg(target_os = "linux")]
    pub(super) fn has_idle_calls(&self) -> bool {
        let idle = self.calls().1 == (false, false) || mutant!("call_counts_as_idle");
        self.calls.is_some() && idle
    }

    fn queues_are_empty(&self) -> bool {
        self.readers.is_empty() && self.writers.is_empty()
    }

    /// Claims one of the waiters of a side that is ready.
    fn claim(&mut self, word: u64) -> Option<Wake> {
        let reader = match word & READ {
            0 => None,
            _ => self.readers.claim_first(|()| ()),
        };
        match word & WRITE {
            0 => reader,
            _ => reader.or_else(|| self.writers.claim_first(|()| ())),
        }
    }
}

#[cfg(target_os = "linux")]
impl Calls {
    fn side(&mut self, interest: Interest) -> &mut Side {
        match interest {
            Interest::Readable => &mut self.reads,
            Interest::Writable => &mut self.writes,
        }
    }
}

impl Site {
    pub(super) fn new() -> Site {
        let waits = Waits {
            generation: 0,
            readers: WaitQueue::new(),
            writers: WaitQueue::new(),
            read_task: None,
            write_task: None,
            #[cfg(target_os = "linux")]
            calls: None,
        };
        let home = Home {
            driver: None,
            raw: None,
        };
        Site {
            word: AtomicU64::new(READ | WRITE),
            waits: Lock::new(waits),
            home: Mutex::new(home),
            driver: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Ends the generation of a source without waiters, and begins the next one, with unknown
    /// readiness.
    pub(super) fn renew(&self) {
        let mut waits = self.waits.lock();
        debug_assert!(waits.queues_are_empty(), "a wait for a source borrows it");
        let next = u32::from(!mutant!("site_generation_kept"));
        waits.generation = waits.generation.wrapping_add(next);
        self.word.store(READ | WRITE, Ordering::Relaxed);
        let tasks = (waits.read_task.take(), waits.write_task.take());
        drop(waits);
        // Drops user code, with the lock free.
        drop_caught(tasks);
    }

    /// Registers `waker` for the next event of this side, in place of an earlier task's, if one
    /// `may_come`; returns true then. Else nothing is registered: an attempt may succeed.
    #[cfg(any(feature = "futures", pirn_modelled))]
    pub(super) fn call(
        &self,
        interest: Interest,
        waker: &Waker,
        may_come: impl Fn(&Site) -> bool,
    ) -> bool {
        let mut waits = self.waits.lock();
        if !may_come(self) {
            return false;
        }
        if waits
            .task(interest)
            .as_ref()
            .is_some_and(|known| known.will_wake(waker))
        {
            return true;
        }
        drop(waits);
        // Wakers are cloned and dropped with the lock free: they run user code.
        let clone = waker.clone();
        let mut waits = self.waits.lock();
        if !may_come(self) && !mutant!("readiness_leaves_waker_late") {
            drop(waits);
            return false;
        }
        let known = waits.task(interest).replace(clone);
        drop(waits);
        drop(known);
        true
    }

    #[inline]
    pub(super) fn look(&self) -> Seen {
        // ORDERING: Relaxed: an attempt finds the truth; see `clear`.
        Seen(self.word.load(Ordering::Relaxed))
    }

    /// Marks the source as not ready after an attempt has shown it, unless an event has come since
    /// it was `seen`.
    pub(super) fn clear(&self, seen: Seen, interest: Interest) {
        // Some closed sources may still have to wait: a named pipe with a new writer that has
        // written nothing.
        let bits = match mutant!("site_clear_takes_both") {
            true => READ | WRITE,
            false => interest.bit() | interest.bit() << 2,
        };
        let cleared = seen.0 & !bits;
        // The other side may have been cleared meanwhile: then the next attempt clears this one.
        // ORDERING: Relaxed: only the word itself matters. The attempt was a system call, which is
        // not reordered after this.
        if mutant!("readiness_clears_blindly") {
            self.word.fetch_and(!interest.bit(), Ordering::Relaxed);
        }
        let _ = self.word.compare_exchange(
            seen.0,
            cleared,
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
    }

    /// Like [`clear`](Self::clear), after an attempt has transferred less than its buffer holds. If
    /// the source is closed, or urgent data have come, that does not predict the next attempt.
    pub(super) fn drained(&self, seen: Seen, interest: Interest) {
        if seen.0 & (interest.bit() << 2 | URGENT) == 0 {
            self.clear(seen, interest);
        }
    }

    /// Delivers an event to the waiters.
    pub(super) fn notify(&self, generation: u32, event: Event) {
        let mut waits = self.waits.lock();
        if waits.generation != generation && !mutant!("site_event_of_any_generation") {
            return;
        }
        let set = bits(event);
        let late = mutant!("site_event_noted_late");
        if !late {
            self.note(set);
        }
        let first = waits.claim(set);
        let more = !waits.queues_are_empty() && !mutant!("site_event_wakes_one");
        let reader = waits.read_task.take_if(|_| set & READ != 0);
        let writer = waits.write_task.take_if(|_| set & WRITE != 0);
        drop(waits);
        if late {
            self.note(set);
        }
        if let Some(wake) = first {
            wake.enqueue();
        }
        if more {
            // A later waiter finds the bit set, or has cleared it after an attempt.
            wake_all(&self.waits, |waits| {
                let same = waits.generation == generation;
                waits.claim(if same { self.look().0 & set } else { 0 })
            });
        }
        reader.into_iter().chain(writer).for_each(call);
    }

    /// Sets the bits of an event, and counts it. Requires the lock of the queues.
    fn note(&self, set: u64) {
        let tick = if mutant!("site_event_uncounted") {
            0
        } else {
            TICK
        };
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            let next = (word | set).wrapping_add(tick);
            // Fails if a bit is cleared meanwhile.
            match self.word.compare_exchange_weak(
                word,
                next,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return,
                Err(now) => word = now,
            }
        }
    }

    /// Wakes all waiters, to try again.
    pub(super) fn wake_waiters(&self) {
        let generation = self.waits.lock().generation;
        let anything = Event {
            token: 0,
            readable: true,
            writable: true,
            urgent: false,
            read_closed: false,
            write_closed: false,
        };
        self.notify(generation, anything);
    }

    /// Records that it is in no driver.
    pub(super) fn forget_driver(&self) {
        self.driver.store(ptr::null_mut(), Ordering::Relaxed);
    }

    /// Returns true if it is in `driver`.
    pub(super) fn is_in(&self, driver: &Driver) -> bool {
        // ORDERING: Relaxed: the caller asks about its own driver, or has seen that it shares.
        ptr::eq(self.driver.load(Ordering::Relaxed).cast_const(), driver)
    }

    /// Returns true if fibers or threads wait for it.
    pub(super) fn is_awaited(&self) -> bool {
        !self.waits.lock().is_empty()
    }
}

impl Seen {
    #[inline]
    pub(crate) fn is_ready(self, interest: Interest) -> bool {
        self.0 & interest.bit() != 0
    }
}

impl Interest {
    #[inline]
    fn bit(self) -> u64 {
        match self {
            Interest::Readable => READ,
            Interest::Writable => WRITE,
        }
    }
}

fn bits(event: Event) -> u64 {
    let bit = |yes: bool, bit: u64| if yes { bit } else { 0 };
    bit(event.readable, READ)
        | bit(event.writable, WRITE)
        | bit(event.read_closed, READ | READ_CLOSED)
        | bit(event.urgent, URGENT)
        | bit(event.write_closed, WRITE | WRITE_CLOSED)
}
