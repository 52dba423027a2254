//! Calls of the library for `late`: time, channels, selects, locks, and waits of other kinds.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use pirn::channel::{self, broadcast, oneshot, watch};
use pirn::select::{self, Select};
use pirn::sync::{
    Barrier, Condvar, Event, LazyLock, Mutex, Once, OnceLock, Pool, RwLock,
    RwLockUpgradableReadGuard, Semaphore, WaitGroup,
};
use pirn::wait::{self, Ticket, Waitable};
use pirn::{future, scope, spawn, time, yield_now};

use crate::util::LONG;

const SHORT: Duration = Duration::from_millis(1);

/// Calls everything in this file.
pub(crate) fn all() {
    times();
    bounded_channels();
    special_channels();
    broadcast_channels();
    selects();
    locks();
    once();
    events();
    waits();
}

fn times() {
    pirn::sleep(SHORT).unwrap();
    time::sleep(SHORT).unwrap();
    time::sleep_until(time::now() + SHORT).unwrap();
    assert_eq!(pirn::timeout(LONG, || 1).unwrap(), 1);
    assert!(time::timeout(SHORT, || pirn::sleep(LONG)).is_err());
    let mut interval = time::interval(SHORT);
    interval.tick().unwrap();
    let mut at = time::at(time::now() + SHORT);
    let mut tick = interval.case();
    let mut select = Select::new();
    select.add(&mut at);
    select.add(&mut tick);
    select.wait().unwrap();
}

fn bounded_channels() {
    let (tx, rx) = channel::bounded(0);
    let sending = spawn(move || {
        tx.send(1).unwrap();
        tx.send_timeout(2, LONG).unwrap();
        tx.send_deadline(3, time::now() + LONG).unwrap();
        future::block_on(tx.send_async(4)).unwrap();
        tx.send_many(&mut [5, 6].into()).unwrap();
    });
    assert_eq!(rx.recv(), Ok(1));
    assert_eq!(rx.recv_timeout(LONG), Ok(2));
    assert_eq!(rx.recv_deadline(time::now() + LONG), Ok(3));
    assert_eq!(future::block_on(rx.recv_async()), Ok(4));
    let mut several = Vec::new();
    while several.len() < 2 {
        rx.recv_many(&mut several, 2).unwrap();
    }
    sending.join().unwrap();
    assert!(rx.iter().next().is_none());
    let (tx, rx) = channel::unbounded();
    tx.try_send(7).unwrap();
    assert_eq!((rx.try_recv(), rx.len()), (Ok(7), 0));
    tx.send(8).unwrap();
    assert_eq!(rx.try_iter().count(), 1);
    drop(rx);
    tx.closed().unwrap();
    let (tx, rx) = channel::bounded(1);
    assert_eq!(
        (tx.force_send(9), tx.force_send(10)),
        (Ok(None), Ok(Some(9)))
    );
    assert!(tx.close());
    assert_eq!(rx.into_iter().next(), Some(10));
    let (tx, rx) = channel::bounded(0);
    let sending = spawn(move || tx.send(11).unwrap());
    let mut stream = rx.into_stream();
    assert_eq!(future::block_on(stream.next()), Some(11));
    sending.join().unwrap();
    let (tx, rx) = channel::bounded::<()>(0);
    let (weak_tx, weak_rx) = (tx.downgrade(), rx.downgrade());
    drop((tx, rx));
    assert!(weak_tx.upgrade().is_none() && weak_rx.upgrade().is_none());
}

fn special_channels() {
    assert!(channel::never::<()>().recv_timeout(SHORT).is_err());
    channel::after(SHORT).recv().unwrap();
    channel::tick(SHORT).recv().unwrap();
    let (tx, rx) = channel::ordered(1);
    tx.spawn(|| 1).unwrap();
    assert_eq!(rx.recv().unwrap().unwrap(), 1);
    let (tx, rx) = oneshot::channel();
    spawn(move || tx.send(2).unwrap()).detach();
    assert_eq!(rx.recv(), Ok(2));
    let (tx, rx) = oneshot::channel();
    spawn(move || tx.send(3).unwrap()).detach();
    assert_eq!(future::block_on(rx.recv_async()), Ok(3));
    let (tx, rx) = oneshot::channel::<()>();
    drop(rx);
    tx.closed().unwrap();
}

fn broadcast_channels() {
    let (tx, mut rx) = broadcast::channel(4);
    let sending = spawn(move || {
        tx.send(1).unwrap();
        tx.send(2).unwrap();
        tx.send(3).unwrap();
        tx.closed()
    });
    assert_eq!(rx.recv(), Ok(1));
    assert_eq!(rx.recv_timeout(LONG), Ok(2));
    assert_eq!(future::block_on(rx.recv_async()), Ok(3));
    drop(rx);
    sending.join().unwrap().unwrap();
    let (tx, mut rx) = watch::channel(0);
    let sending = spawn(move || {
        tx.send(1).unwrap();
        tx.modify(|value| *value += 1);
        tx.closed()
    });
    rx.changed().unwrap();
    assert_eq!(*rx.wait_for(|value| *value == 2).unwrap(), 2);
    rx.mark_changed();
    future::block_on(rx.changed_async()).unwrap();
    assert_eq!(*rx.borrow_and_update(), 2);
    assert_eq!(*rx.borrow(), 2);
    drop(rx);
    sending.join().unwrap().unwrap();
}

