//! Waiting on a number: for primitives that consist of one word.

// Owns: the table from keys to their waiters. Does not own: the meaning of a key. By convention it
// is an address; it is never dereferenced here.
//
// The table is static memory: a fixed number of buckets, each with a lock and one queue for all
// keys of the bucket. So nothing is allocated or freed for a key, and a key that is reused for
// another object has no effect on later waiters.
//
// # Invariants
// * KB1. A waiter is in the bucket of its key, in order of arrival among all keys there.
// * KB2. `arrivals` numbers the waiters of a bucket. `unpark_all` skips those that came after it
//   began, so it ends even if the woken ones wait again at once.
//
// LIVENESS: no wake is lost. The caller of `unpark_*` has first changed the state that `validate`
// reads. If it takes the bucket's lock first, `validate`, called under the same lock later, sees
// the change. If the waiter is first, it is in the queue by then.

use super::deadline::interrupted;
use super::interrupt::Interrupt;
use super::object::{Describe, ObjectKind};
#[cfg(feature = "sim")]
use super::polling;
use super::queue::{Attempt, Waited, wait_in};
use super::reason::Reason;
use super::spec::Spec;
use super::yielding::{consume_budget, point};
use crate::base::choice::Operation;
use crate::base::pad::CachePadded;
use crate::fiber::release::wake_all;
use crate::fiber::waiter::WaitQueue;
use crate::shim::Lock;

/// The waiters on the keys of one bucket.
struct Bucket {
    arrivals: u64,
    queue: WaitQueue<Place>,
}

/// A waiter's key and number.
#[derive(Debug, Copy, Clone)]
struct Place {
    key: usize,
    number: u64,
}

/// Waits on `key` until it is unparked, unless `validate` returns false.
///
/// `validate` is called once, right before the caller waits, under the lock that [`unpark_one`] and
/// [`unpark_all`] take for the same key. So a change of the state that `validate` reads, followed
/// by an unpark, is not missed. `Ok(true)`: the caller waited and was unparked. `Ok(false)`:
/// `validate` was false, and the caller did not wait.
///
/// Any number is a key. Other code in the process may use the same one, so a wake may be meant for
/// another waiter: check the condition again. The address of the object waited for is a unique key
/// while the object exists.
///
/// `validate` must be short. It must not wait, yield, or call this function or `unpark_*`, which
/// may hang, since other keys share the lock. It should only read an atomic.
///
/// # Errors
/// The caller's interrupt; `validate` may not have been called.
///
/// # Panics
/// If `validate` does; the caller does not wait then, and the key stays usable. The panic hook runs
/// while the key is locked: it must not use [`park_on`] or its wakers. Inside the
/// [poll](crate::future#inside-a-poll) of a future on a fiber, if it has to wait.
///
/// # Cancellation
/// An interruption point. Parks a fiber, blocks a plain thread.
///
/// # Examples
/// A one-byte gate:
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
#[doc(alias = "futex")]
#[doc(alias = "atomic_wait")]
#[track_caller]
pub fn park_on(key: usize, validate: impl FnOnce() -> bool) -> Result<bool, Interrupt> {
    consume_budget(Operation::Park, key);
    if let Some(interrupt) = interrupted() {
        return Err(interrupt);
    }
    // Atomics of `sim` may be read: their choices are put off, as in a poll.
    #[cfg(feature = "sim")]
    let validate = || polling::within(validate);
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

/// Wakes the longest waiter on `key`; returns false if there is none.
///
/// # Cancellation
/// Not an interruption point; never suspends.
///
/// # Examples
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// use pirn::wait::{park_on, unpark_one};
///
/// static OPEN: AtomicBool = AtomicBool::new(false);
/// let key = &raw const OPEN as usize;
/// assert!(!unpark_one(key), "no caller waits");
/// pirn::scope(|s| {
///     s.spawn(|| {
///         while !OPEN.load(Ordering::Acquire) {
///             park_on(key, || !OPEN.load(Ordering::Acquire)).unwrap();
///         }
///     });
///     OPEN.store(true, Ordering::Release);
///     unpark_one(key);
/// });
/// ```
#[doc(alias = "wake_one")]
pub fn unpark_one(key: usize) -> bool {
    point(Operation::Unpark, key);
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

/// Wakes all current waiters on `key`, and returns their number.
///
/// # Cancellation
/// Not an interruption point; never suspends.
///
/// # Examples
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// use pirn::wait::{park_on, unpark_all};
///
/// static OPEN: AtomicBool = AtomicBool::new(false);
/// let key = &raw const OPEN as usize;
/// pirn::scope(|s| {
///     for _ in 0..2 {
///         s.spawn(|| {
///             while !OPEN.load(Ordering::Acquire) {
///                 park_on(key, || !OPEN.load(Ordering::Acquire)).unwrap();
///             }
///         });
///     }
///     OPEN.store(true, Ordering::Release);
///     assert!(unpark_all(key) <= 2);
/// });
/// ```
#[doc(alias = "wake_all")]
pub fn unpark_all(key: usize) -> usize {
    point(Operation::Unpark, key);
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

/// 256 buckets, 32 KiB of zeros. Arbitrary, not measured: enough that two busy keys seldom share a
/// lock on current machines.
const BITS: u32 = 8;
