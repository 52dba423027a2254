//! Waiting on a number: for primitives that are a word of their own and nothing else.
//!
//! Owns: the table from keys to those who wait on them. Does not own: what a key stands for.
//! By custom it is an address; nothing here follows it.
//!
//! The table is static memory: a fixed number of buckets, each with a lock and one queue for
//! all keys that fall into it. So nothing is made or freed for a key, and one that is used
//! again for something else means nothing to those who come later.
//!
//! # Invariants
//! * KB1. A waiter stands in the bucket of its key, in order of arrival among all keys there.
//! * KB2. `arrivals` numbers the waiters of a bucket. `unpark_all` leaves those alone that
//!   came after it began, so it ends even if those it wakes wait again at once.
//!
//! LIVENESS: no wake is lost. The caller of `unpark_*` has changed what `validate` looks at
//! before. If it takes the bucket's lock first, `validate`, called under the same lock later,
//! sees the change; if the waiter is first, it stands in the queue by then.

use super::interrupt::Interrupt;
use super::limit::interrupted;
use super::object::{Describe, ObjectKind};
use super::park::{Spec, spend};
use super::queue::{Attempt, Waited, wait_in};
use super::reason::Reason;
use crate::base::pad::CachePadded;
use crate::fiber::release::wake_all;
use crate::fiber::waiter::WaitQueue;
use crate::shim::Lock;

/// Those who wait on the keys of one bucket.
struct Bucket {
    arrivals: u64,
    queue: WaitQueue<Place>,
}

/// What a waiter says of itself.
#[derive(Debug, Copy, Clone)]
struct Place {
    key: usize,
    number: u64,
}

/// Waits on `key` until somebody unparks it, unless `validate` says that there is nothing to
/// wait for.
///
/// `validate` is called once, under the lock that [`unpark_one`] and [`unpark_all`] take for
/// the same key, right before the caller waits: who changes what `validate` looks at, and
/// unparks after that, is not missed. `Ok(true)`: the caller waited and was unparked.
/// `Ok(false)`: `validate` was false; nobody waited.
///
/// Any number is a key. Whoever uses it for something else in the same process shares it, so
/// a wake may come for a reason of somebody else's: look again. The address of what is waited
/// for is a key that nobody else has, as long as it is there.
///
/// `validate` must be short: it must not wait, nor yield, nor call this function or
/// `unpark_*`, which may hang, since other keys share the lock. It should look at an atomic
/// and no more.
///
/// # Errors
/// The interrupt that the caller is under; `validate` may not have been called.
///
/// # Panics
/// If `validate` does; nobody waits then, and the key is as good as before.
///
/// # Cancellation
/// An interruption point. Parks a fiber, blocks a plain thread.
///
/// # Examples
/// A gate in one byte:
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use pirn::wait::{park_on, unpark_all};
///
/// static OPEN: AtomicBool = AtomicBool::new(false);
/// let key = &raw const OPEN as usize;
/// pirn::scope(|s| {
///     s.spawn(|| {
///         while !OPEN.load(Ordering::Acquire) {
///             park_on(key, || !OPEN.load(Ordering::Acquire)).unwrap();
///         }
///     });
///     OPEN.store(true, Ordering::Release);
///     unpark_all(key);
/// });
/// ```
#[track_caller]
pub fn park_on(key: usize, validate: impl FnOnce() -> bool) -> Result<bool, Interrupt> {
    spend();
    if let Some(interrupt) = interrupted() {
        return Err(interrupt);
    }
    let arrived = |bucket: &mut Bucket| {
        // UNWIND: nothing has changed yet, and the lock is freed.
        if !validate() {
            return Attempt::Done(());
        }
        bucket.arrivals += 1;
        let number = bucket.arrivals;
        Attempt::Wait(Place { key, number })
    };
    let spec = Spec::interruptible(Reason::Key);
    match wait_in(bucket(key), |bucket| &mut bucket.queue, &spec, arrived) {
        Waited::Done(()) => Ok(false),
        Waited::Ended(how, _) => how.interrupt().map_or(Ok(true), Err),
    }
}

/// Wakes the one that has waited longest on `key`; false if nobody waits on it.
///
/// # Cancellation
/// Not an interruption point; never suspends.
pub fn unpark_one(key: usize) -> bool {
    let mut bucket = bucket(key).lock();
    let wake = bucket
        .queue
        .claim_first_where(|place| place.key == key, |_| ());
    drop(bucket);
    let found = wake.is_some();
    if let Some(wake) = wake {
        wake.enqueue();
    }
    found
}

/// Wakes all that wait on `key` now, and returns how many they were.
///
/// # Cancellation
/// Not an interruption point; never suspends.
pub fn unpark_all(key: usize) -> usize {
    let bucket = bucket(key);
    let limit = bucket.lock().arrivals;
    let mut woken = 0;
    wake_all(bucket, |bucket| {
        let ours = |place: &Place| place.key == key && place.number <= limit;
        bucket.queue.claim_first_where(ours, |_| woken += 1)
    });
    woken
}

impl Describe for Bucket {
    fn describe(&self) -> ObjectKind {
        ObjectKind::Key
    }
}

fn bucket(key: usize) -> &'static Lock<Bucket> {
    // Fibonacci hashing: the high bits of the product depend on all bits of the key.
    let spread = (key as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    &BUCKETS[(spread >> (64 - BITS)) as usize]
}

static BUCKETS: [CachePadded<Lock<Bucket>>; 1 << BITS] = [const {
    CachePadded::new(Lock::new(Bucket {
        arrivals: 0,
        queue: WaitQueue::new(),
    }))
}; 1 << BITS];

/// 256 buckets, 32 KiB of zeros. Arbitrary, not measured: enough that two busy keys seldom
/// share a lock on machines of today.
const BITS: u32 = 8;
