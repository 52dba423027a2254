//! Each operation that other fibers can notice is a choice.
//!
//! A fiber is *inside* while it performs one operation, which does not wait here. Another fiber
//! fails if it begins then. So the campaign fails if, and only if, there is a choice during the
//! operation. The operations that are no choices show that the probe tells them apart.

use std::future::poll_fn;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use pirn::cancel::{self, Token};
use pirn::channel::{self, broadcast, oneshot, watch};
use pirn::scope::TaskGroup;
use pirn::select::Select;
use pirn::sim::atomic::{AtomicBool as Flag, AtomicPtr, AtomicUsize};
use pirn::sim::cell::Racy;
use pirn::sync::{
    Barrier, Condvar, Event, Mutex, Once, OnceLock, RwLock, RwLockUpgradableReadGuard,
    Semaphore, WaitGroup,
};
use pirn_sim::{Strategy, campaign};

/// Whether a fiber is inside. Of `std`, so it is no choice itself.
struct Mark(AtomicBool);

impl Mark {
    fn during<R>(&self, operation: impl FnOnce() -> R) -> R {
        self.0.store(true, Ordering::SeqCst);
        let result = operation();
        self.0.store(false, Ordering::SeqCst);
        result
    }
}

/// Returns true if another fiber can run during the operation of `body`.
fn is_choice(body: fn(&Mark)) -> bool {
    let campaign = campaign().seed(1).runs(200).strategy(Strategy::Random);
    let failure = campaign.find(move || {
        let mark = Arc::new(Mark(AtomicBool::new(false)));
        let seen = Arc::clone(&mark);
        let other =
            pirn::spawn(move || assert!(!seen.0.load(Ordering::SeqCst), "inside"));
        body(&mark);
        other.join().unwrap();
    });
    let found = failure.is_some();
    if let Some(failure) = failure {
        let text = failure.to_string();
        assert!(text.contains("inside"), "fails otherwise: {text}");
    }
    found
}

