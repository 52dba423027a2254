//! The wait group: waits until all announced work is done.
//!
//! Owns: the count. It combines two ways of counting: `add` and `done`, as in Go, and clones that
//! count while they exist, as in crossbeam.
//!
//! # Invariants
//! * WG1. `members` is the number of handles with `member` set; both change together under the
//!   lock.
//! * WG2. The party that brings `announced + members` to zero ends the round under the lock, and
//!   then wakes the waiters of that round. A waiter joins only with a count above zero and
//!   remembers its round, so the group can be used again while they are being woken.
//! * WG3. A handle does not count while a caller waits through it. It counts again when the last
//!   such caller has been interrupted, unless a wait through it has returned `Ok`.

use std::fmt;
use std::sync::Arc;

use crate::base::choice::Operation;
use crate::fiber::waiter::WaitQueue;
use crate::shim::Lock;
use crate::shim::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::wait::object::{Describe, Nameable, ObjectKind};
use crate::wait::polling::refuse_in_poll;
use crate::wait::{
    Attempt, How, Interrupt, Reason, Spec, Waited, consume_budget, interrupted, point,
    wait_in, wake_all,
};

/// A count of unfinished work. Fibers and threads wait until it is zero.
///
/// It counts everything [`add`](WaitGroup::add)ed that is not [`done`](WaitGroup::done) yet, and
/// the handles of the group. A handle, the first one included, counts from its creation until it
/// is dropped or [`wait`](WaitGroup::wait) is called on it.
///
/// # Examples
/// With clones:
/// ```
/// let group = pirn::sync::WaitGroup::new();
/// for _ in 0..4 {
///     let member = group.clone();
///     pirn::spawn(move || {
///         // … work …
///         drop(member);
///     });
/// }
/// group.wait().unwrap();
/// ```
/// With a count:
/// ```
/// let group = pirn::sync::WaitGroup::new();
/// group.add(4);
/// pirn::scope(|s| {
///     for _ in 0..4 {
///         s.spawn(|| group.done());
///     }
///     group.wait().unwrap();
/// });
/// ```
#[doc(alias = "sync.WaitGroup")]
#[doc(alias = "TaskTracker")]
pub struct WaitGroup {
    group: Arc<Lock<Group>>,
    /// Whether this handle counts. Written under the lock of `group`, as the following fields.
    member: AtomicBool,
    /// Whether this handle counted before the first of `waiting` called `wait`, and none of them
    /// has returned `Ok`.
    counted: AtomicBool,
    /// The number of callers that wait through this handle.
    waiting: AtomicUsize,
}

struct Group {
    announced: usize,
    members: usize,
    /// The number of times the count has reached zero.
    rounds: u64,
    /// Waiters, each with the number of its round.
    waiters: WaitQueue<u64>,
}

impl Nameable for WaitGroup {
    fn known_at(&self) -> usize {
        (&raw const *self.group).addr()
    }
}

impl Describe for Group {
    fn describe(&self) -> ObjectKind {
        ObjectKind::WaitGroup {
            members: self.members + self.announced,
            waiting: self.waiters.count(),
        }
    }
}

impl WaitGroup {
    /// Returns the first handle of a new group.
    ///
    /// # Examples
    /// ```
    /// let group = pirn::sync::WaitGroup::new();
    /// let member = group.clone();
    /// let fiber = pirn::spawn(move || drop(member));
    /// group.wait()?;
    /// assert!(fiber.join().is_ok());
    /// # Ok::<(), pirn::Interrupt>(())
    /// ```
    pub fn new() -> Self {
        let group = Group {
            announced: 0,
            members: 1,
            rounds: 0,
            waiters: WaitQueue::new(),
        };
        WaitGroup::counting(Arc::new(Lock::new(group)))
    }

    /// Returns a handle that `group` already counts.
    fn counting(group: Arc<Lock<Group>>) -> Self {
        WaitGroup {
            group,
            member: AtomicBool::new(true),
            counted: AtomicBool::new(false),
            waiting: AtomicUsize::new(0),
        }
    }

    /// Adds `n` units of work to wait for; each ends with a call of [`done`](WaitGroup::done).
    ///
    /// # Panics
    /// If more than `isize::MAX` units would be unfinished; nothing has changed then.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// let group = pirn::sync::WaitGroup::new();
    /// pirn::scope(|s| {
    ///     for _ in 0..3 {
    ///         group.add(1);
    ///         s.spawn(|| group.done());
    ///     }
    ///     assert_eq!(group.wait(), Ok(()));
    /// });
    /// ```
    pub fn add(&self, n: usize) {
        point(Operation::Arrive, self.known_at());
        let mut group = self.group.lock();
        let announced = group.announced.checked_add(n);
        let announced = announced.filter(|&announced| announced <= MOST);
        group.announced = announced.unwrap_or(group.announced);
        drop(group);
        assert!(announced.is_some(), "more than `isize::MAX` announced");
    }