fn selects() {
    let (tx, rx) = channel::bounded::<u32>(0);
    pirn::select! {
        recv(rx) -> _ => unreachable!("no value comes"),
        after(SHORT) => {}
    }
    let sending = spawn(move || {
        let mut case = tx.send_case(1);
        let mut select = Select::new();
        select.add(&mut case);
        assert_eq!(select.wait(), Ok(0));
    });
    let mut value = rx.recv_case();
    let mut parked = select::parked();
    let mut select = Select::biased();
    assert_eq!((select.add(&mut value), select.add(&mut parked)), (0, 1));
    assert_eq!(select.wait_timeout(LONG), Ok(Some(0)));
    drop(select);
    assert_eq!(value.take(), Ok(1));
    sending.join().unwrap();
    let mut closed = rx.recv_case();
    let mut select = Select::new();
    select.add(&mut closed);
    assert_eq!(select.try_wait(), Some(0));
}

fn locks() {
    let mutex = Mutex::new(0);
    *mutex.lock() += 1;
    *mutex.lock_interruptible().unwrap() += 1;
    *mutex.lock_timeout(LONG).unwrap() += 1;
    let changed = Condvar::new();
    scope(|s| {
        let mut guard = mutex.lock();
        s.spawn(|| {
            *mutex.lock() = 7;
            changed.notify_all();
        });
        guard = changed.wait_while(guard, |value| *value != 7);
        assert!(changed.wait_timeout(guard, SHORT).1.timed_out());
        assert!(!changed.notify_one());
    });
    let lock = RwLock::new(0);
    *lock.write() += 1;
    *lock.write_interruptible().unwrap() += 1;
    *lock.write_timeout(LONG).unwrap() += 1;
    assert_eq!(*lock.read() + *lock.read_interruptible().unwrap(), 6);
    assert_eq!(*lock.read_timeout(LONG).unwrap(), 3);
    drop(RwLockUpgradableReadGuard::upgrade(lock.upgradable_read()));
    let contended = scope(|s| {
        let held = lock.write();
        let waits = s.spawn(|| *lock.read());
        yield_now();
        drop(held);
        waits.join().unwrap()
    });
    assert_eq!(contended, 3);
}

fn once() {
    let once = Once::new();
    scope(|s| {
        s.spawn(|| once.call_once(|| pirn::sleep(SHORT).unwrap()));
        once.wait();
    });
    once.call_once_force(|_| ());
    let value = OnceLock::new();
    scope(|s| {
        s.spawn(|| value.set(1).unwrap());
        assert_eq!(*value.wait(), 1);
    });
    assert_eq!(*value.get_or_init(|| 2), 1);
    assert_eq!(value.get_or_try_init(|| Err(())), Ok(&1));
    assert_eq!(*LazyLock::new(|| 3), 3);
    assert_eq!(LazyLock::force(&LAZY), &4);
    let pool = Pool::new(1, || 5).reset(|_| ());
    assert_eq!((*pool.get().unwrap(), pool.idle()), (5, 0));
    assert!(pool.try_get().is_some());
}

/// Each process makes its value in the first use, which may be a late one.
static LAZY: LazyLock<u32> = LazyLock::new(|| 4);

fn events() {
    let event = Event::auto();
    scope(|s| {
        s.spawn(|| event.set());
        event.wait().unwrap();
    });
    assert_eq!(event.wait_timeout(SHORT), Ok(false));
    let manual = Event::manual();
    manual.set();
    manual.wait().unwrap();
    manual.reset();
    let barrier = Barrier::new(2);
    scope(|s| {
        let other = s.spawn(|| barrier.wait().is_leader());
        assert_ne!(barrier.wait().is_leader(), other.join().unwrap());
    });
    let group = WaitGroup::new();
    group.add(1);
    scope(|s| {
        s.spawn(|| group.done());
        group.wait().unwrap();
    });
    let semaphore = Arc::new(Semaphore::new(0));
    scope(|s| {
        s.spawn(|| semaphore.add(1));
        drop(semaphore.acquire(1).unwrap());
    });
    drop(semaphore.acquire_owned(1).unwrap());
    drop(semaphore.acquire_timeout(1, LONG).unwrap().unwrap());
    assert!(semaphore.acquire_timeout(2, SHORT).unwrap().is_none());
}

/// A flag that is waited for with tickets.
#[derive(Default)]
struct Flag(std::sync::Mutex<(bool, Vec<Ticket>)>);

impl Flag {
    fn set(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 = true;
        for ticket in state.1.drain(..) {
            ticket.wake();
        }
    }
}

impl Waitable for Flag {
    type Output = ();

    fn try_complete(&self) -> Option<()> {
        self.0.lock().unwrap().0.then_some(())
    }

    fn register(&self, ticket: Ticket) -> bool {
        let mut state = self.0.lock().unwrap();
        if !state.0 {
            state.1.push(ticket);
        }
        !state.0
    }

    fn unregister(&self, ticket: Ticket) {
        self.0.lock().unwrap().1.retain(|other| *other != ticket);
    }
}

fn waits() {
    let flag = Flag::default();
    scope(|s| {
        s.spawn(|| flag.set());
        assert_eq!(wait::on(&flag), Ok(()));
    });
    let flag = Flag::default();
    let mut case = wait::case(&flag);
    scope(|s| {
        s.spawn(|| flag.set());
        let mut select = Select::new();
        select.add(&mut case);
        assert_eq!(select.wait(), Ok(0));
    });
    let open = AtomicBool::new(false);
    let key = (&raw const open).addr();
    scope(|s| {
        s.spawn(|| {
            open.store(true, Ordering::SeqCst);
            wait::unpark_one(key);
        });
        while !open.load(Ordering::SeqCst) {
            wait::park_on(key, || !open.load(Ordering::SeqCst)).unwrap();
        }
    });
    assert_eq!(wait::unpark_all(key), 0);
}