/// Its name, and a body that performs it inside.
type Operation = (&'static str, fn(&Mark));

/// Asserts which of the operations are choices.
fn each(expected: bool, operations: &[Operation]) {
    let wrong = operations
        .iter()
        .filter(|(_, body)| is_choice(*body) != expected);
    let wrong: Vec<_> = wrong.map(|(name, _)| *name).collect();
    assert!(wrong.is_empty(), "not as expected ({expected}): {wrong:?}");
}

// Proves: U8.
#[test]
fn of_locks() {
    each(
        true,
        &[
            ("Mutex::lock", |mark| {
                let mutex = Mutex::new(0);
                drop(mark.during(|| mutex.lock()));
            }),
            ("Mutex::lock_timeout", |mark| {
                let mutex = Mutex::new(0);
                drop(mark.during(|| mutex.lock_timeout(SHORT)));
            }),
            ("Mutex::lock_interruptible", |mark| {
                let mutex = Mutex::new(0);
                drop(mark.during(|| mutex.lock_interruptible()));
            }),
            ("Mutex::try_lock", |mark| {
                let mutex = Mutex::new(0);
                drop(mark.during(|| mutex.try_lock()));
            }),
            ("Mutex::is_locked", |mark| {
                let mutex = Mutex::new(0);
                mark.during(|| mutex.is_locked());
            }),
            ("RwLock::read", |mark| {
                let lock = RwLock::new(0);
                drop(mark.during(|| lock.read()));
            }),
            ("RwLock::write", |mark| {
                let lock = RwLock::new(0);
                drop(mark.during(|| lock.write()));
            }),
            ("RwLock::upgradable_read", |mark| {
                let lock = RwLock::new(0);
                drop(mark.during(|| lock.upgradable_read()));
            }),
            ("RwLockUpgradableReadGuard::upgrade", |mark| {
                let lock = RwLock::new(0);
                let guard = lock.upgradable_read();
                drop(mark.during(|| RwLockUpgradableReadGuard::upgrade(guard)));
            }),
            ("RwLockUpgradableReadGuard::try_upgrade", |mark| {
                let lock = RwLock::new(0);
                let guard = lock.upgradable_read();
                drop(mark.during(|| RwLockUpgradableReadGuard::try_upgrade(guard)));
            }),
            ("RwLock::try_read", |mark| {
                let lock = RwLock::new(0);
                drop(mark.during(|| lock.try_read()));
            }),
            ("RwLock::try_write", |mark| {
                let lock = RwLock::new(0);
                drop(mark.during(|| lock.try_write()));
            }),
            ("RwLock::try_upgradable_read", |mark| {
                let lock = RwLock::new(0);
                drop(mark.during(|| lock.try_upgradable_read()));
            }),
            ("RwLock::read_timeout", |mark| {
                let lock = RwLock::new(0);
                drop(mark.during(|| lock.read_timeout(SHORT)));
            }),
            ("RwLock::write_timeout", |mark| {
                let lock = RwLock::new(0);
                drop(mark.during(|| lock.write_timeout(SHORT)));
            }),
            ("RwLock::read_interruptible", |mark| {
                let lock = RwLock::new(0);
                drop(mark.during(|| lock.read_interruptible()));
            }),
            ("RwLock::write_interruptible", |mark| {
                let lock = RwLock::new(0);
                drop(mark.during(|| lock.write_interruptible()));
            }),
            ("RwLock::is_locked", |mark| {
                let lock = RwLock::new(0);
                mark.during(|| lock.is_locked());
            }),
            ("RwLock::is_locked_exclusive", |mark| {
                let lock = RwLock::new(0);
                mark.during(|| lock.is_locked_exclusive());
            }),
        ],
    );
}

// Proves: U8.
#[test]
fn of_other_primitives() {
    each(
        true,
        &[
            ("Condvar::notify_one", |mark| {
                let condvar = Condvar::new();
                mark.during(|| condvar.notify_one());
            }),
            ("Condvar::notify_all", |mark| {
                let condvar = Condvar::new();
                mark.during(|| condvar.notify_all());
            }),
            ("Event::set", |mark| {
                let event = Event::manual();
                mark.during(|| event.set());
            }),
            ("Event::reset", |mark| {
                let event = Event::manual();
                mark.during(|| event.reset());
            }),
            ("Event::wait", |mark| {
                let event = Event::manual();
                event.set();
                mark.during(|| event.wait().unwrap());
            }),
            ("Semaphore::acquire", |mark| {
                let semaphore = Semaphore::new(1);
                drop(mark.during(|| semaphore.acquire(1)));
            }),
            ("Semaphore::try_acquire", |mark| {
                let semaphore = Semaphore::new(1);
                drop(mark.during(|| semaphore.try_acquire(1)));
            }),
            ("Semaphore::try_acquire_owned", |mark| {
                let semaphore = Arc::new(Semaphore::new(1));
                drop(mark.during(|| semaphore.try_acquire_owned(1)));
            }),
            ("a permit's end", |mark| {
                let semaphore = Semaphore::new(1);
                let permit = semaphore.acquire(1);
                mark.during(|| drop(permit));
            }),
            ("Semaphore::add", |mark| {
                let semaphore = Semaphore::new(1);
                mark.during(|| semaphore.add(1));
            }),
            ("Semaphore::forget_permits", |mark| {
                let semaphore = Semaphore::new(1);
                mark.during(|| semaphore.forget_permits(1));
            }),
            ("Semaphore::close", |mark| {
                let semaphore = Semaphore::new(1);
                mark.during(|| semaphore.close());
            }),
            ("Semaphore::is_closed", |mark| {
                let semaphore = Semaphore::new(1);
                mark.during(|| semaphore.is_closed());
            }),
            ("Semaphore::available", |mark| {
                let semaphore = Semaphore::new(1);
                mark.during(|| semaphore.available());
            }),
            ("Barrier::wait", |mark| {
                let barrier = Barrier::new(1);
                mark.during(|| _ = barrier.wait());
            }),
            ("WaitGroup::add", |mark| {
                let group = WaitGroup::new();
                mark.during(|| group.add(1));
            }),
            ("WaitGroup::done", |mark| {
                let group = WaitGroup::new();
                group.add(1);
                mark.during(|| group.done());
            }),
            ("the end of a WaitGroup", |mark| {
                let group = WaitGroup::new();
                mark.during(|| drop(group));
            }),
            ("WaitGroup::wait", |mark| {
                let group = WaitGroup::new();
                mark.during(|| group.wait().unwrap());
            }),
            ("OnceLock::set", |mark| {
                let lock = OnceLock::new();
                mark.during(|| lock.set(1)).unwrap();
            }),
            ("OnceLock::get_or_init", |mark| {
                let lock = OnceLock::new();
                mark.during(|| *lock.get_or_init(|| 1));
            }),
            ("Once::call_once", |mark| {
                let once = Once::new();
                mark.during(|| once.call_once(|| ()));
            }),
        ],
    );
}

// Proves: U8.
#[test]
fn of_channels() {
    each(
        true,
        &[
            ("Sender::send", |mark| {
                let (tx, _rx) = channel::bounded(1);
                mark.during(|| tx.send(1)).unwrap();
            }),
            ("Sender::try_send", |mark| {
                let (tx, _rx) = channel::bounded(1);
                mark.during(|| tx.try_send(1)).unwrap();
            }),
            ("Sender::force_send", |mark| {
                let (tx, _rx) = channel::bounded(1);
                mark.during(|| tx.force_send(1)).unwrap();
            }),
            ("Sender::send_timeout", |mark| {
                let (tx, _rx) = channel::bounded(1);
                mark.during(|| tx.send_timeout(1, SHORT)).unwrap();
            }),
            ("Sender::len", |mark| {
                let (tx, _rx) = channel::bounded::<u8>(1);
                mark.during(|| tx.len());
            }),
            ("Sender::is_empty", |mark| {
                let (tx, _rx) = channel::bounded::<u8>(1);
                mark.during(|| tx.is_empty());
            }),
            ("Sender::is_full", |mark| {
                let (tx, _rx) = channel::bounded::<u8>(1);
                mark.during(|| tx.is_full());
            }),
            ("Sender::is_closed", |mark| {
                let (tx, _rx) = channel::bounded::<u8>(1);
                mark.during(|| tx.is_closed());
            }),
            ("Sender::close", |mark| {
                let (tx, _rx) = channel::bounded::<u8>(1);
                mark.during(|| tx.close());
            }),
            ("Sender::close_with", |mark| {
                let (tx, _rx) = channel::bounded::<u8>(1);
                mark.during(|| tx.close_with("a reason"));
            }),
            ("Sender::close_reason", |mark| {
                let (tx, _rx) = channel::bounded::<u8>(1);
                drop(mark.during(|| tx.close_reason()));
            }),
            ("Receiver::close_reason", |mark| {
                let (_tx, rx) = channel::bounded::<u8>(1);
                drop(mark.during(|| rx.close_reason()));
            }),
            ("the end of a Sender", |mark| {
                let (tx, _rx) = channel::bounded::<u8>(1);
                mark.during(|| drop(tx));
            }),
            ("Receiver::recv", |mark| {
                let (tx, rx) = channel::bounded(1);
                tx.send(1).unwrap();
                mark.during(|| rx.recv()).unwrap();
            }),
            ("Receiver::recv_timeout", |mark| {
                let (tx, rx) = channel::bounded(1);
                tx.send(1).unwrap();
                mark.during(|| rx.recv_timeout(SHORT)).unwrap();
            }),
            ("Receiver::try_recv", |mark| {
                let (_tx, rx) = channel::bounded::<u8>(1);
                mark.during(|| rx.try_recv()).unwrap_err();
            }),
            ("Receiver::len", |mark| {
                let (_tx, rx) = channel::bounded::<u8>(1);
                mark.during(|| rx.len());
            }),
            ("Receiver::is_empty", |mark| {
                let (_tx, rx) = channel::bounded::<u8>(1);
                mark.during(|| rx.is_empty());
            }),
            ("Receiver::is_full", |mark| {
                let (_tx, rx) = channel::bounded::<u8>(1);
                mark.during(|| rx.is_full());
            }),
            ("Receiver::is_closed", |mark| {
                let (_tx, rx) = channel::bounded::<u8>(1);
                mark.during(|| rx.is_closed());
            }),
            ("Receiver::close", |mark| {
                let (_tx, rx) = channel::bounded::<u8>(1);
                mark.during(|| rx.close());
            }),
            ("Receiver::close_with", |mark| {
                let (_tx, rx) = channel::bounded::<u8>(1);
                mark.during(|| rx.close_with("a reason"));
            }),
            ("the end of a Receiver", |mark| {
                let (_tx, rx) = channel::bounded::<u8>(1);
                mark.during(|| drop(rx));
            }),
        ],
    );
}

// Proves: U8.
#[test]
fn of_channels_for_one() {
    each(
        true,
        &[
            ("oneshot::Sender::send", |mark| {
                let (tx, _rx) = oneshot::channel();
                mark.during(|| tx.send(1)).unwrap();
            }),
            ("the end of a oneshot::Sender", |mark| {
                let (tx, _rx) = oneshot::channel::<u8>();
                mark.during(|| drop(tx));
            }),
            ("oneshot::Sender::is_closed", |mark| {
                let (tx, _rx) = oneshot::channel::<u8>();
                mark.during(|| tx.is_closed());
            }),
            ("oneshot::Receiver::try_recv", |mark| {
                let (_tx, mut rx) = oneshot::channel::<u8>();
                mark.during(|| rx.try_recv()).unwrap_err();
            }),
            ("oneshot::Receiver::close", |mark| {
                let (_tx, mut rx) = oneshot::channel::<u8>();
                mark.during(|| rx.close());
            }),
            ("oneshot::Receiver::is_empty", |mark| {
                let (_tx, rx) = oneshot::channel::<u8>();
                mark.during(|| rx.is_empty());
            }),
            ("oneshot::Receiver::is_terminated", |mark| {
                let (_tx, rx) = oneshot::channel::<u8>();
                mark.during(|| rx.is_terminated());
            }),
            ("the end of a oneshot::Receiver", |mark| {
                let (_tx, rx) = oneshot::channel::<u8>();
                mark.during(|| drop(rx));
            }),
        ],
    );
}

// Proves: U8.
#[test]
fn of_channels_for_many() {
    each(
        true,
        &[
            ("broadcast::Sender::send", |mark| {
                let (tx, _rx) = broadcast::channel(1);
                mark.during(|| tx.send(1)).unwrap();
            }),
            ("broadcast::Sender::close", |mark| {
                let (tx, _rx) = broadcast::channel::<u8>(1);
                mark.during(|| tx.close());
            }),
            ("broadcast::Sender::subscribe", |mark| {
                let (tx, _rx) = broadcast::channel::<u8>(1);
                drop(mark.during(|| tx.subscribe()));
            }),
            ("broadcast::Sender::receiver_count", |mark| {
                let (tx, _rx) = broadcast::channel::<u8>(1);
                mark.during(|| tx.receiver_count());
            }),
            ("broadcast::Receiver::recv", |mark| {
                let (tx, mut rx) = broadcast::channel(1);
                tx.send(1).unwrap();
                mark.during(|| rx.recv()).unwrap();
            }),
            ("broadcast::Receiver::try_recv", |mark| {
                let (_tx, mut rx) = broadcast::channel::<u8>(1);
                mark.during(|| rx.try_recv()).unwrap_err();
            }),
            ("broadcast::Receiver::len", |mark| {
                let (_tx, rx) = broadcast::channel::<u8>(1);
                mark.during(|| rx.len());
            }),
            ("the end of a broadcast::Receiver", |mark| {
                let (_tx, rx) = broadcast::channel::<u8>(1);
                mark.during(|| drop(rx));
            }),
            ("the end of a broadcast::Sender", |mark| {
                let (tx, _rx) = broadcast::channel::<u8>(1);
                mark.during(|| drop(tx));
            }),
            ("watch::Sender::send", |mark| {
                let (tx, _rx) = watch::channel(0);
                mark.during(|| tx.send(1)).unwrap();
            }),
            ("watch::Sender::subscribe", |mark| {
                let (tx, _rx) = watch::channel(0);
                drop(mark.during(|| tx.subscribe()));
            }),
            ("watch::Receiver::mark_unchanged", |mark| {
                let (_tx, mut rx) = watch::channel(0);
                mark.during(|| rx.mark_unchanged());
            }),
            ("watch::Sender::modify", |mark| {
                let (tx, _rx) = watch::channel(0);
                mark.during(|| tx.modify(|value| *value += 1));
            }),
            ("watch::Sender::borrow", |mark| {
                let (tx, _rx) = watch::channel(0);
                drop(mark.during(|| tx.borrow()));
            }),
            ("watch::Receiver::borrow", |mark| {
                let (_tx, rx) = watch::channel(0);
                drop(mark.during(|| rx.borrow()));
            }),
            ("watch::Receiver::borrow_and_update", |mark| {
                let (_tx, mut rx) = watch::channel(0);
                drop(mark.during(|| rx.borrow_and_update()));
            }),
            ("watch::Receiver::has_changed", |mark| {
                let (_tx, rx) = watch::channel(0);
                mark.during(|| rx.has_changed());
            }),
            ("watch::Receiver::changed", |mark| {
                let (tx, mut rx) = watch::channel(0);
                tx.send(1).unwrap();
                mark.during(|| rx.changed()).unwrap();
            }),
            ("the end of a watch::Receiver", |mark| {
                let (_tx, rx) = watch::channel(0);
                mark.during(|| drop(rx));
            }),
            ("the end of a watch::Sender", |mark| {
                let (tx, _rx) = watch::channel(0);
                mark.during(|| drop(tx));
            }),
        ],
    );
}

// Proves: U8.
#[test]
fn of_selects() {
    each(
        true,
        &[
            ("select!", |mark| {
                let (tx, rx) = channel::bounded(1);
                tx.send(1).unwrap();
                mark.during(|| pirn::select! { recv(rx) -> value => value.unwrap() });
            }),
            ("select! with default", |mark| {
                let (_tx, rx) = channel::bounded::<u8>(1);
                mark.during(|| {
                    pirn::select! { recv(rx) -> _ => true, default => false };
                });
            }),
            ("Select::wait", |mark| {
                let (tx, rx) = channel::bounded(1);
                tx.send(1).unwrap();
                let mut case = rx.recv_case();
                let mut select = Select::new();
                select.add(&mut case);
                mark.during(|| select.wait()).unwrap();
            }),
            ("Select::try_wait", |mark| {
                let (_tx, rx) = channel::bounded::<u8>(1);
                let mut case = rx.recv_case();
                let mut select = Select::new();
                select.add(&mut case);
                mark.during(|| select.try_wait());
            }),
        ],
    );
}

// Proves: U8.
#[test]
fn of_fibers_and_tokens() {
    each(
        true,
        &[
            ("Fiber::unpark", |mark| {
                let fiber = pirn::current();
                mark.during(|| fiber.unpark());
            }),
            ("wait::park_on", |mark| {
                mark.during(|| pirn::wait::park_on(8, || false)).unwrap();
            }),
            ("wait::unpark_one", |mark| {
                mark.during(|| pirn::wait::unpark_one(8));
            }),
            ("wait::unpark_all", |mark| {
                mark.during(|| pirn::wait::unpark_all(8));
            }),
            ("JoinHandle::is_finished", |mark| {
                let fiber = pirn::spawn(|| ());
                mark.during(|| fiber.is_finished());
                fiber.join().unwrap();
            }),
            ("JoinHandle::cancel", |mark| {
                let fiber = pirn::spawn(|| ());
                mark.during(|| fiber.cancel());
                drop(fiber.join());
            }),
            ("Token::cancel", |mark| {
                let token = Token::new();
                mark.during(|| token.cancel());
            }),
            ("Token::is_cancelled", |mark| {
                let token = Token::new();
                mark.during(|| token.is_cancelled());
            }),
            ("cancel::check", |mark| {
                mark.during(cancel::check).unwrap();
            }),
            ("spawn::checkpoint", |mark| {
                mark.during(pirn::spawn::checkpoint).unwrap();
            }),
            ("Scope::cancel", |mark| {
                pirn::scope(|s| mark.during(|| s.cancel()));
            }),
            ("Scope::len", |mark| {
                pirn::scope(|s| mark.during(|| s.len()));
            }),
            ("TaskGroup::cancel", |mark| {
                let group = TaskGroup::<()>::new();
                mark.during(|| group.cancel());
            }),
            ("TaskGroup::len", |mark| {
                let group = TaskGroup::<()>::new();
                mark.during(|| group.len());
            }),
            ("TaskGroup::join_next", |mark| {
                let group = TaskGroup::<()>::new();
                mark.during(|| group.join_next()).unwrap();
            }),
            ("yield_now", |mark| mark.during(pirn::yield_now)),
            ("sleep", |mark| mark.during(|| pirn::sleep(SHORT)).unwrap()),
            // Neither this nor the write below waits.
            ("Interval::tick", |mark| {
                let mut ticks = pirn::time::interval(SHORT);
                mark.during(|| ticks.tick()).unwrap();
            }),
            ("io::Stdout::write", |mark| {
                let written = mark.during(|| pirn::io::stdout().write(&[]));
                assert_eq!(written.unwrap(), 0);
            }),
            ("blocking", |mark| mark.during(|| pirn::blocking(|| ()))),
            ("fs::metadata", |mark| {
                drop(mark.during(|| pirn::fs::metadata(".")));
            }),
            ("a poll", |mark| {
                mark.during(|| pirn::future::block_on(poll_fn(|_| Poll::Ready(()))));
            }),
        ],
    );
}

// Proves: U8, U9.
#[test]
fn of_the_module_sim() {
    each(
        true,
        &[
            ("sim::point", |mark| mark.during(pirn::sim::point)),
            ("AtomicUsize::load", |mark| {
                let atomic = AtomicUsize::new(0);
                mark.during(|| atomic.load(Ordering::Relaxed));
            }),
            ("AtomicUsize::store", |mark| {
                let atomic = AtomicUsize::new(0);
                mark.during(|| atomic.store(1, Ordering::Relaxed));
            }),
            ("AtomicUsize::swap", |mark| {
                let atomic = AtomicUsize::new(0);
                mark.during(|| atomic.swap(1, Ordering::Relaxed));
            }),
            ("AtomicUsize::fetch_add", |mark| {
                let atomic = AtomicUsize::new(0);
                mark.during(|| atomic.fetch_add(1, Ordering::Relaxed));
            }),
            ("AtomicUsize::compare_exchange", |mark| {
                let atomic = AtomicUsize::new(0);
                let (ok, no) = (Ordering::Relaxed, Ordering::Relaxed);
                mark.during(|| atomic.compare_exchange(0, 1, ok, no))
                    .unwrap();
            }),
            ("AtomicBool::fetch_not", |mark| {
                let atomic = Flag::new(false);
                mark.during(|| atomic.fetch_not(Ordering::Relaxed));
            }),
            ("AtomicPtr::load", |mark| {
                let atomic = AtomicPtr::new(std::ptr::null_mut::<u8>());
                mark.during(|| atomic.load(Ordering::Relaxed));
            }),
            ("Racy::with", |mark| {
                let cell = Racy::new(0);
                mark.during(|| cell.get());
            }),
            ("Racy::with_mut", |mark| {
                let cell = Racy::new(0);
                mark.during(|| cell.set(1));
            }),
        ],
    );
}

// Proves: U8.
#[test]
fn not_of_what_no_other_fiber_notices() {
    each(
        false,
        &[
            ("spawn", |mark| {
                let fiber = mark.during(|| pirn::spawn(|| ()));
                fiber.join().unwrap();
            }),
            ("the end of a lock", |mark| {
                let mutex = Mutex::new(0);
                let guard = mutex.lock();
                mark.during(|| drop(guard));
            }),
            ("OnceLock::get", |mark| {
                let lock = OnceLock::<u8>::new();
                mark.during(|| lock.get().is_none());
            }),
            ("a clone of a sender", |mark| {
                let (tx, rx) = channel::bounded::<u8>(1);
                let other = mark.during(|| tx.clone());
                drop((tx, other, rx));
            }),
        ],
    );
}

const SHORT: Duration = Duration::from_millis(1);
