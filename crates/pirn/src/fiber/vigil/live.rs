//! The vigil as it is.
//!
//! A plain thread has a *mark*, which says whether it sleeps here now, and whether that ends by
//! itself. The mark lies in the payload of the header that the thread has borrowed,
//! which no closure uses. Written by the thread, read by whoever watches.
//!
//! The bell: whoever watches says so in `WATCHED`. Workers that go to sleep or wake, and threads
//! that go to sleep without a time limit, look at that, one load of a line that is hardly ever
//! written; only if nobody watches do they ring. LIVENESS: the watcher says that it stops, and
//! then looks once more (`sched::watch`); a look here that misses both is made good by the next
//! one. All that it costs is that a report comes later.
//!
//! # Invariants
//! * VG1. A header is in the register from when a thread has borrowed it until that thread
//!   gives it back; as long as it is there its payload holds a mark.

use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
// Not from `shim`: a mark is made in place, and nothing that a model drives gets here.
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Instant;

use crate::fiber::FiberPtr;
use crate::fiber::header::Header;
use crate::shim::{Condvar, Mutex, StaticLock};

/// A plain thread that has waited here before.
#[derive(Debug)]
pub(crate) struct Person {
    /// The number of its header.
    pub(crate) id: u64,
    /// The thread's name.
    pub(crate) name: Option<String>,
    pub(crate) sleep: Sleep,
}

/// Whether a plain thread sleeps in this library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sleep {
    /// It is awake, or sleeps elsewhere.
    None,
    /// Until some time has come.
    Timed,
    /// Until somebody wakes it.
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

// SAFETY: H1, VG1: only atomics are reached through it.
unsafe impl Send for Entry {}

/// Whether somebody watches: then nobody need ring.
static WATCHED: AtomicU32 = AtomicU32::new(1);
static BELL: Mutex<bool> = Mutex::new(false);
static RUNG: Condvar = Condvar::new();

/// Threads that may wake somebody though they do not run fibers.
static EXTERNAL: AtomicUsize = AtomicUsize::new(0);
/// Threads of ours that have nothing to do.
static RESTING: AtomicUsize = AtomicUsize::new(0);

/// Tells whoever has stopped watching that something has changed. One load if nobody has.
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

/// *Watcher.* From here on whoever changes something rings.
pub(crate) fn stop() {
    *BELL.lock() = false;
    WATCHED.store(0, Ordering::SeqCst);
}

/// *Watcher.* Sleeps until `until`, whatever changes meanwhile; with none, after a
/// [`stop`], until the bell rings.
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
    REGISTER
        .lock()
        .insert(fiber.addr().get(), Entry { header, name });
}

/// Strikes out the calling thread, which gives `fiber` back.
pub(crate) fn leave(fiber: FiberPtr) {
    REGISTER.lock().remove(&fiber.addr().get());
    attend();
}

/// The plain threads that have waited here before and have not ended.
pub(crate) fn persons() -> Vec<Person> {
    let register = REGISTER.lock();
    let tell = |entry: &Entry| {
        let mark = mark_of(entry.header).load(Ordering::SeqCst);
        // SAFETY: H1.
        let id = unsafe { entry.header.as_ref() }.id();
        Person {
            id,
            name: entry.name.clone(),
            sleep: match mark {
                AWAKE => Sleep::None,
                TIMED => Sleep::Timed,
                _ => Sleep::Endless,
            },
        }
    };
    register.values().map(tell).collect()
}

/// Has the calling thread, whose header this is, marked as asleep while it is in `sleep`.
pub(crate) fn waiting<T>(header: &Header, timed: bool, sleep: impl FnOnce() -> T) -> T {
    let mark = mark_of(NonNull::from(header));
    mark.store(if timed { TIMED } else { ENDLESS }, Ordering::SeqCst);
    if !timed {
        attend();
    }
    // Does not unwind: it is the sleep of a park.
    let result = sleep();
    mark.store(AWAKE, Ordering::SeqCst);
    result
}

/// Runs `f` on a thread that may still wake somebody.
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

/// Threads in [`external`].
pub(crate) fn externals() -> usize {
    EXTERNAL.load(Ordering::SeqCst)
}

/// Somebody outside of the process may bring something about. Dropped, nobody may any more.
#[derive(Debug)]
pub(crate) struct Hope(u64);

/// Whether anybody waits for what an outsider may bring about.
type Awaited = Arc<dyn Fn() -> bool + Send + Sync>;

/// What outsiders may bring about.
static HOPES: StaticLock<Hopes> = StaticLock::new(Hopes {
    made: 0,
    awaited: Vec::new(),
});

struct Hopes {
    made: u64,
    /// Each with its number.
    awaited: Vec<(u64, Awaited)>,
}

/// Says that somebody outside may bring about what `awaited` knows of: whether anybody waits for
/// it. That is asked with no lock of this room held.
pub(crate) fn hope_for(awaited: impl Fn() -> bool + Send + Sync + 'static) -> Hope {
    let mut hopes = HOPES.lock();
    hopes.made += 1;
    let number = hopes.made;
    hopes.awaited.push((number, Arc::new(awaited)));
    Hope(number)
}

impl Drop for Hope {
    fn drop(&mut self) {
        let mut hopes = HOPES.lock();
        let own = |(number, _): &(u64, Awaited)| *number == self.0;
        let place = hopes.awaited.iter().position(own);
        let gone = place.map(|place| hopes.awaited.swap_remove(place));
        drop(hopes);
        drop(gone);
        attend();
    }
}

/// Whether somebody waits for such a thing, so that an outsider may wake it.
pub(crate) fn hopes() -> bool {
    let awaited: Vec<_> = {
        let hopes = HOPES.lock();
        hopes.awaited.iter().map(|(_, it)| Arc::clone(it)).collect()
    };
    awaited.iter().any(|it| it())
}

/// Counts the calling thread, one of the library's own, as having nothing to do in `sleep`.
pub(crate) fn rest<T>(sleep: impl FnOnce() -> T) -> T {
    RESTING.fetch_add(1, Ordering::SeqCst);
    let result = sleep();
    RESTING.fetch_sub(1, Ordering::SeqCst);
    result
}

/// Threads in [`rest`].
pub(crate) fn resters() -> usize {
    RESTING.load(Ordering::SeqCst)
}

fn mark_of(header: FiberPtr) -> &'static AtomicU32 {
    // SAFETY: VG1, H1: the payload of a borrowed header, in memory that stays.
    unsafe { &*Header::payload(header).cast::<AtomicU32>() }
}
