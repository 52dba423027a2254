//! Stops threads for a moment between any two instructions.
//!
//! A thread of its own sends one of them a signal at a random moment; the handler sleeps for a
//! random time. So the others run while one is stopped in the middle of a protocol, or returns from
//! a system call with `EINTR`. The models do the same at each access to memory, but with stand-ins
//! for the system.
//!
//! A signal also ends a sleep that a wake should have ended, and so may hide a lost wake. So each
//! call of [`Held::allow`] permits one signal at most.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use std::{hint, io, mem, ptr, thread};

/// A hold takes less than this many nanoseconds.
const LONGEST: u64 = 60_000;

/// How many holds have ended, in the whole process.
static ENDED: AtomicU64 = AtomicU64::new(0);

/// The threads that may be held: each from `enter` to `leave`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Held(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    threads: Mutex<Vec<libc::pthread_t>>,
    /// One more hold is allowed.
    allowed: AtomicBool,
    ends: AtomicBool,
}

impl Held {
    /// Adds the calling thread. It must call [`leave`](Self::leave) before it ends.
    pub(crate) fn enter(&self) {
        install();
        self.list(|threads| threads.push(me()));
    }

    /// Removes the calling thread.
    pub(crate) fn leave(&self) {
        self.list(|threads| threads.retain(|thread| *thread != me()));
    }

    /// Runs `work` with the calling thread on the list.
    pub(crate) fn while_in<R>(&self, work: impl FnOnce() -> R) -> R {
        self.enter();
        let _leaves = Leaves(self);
        work()
    }

    /// Allows one hold, within the next 100 µs or so.
    pub(crate) fn allow(&self) {
        self.0.allowed.store(true, Ordering::Relaxed);
    }

    /// Holds one of the threads.
    fn hold_one(&self) {
        self.list(|threads| {
            let Some(one) = threads.get(dice() as usize % threads.len().max(1)) else {
                return;
            };
            let before = ENDED.load(Ordering::Relaxed);
            // SAFETY: the thread lives: it leaves the list, under its lock, before it ends. The
            // handler is installed.
            unsafe { libc::pthread_kill(*one, signal()) };
            // No second signal before the end of this one: a thread that always has one pending
            // executes nothing else.
            while ENDED.load(Ordering::Relaxed) == before {
                thread::sleep(Duration::from_micros(10));
            }
        });
    }

    fn list<R>(&self, edit: impl FnOnce(&mut Vec<libc::pthread_t>) -> R) -> R {
        edit(
            &mut self
                .0
                .threads
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }
}

/// Removes the calling thread from the list when it is dropped.
struct Leaves<'a>(&'a Held);

impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// A thread that carries out each allowed hold, until the value is dropped.
#[derive(Debug)]
pub(crate) struct Holder {
    held: Held,
    thread: Option<JoinHandle<()>>,
    count: Arc<AtomicU64>,
}

impl Holder {
    pub(crate) fn of(held: &Held) -> Holder {
        let count = Arc::new(AtomicU64::new(0));
        let (of, counts) = (held.clone(), Arc::clone(&count));
        let thread = thread::spawn(move || {
            while !of.0.ends.load(Ordering::Relaxed) {
                if of.0.allowed.swap(false, Ordering::Relaxed) {
                    of.hold_one();
                    counts.fetch_add(1, Ordering::Relaxed);
                }
                thread::sleep(Duration::from_nanos(dice() % LONGEST));
            }
        });
        Holder {
            held: held.clone(),
            thread: Some(thread),
            count,
        }
    }

    /// Returns the number of allowed holds that were carried out, including those that found no
    /// thread on the list.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        self.held.0.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("it ends");
        }
    }
}

/// Computes for a random time of at most 60 µs; short and long times, on a logarithmic scale, are
/// about equally likely.
pub(crate) fn pause() {
    let nanos = (dice() % LONGEST) >> (dice() % 12);
    let start = Instant::now();
    while start.elapsed() < Duration::from_nanos(nanos) {
        hint::spin_loop();
    }
}

/// Returns a pseudo-random number.
pub(crate) fn dice() -> u64 {
    thread_local! {
        static LAST: Cell<u64> = const { Cell::new(0) };
    }
    LAST.with(|last| {
        let next = mixed(last.get().wrapping_add(1) ^ me() as u64);
        last.set(next);
        next
    })
}

/// The finalizer of splitmix64.
fn mixed(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

fn me() -> libc::pthread_t {
    // SAFETY: no requirements.
    unsafe { libc::pthread_self() }
}

/// A signal that nothing else uses.
fn signal() -> i32 {
    libc::SIGRTMAX() - 1
}

fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: all-zero bytes are a valid action.
        let mut action: libc::sigaction = unsafe { mem::zeroed() };
        action.sa_sigaction = hold as extern "C" fn(i32) as usize;
        // SAFETY: the handler calls only functions that a signal handler may call.
        let done =
            unsafe { libc::sigaction(signal(), &raw const action, ptr::null_mut()) };
        assert_eq!(done, 0, "no handler: {}", io::Error::last_os_error());
    });
}

extern "C" fn hold(_: i32) {
    let nanos = mixed(ENDED.load(Ordering::Relaxed)) % LONGEST;
    let time = libc::timespec {
        tv_sec: 0,
        tv_nsec: nanos as libc::c_long,
    };
    // SAFETY: the place of the thread's `errno`, which the interrupted code may be about to read.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let before = unsafe { *errno };
    // SAFETY: may be called in a handler; the time is read only.
    unsafe { libc::nanosleep(&raw const time, ptr::null_mut()) };
    // SAFETY: as above.
    unsafe { *errno = before };
    ENDED.fetch_add(1, Ordering::Relaxed);
}
