//! The registry of non-worker threads.
//!
//! A plain thread has a *mark*: whether it sleeps in this library now, and whether that ends by
//! itself. The mark is in the payload of the header that the thread has borrowed, which no closure
//! uses. Written by the thread, read by the watcher.
//!
//! The bell: `WATCHED` is 0 while no watcher watches. The watcher clears it when it stops, and the
//! thread that rings sets it. Workers that park or wake, and threads that sleep without a time
//! limit, read it, one load of a line that is rarely written; they ring only if it is 0. LIVENESS:
//! the watcher announces that it stops, and then looks once more (`observe::deadlock::detector`). A
//! change here that misses both is found after the next change. The only consequence is that a
//! report comes later.
//!
//! # Invariants
//! * VG1. A header is in the registry from the time at which a thread has borrowed it until that
//!   thread returns it. Meanwhile its payload holds a mark.

use std::collections::BTreeMap;
use std::mem::MaybeUninit;
// Not from `shim`: a mark is created in place, and no model gets here.
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Instant;

use crate::fiber::FiberPtr;
use crate::fiber::header::Header;
use crate::shim::{Condvar, Mutex, StaticLock};

/// A plain thread that has waited in this library.
#[derive(Debug)]
pub(crate) struct PlainThread {
    /// The number of its header.
    pub(crate) id: u64,
    /// The thread's name.
    pub(crate) name: Option<String>,
    pub(crate) sleep: Sleep,
}

/// Whether a plain thread sleeps in this library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sleep {
    /// The thread is awake, or sleeps elsewhere.
    None,
    /// The thread sleeps until a deadline at the latest.
    Timed,
    /// The thread sleeps until it is woken.
    Endless,
}

const AWAKE: u32 = 0;
const TIMED: u32 = 1;
const ENDLESS: u32 = 2;

/// The threads that have borrowed a header, by the header's address, with their names (VG1).
static REGISTER: StaticLock<BTreeMap<usize, Entry>> = StaticLock::new(BTreeMap::new());

struct Entry {
    header: FiberPtr,
    name: Option<String>,
}

// SAFETY: H1, VG1: only atomics are accessed through it.
unsafe impl Send for Entry {}

/// Whether there is a watcher: then no thread need ring.
static WATCHED: AtomicU32 = AtomicU32::new(1);
static BELL: Mutex<bool> = Mutex::new(false);
static RUNG: Condvar = Condvar::new();

/// The number of threads that may wake a fiber though they do not run fibers.
static EXTERNAL: AtomicUsize = AtomicUsize::new(0);
/// The number of the library's own threads that are idle.
static RESTING: AtomicUsize = AtomicUsize::new(0);

/// Notifies a watcher that has stopped of a change. One load if none has.
#[inline]
pub(crate) fn attend() {
    // ORDERING: SeqCst: after the caller's announcement that it sleeps or wakes; pairs with the
    // store in `stop`.
    if WATCHED.load(Ordering::SeqCst) == 0 {
        ring();
    }
}

#[cold]
fn ring() {
    if WATCHED.swap(1, Ordering::SeqCst) == 0 {
        *BELL.lock() = true;
        RUNG.notify_all();
    }
}

/// *Watcher.* Stops watching: from here on, changes ring.
pub(crate) fn stop() {
    *BELL.lock() = false;
    WATCHED.store(0, Ordering::SeqCst);
}

/// *Watcher.* Sleeps until `until`, regardless of changes; without it, after a [`stop`], until the
/// bell rings.
pub(crate) fn await_change(until: Option<Instant>) {
    let mut rung = BELL.lock();
    loop {
        rung = match until {
            None if *rung => return,
            None => RUNG.wait(rung),
            Some(until) if until <= crate::shim::now() => return,
            Some(until) => RUNG.wait_until(rung, until),
        };
    }
}

/// Registers the calling thread, which has borrowed `fiber`.
pub(crate) fn enter(fiber: FiberPtr) {
    // SAFETY: H2: the payload is the thread's, and no closure will be there.
    let mark = unsafe { &mut *Header::payload(fiber).cast::<MaybeUninit<AtomicU32>>() };
    mark.write(AtomicU32::new(AWAKE));
    let name = std::thread::current().name().map(str::to_owned);
    let header = fiber;
    REGISTER.lock().insert(fiber.addr(), Entry { header, name });
}