    /// Marks one added unit of work as done.
    ///
    /// # Panics
    /// If no added unit is left.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use std::sync::atomic::{AtomicU32, Ordering};
    ///
    /// let (group, sum) = (pirn::sync::WaitGroup::new(), AtomicU32::new(0));
    /// group.add(2);
    /// pirn::scope(|s| {
    ///     for _ in 0..2 {
    ///         s.spawn(|| {
    ///             sum.fetch_add(3, Ordering::Relaxed);
    ///             group.done();
    ///         });
    ///     }
    ///     group.wait().unwrap();
    ///     assert_eq!(sum.load(Ordering::Relaxed), 6);
    /// });
    /// ```
    pub fn done(&self) {
        point(Operation::Arrive, self.known_at());
        let mut group = self.group.lock();
        let left = group.announced.checked_sub(1);
        group.announced = left.unwrap_or(0);
        let over = left.is_some() && group.ends_round();
        drop(group);
        assert!(left.is_some(), "`done` without `add`");
        if over {
            self.release();
        }
    }

    /// Blocks until all added work is done and every other handle has been dropped or waits too.
    /// From this call on this handle does not count.
    ///
    /// # Errors
    /// The interrupt of the caller. The handle counts again then, unless another caller waits
    /// through it or has done so successfully.
    ///
    /// # Panics
    /// Inside the poll of a future on a fiber.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    ///
    /// let group = pirn::sync::WaitGroup::new();
    /// group.add(1);
    /// let limit = Duration::from_millis(1);
    /// assert!(pirn::timeout(limit, || group.wait()).is_err());
    /// group.done();
    /// assert_eq!(group.wait(), Ok(()));
    /// ```
    #[track_caller]
    pub fn wait(&self) -> Result<(), Interrupt> {
        consume_budget(Operation::Wait, self.known_at());
        if let Some(interrupt) = interrupted() {
            return Err(interrupt);
        }
        refuse_in_poll();
        let mut resigned = false;
        let spec = Spec::interruptible(Reason::WaitGroup);
        let waited = wait_in(
            &self.group,
            |group| &mut group.waiters,
            &spec,
            |group| {
                resigned = self.resign(group);
                self.waiting.fetch_add(1, Ordering::Relaxed);
                if resigned && group.ends_round() || group.is_over() {
                    self.leave(group, false);
                    Attempt::Done(())
                } else {
                    Attempt::Wait(group.rounds)
                }
            },
        );
        match waited {
            Waited::Ended(How::Interrupted(interrupt), _) => {
                self.leave(&mut self.group.lock(), true);
                Err(interrupt)
            }
            Waited::Ended(..) => {
                self.leave(&mut self.group.lock(), false);
                Ok(())
            }
            Waited::Done(()) => {
                if resigned {
                    self.release();
                }
                Ok(())
            }
        }
    }

    /// Stops this handle from counting; returns true if it did count.
    fn resign(&self, group: &mut Group) -> bool {
        // ORDERING: Relaxed: WG1: written under the lock that is held here.
        let member = self.member.swap(false, Ordering::Relaxed);
        if member {
            group.members -= 1;
            self.counted.store(true, Ordering::Relaxed);
        }
        member
    }

    /// Ends the wait of a caller (WG3).
    fn leave(&self, group: &mut Group, is_interrupted: bool) {
        // ORDERING: Relaxed: as in `resign`.
        if !is_interrupted {
            self.counted.store(false, Ordering::Relaxed);
        }
        let was_last = self.waiting.fetch_sub(1, Ordering::Relaxed) == 1;
        if was_last && self.counted.swap(false, Ordering::Relaxed) {
            self.member.store(true, Ordering::Relaxed);
            group.members += 1;
        }
    }

    /// Wakes the waiters of rounds that have ended.
    fn release(&self) {
        wake_all(&self.group, |group| {
            let rounds = group.rounds;
            group
                .waiters
                .claim_first_if(|round| *round < rounds, |_| ())
        });
    }
}

impl Group {
    fn is_over(&self) -> bool {
        self.announced + self.members == 0
    }

    /// Ends the round if the count, which the caller has just lowered, is zero; returns true if so.
    fn ends_round(&mut self) -> bool {
        let over = self.is_over();
        if over {
            self.rounds += 1;
        }
        over
    }
}

impl Clone for WaitGroup {
    /// Returns another handle, which also counts.
    fn clone(&self) -> Self {
        self.group.lock().members += 1;
        WaitGroup::counting(Arc::clone(&self.group))
    }
}

impl Drop for WaitGroup {
    fn drop(&mut self) {
        point(Operation::Arrive, self.known_at());
        let mut group = self.group.lock();
        let over = self.resign(&mut group) && group.ends_round();
        drop(group);
        if over {
            self.release();
        }
    }
}

impl Default for WaitGroup {
    fn default() -> Self {
        WaitGroup::new()
    }
}

impl fmt::Debug for WaitGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The writer is user code, which runs without the lock.
        let (announced, members) = {
            let group = self.group.lock();
            (group.announced, group.members)
        };
        f.debug_struct("WaitGroup")
            .field("announced", &announced)
            .field("members", &members)
            .finish_non_exhaustive()
    }
}

/// The most that can be announced: half of the range. So the handles, each of which uses memory of
/// its own, can always be added.
const MOST: usize = isize::MAX as usize;