/// Removes the calling thread, which returns `fiber`.
pub(crate) fn leave(fiber: FiberPtr) {
    REGISTER.lock().remove(&fiber.addr());
    attend();
}

/// Returns the plain threads that have waited in this library and have not ended.
pub(crate) fn plain_threads() -> Vec<PlainThread> {
    let register = REGISTER.lock();
    let describe = |entry: &Entry| {
        let mark = mark_of(entry.header).load(Ordering::SeqCst);
        let id = entry.header.header().id();
        PlainThread {
            id,
            name: entry.name.clone(),
            sleep: match mark {
                AWAKE => Sleep::None,
                TIMED => Sleep::Timed,
                _ => Sleep::Endless,
            },
        }
    };
    register.values().map(describe).collect()
}

/// Marks the calling thread, which has borrowed `fiber`, as asleep while it is in `sleep`.
pub(crate) fn waiting<T>(fiber: FiberPtr, timed: bool, sleep: impl FnOnce() -> T) -> T {
    let mark = mark_of(fiber);
    mark.store(if timed { TIMED } else { ENDLESS }, Ordering::SeqCst);
    if !timed {
        attend();
    }
    // Does not unwind: it is the sleep of a park.
    let result = sleep();
    mark.store(AWAKE, Ordering::SeqCst);
    result
}

/// Runs `f` on a thread that may still wake a fiber.
pub(crate) fn external<T>(f: impl FnOnce() -> T) -> T {
    struct Over;
    impl Drop for Over {
        fn drop(&mut self) {
            EXTERNAL.fetch_sub(1, Ordering::SeqCst);
            attend();
        }
    }
    EXTERNAL.fetch_add(1, Ordering::SeqCst);
    let _over = Over;
    f()
}

/// Returns the number of threads in [`external`].
pub(crate) fn externals() -> usize {
    EXTERNAL.load(Ordering::SeqCst)
}

/// An event that may come from outside of the process. Dropping it withdraws the possibility.
#[derive(Debug)]
pub(crate) struct ExternalWaker(u64);

/// Whether a fiber waits for an event from outside.
type Awaited = Arc<dyn Fn() -> bool + Send + Sync>;

/// The events that may come from outside.
static WAKERS: StaticLock<ExternalWakers> = StaticLock::new(ExternalWakers {
    made: 0,
    awaited: Vec::new(),
});

struct ExternalWakers {
    made: u64,
    /// Each with its number.
    awaited: Vec<(u64, Awaited)>,
}

/// Registers events that may come from outside. `awaited` says whether a fiber waits for them; it
/// is called without any lock of this module.
pub(crate) fn register_external_waker(
    awaited: impl Fn() -> bool + Send + Sync + 'static,
) -> ExternalWaker {
    let mut wakers = WAKERS.lock();
    wakers.made += 1;
    let number = wakers.made;
    wakers.awaited.push((number, Arc::new(awaited)));
    ExternalWaker(number)
}

impl Drop for ExternalWaker {
    fn drop(&mut self) {
        let mut wakers = WAKERS.lock();
        let own = |(number, _): &(u64, Awaited)| *number == self.0;
        let place = wakers.awaited.iter().position(own);
        let gone = place.map(|place| wakers.awaited.swap_remove(place));
        drop(wakers);
        drop(gone);
        attend();
    }
}

/// Returns whether a fiber waits for such an event, so that it may be woken from outside.
pub(crate) fn has_external_wakers() -> bool {
    let awaited: Vec<_> = {
        let wakers = WAKERS.lock();
        wakers
            .awaited
            .iter()
            .map(|(_, it)| Arc::clone(it))
            .collect()
    };
    awaited.iter().any(|it| it())
}

/// Counts the calling thread, one of the library's own, as idle during `sleep`.
pub(crate) fn rest<T>(sleep: impl FnOnce() -> T) -> T {
    RESTING.fetch_add(1, Ordering::SeqCst);
    let result = sleep();
    RESTING.fetch_sub(1, Ordering::SeqCst);
    result
}

/// Returns the number of threads in [`rest`].
pub(crate) fn idle_service_threads() -> usize {
    RESTING.load(Ordering::SeqCst)
}

fn mark_of(header: FiberPtr) -> &'static AtomicU32 {
    // SAFETY: VG1, H1: the payload of a borrowed header, in memory that is never freed.
    unsafe { &*Header::payload(header).cast::<AtomicU32>() }
}
