//! The receivers of oneshot, watch and broadcast channels as futures.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::thread;
use std::time::Duration;

use pirn::channel::{RecvError, broadcast, oneshot, watch};
use pirn::future::{block_on, wait};

use crate::executor_kind::runtime;
use crate::futures_fixture::{Tasks, Wakes, block_on_thread, poll_once};
use crate::util::{Drops, on_every_shape, scaled};

/// Futures move between threads with their tasks.
// Proves: S12.
#[test]
fn futures_of_each_kind_can_be_sent() {
    fn sent<T: Send>() {}
    sent::<oneshot::RecvFuture<Box<u8>>>();
    sent::<watch::ChangedFuture<'static, Box<u8>>>();
    sent::<broadcast::RecvFuture<'static, Box<u8>>>();
}

/// The receiving ends of one channel of each kind.
struct Ends(
    oneshot::Receiver<usize>,
    watch::Receiver<usize>,
    broadcast::Receiver<usize>,
);

impl Ends {
    /// The values received when all senders have been dropped.
    async fn receive(mut self) -> (Result<usize, RecvError>, usize, usize) {
        let one = self.0.recv_async().await;
        while self.1.changed_async().await.is_ok() {}
        let mut sum = 0;
        while let Ok(value) = self.2.recv_async().await {
            sum += value;
        }
        (one, *self.1.borrow(), sum)
    }
}

/// Sends up to `count` from a fiber and a thread, and returns the receiving ends.
fn send_from_everywhere(runtime: &pirn::Runtime, count: usize) -> Ends {
    let (one, first) = oneshot::channel();
    let (latest, second) = watch::channel(0);
    let (all, third) = broadcast::channel(count);
    runtime
        .spawn(move || {
            one.send(count).unwrap();
            (1..=count).for_each(|i| latest.send(i).unwrap());
        })
        .detach();
    drop(thread::spawn(move || {
        (1..=count).for_each(|i| _ = all.send(i).unwrap());
    }));
    Ends(first, second, third)
}

/// Fibers, threads and tasks of another runtime await values from fibers and threads.
// Proves: S12.
#[test]
fn each_kind_is_awaited_from_anywhere() {
    on_every_shape(|runtime| {
        let count = scaled(100);
        let expected = (Ok(count), count, count * (count + 1) / 2);
        let ends = || send_from_everywhere(runtime, count);
        assert_eq!(runtime.run(|| wait(ends().receive())), Ok(expected));
        assert_eq!(block_on(ends().receive()), expected);
        assert_eq!(block_on_thread(ends().receive()), expected);
        let tasks = Arc::new(Tasks::default());
        let agree = Arc::new(AtomicUsize::new(0));
        for _ in 0..3 {
            let (ends, agree) = (ends(), Arc::clone(&agree));
            tasks.spawn(async move {
                let same = ends.receive().await == expected;
                agree.fetch_add(usize::from(same), Ordering::SeqCst);
            });
        }
        thread::scope(|scope| {
            scope.spawn(|| tasks.run());
            tasks.run();
        });
        assert_eq!(agree.load(Ordering::SeqCst), 3);
    });
}

/// A dropped future has received nothing, also if a value was handed over to it. One that owns its
/// receiver drops a value that was handed over.
// Proves: S12.
#[test]
fn a_dropped_future_of_each_kind_loses_nothing() {
    let wakes = Arc::new(Wakes::default());
    let drops = Drops::default();
    // One value: dropped with the future and its receiver, if it was sent by then.
    for polled in [false, true] {
        let (tx, rx) = oneshot::channel();
        let mut future = Box::pin(rx.recv_async());
        assert!(!polled || poll_once(future.as_mut(), &wakes).is_pending());
        assert!(tx.send(drops.one()).is_ok());
        assert_eq!(drops.count(), usize::from(polled));
        drop(future);
        assert_eq!(drops.count(), usize::from(polled) + 1);
    }
    assert_eq!(wakes.count(), 1);
    // Returned to the sender, if it is sent later.
    let (tx, rx) = oneshot::channel();
    let mut future = Box::pin(rx.recv_async());
    assert!(poll_once(future.as_mut(), &wakes).is_pending());
    drop(future);
    assert!(tx.is_closed());
    assert_eq!(tx.send(7), Err(7));
    // A future that lost a race is polled again.
    let (tx, rx) = oneshot::channel();
    let mut future = Box::pin(rx.recv_async());
    assert!(pirn::timeout(Duration::from_millis(1), || wait(future.as_mut())).is_err());
    tx.send(7).unwrap();
    assert_eq!(block_on(future), Ok(7));
    // A change: still new.
    let (tx, mut rx) = watch::channel(1);
    let mut future = Box::pin(rx.changed_async());
    assert!(poll_once(future.as_mut(), &wakes).is_pending());
    tx.send(2).unwrap();
    drop(future);
    assert!(rx.has_changed());
    assert_eq!(
        poll_once(pin!(rx.changed_async()), &wakes),
        Poll::Ready(Ok(()))
    );
    assert!(poll_once(pin!(rx.changed_async()), &wakes).is_pending());
    // A broadcast value: still available.
    let (tx, mut rx) = broadcast::channel(2);
    let mut future = Box::pin(rx.recv_async());
    assert!(poll_once(future.as_mut(), &wakes).is_pending());
    tx.send(7).unwrap();
    drop(future);
    assert_eq!((rx.len(), wakes.count()), (1, 3));
    (8..=9).for_each(|i| _ = tx.send(i).unwrap());
    let lagged = Err(broadcast::RecvError::Lagged(1));
    assert_eq!(
        poll_once(pin!(rx.recv_async()), &wakes),
        Poll::Ready(lagged)
    );
    assert_eq!(block_on(rx.recv_async()), Ok(8));
}

/// When the senders have been dropped, waiters are notified; values sent before are received first.
// Proves: S12.
#[test]
fn an_end_of_each_kind_is_reported() {
    let wakes = Arc::new(Wakes::default());
    let (tx, rx) = oneshot::channel::<u8>();
    let mut future = Box::pin(rx.recv_async());
    assert!(poll_once(future.as_mut(), &wakes).is_pending());
    drop(tx);
    let told = poll_once(future.as_mut(), &wakes);
    assert_eq!(told, Poll::Ready(Err(RecvError::Disconnected)));
    let again = AssertUnwindSafe(|| poll_once(future.as_mut(), &wakes));
    assert!(catch_unwind(again).is_err());
    drop(future);
    let (tx, mut rx) = watch::channel(1);
    let mut future = Box::pin(rx.changed_async());
    assert!(poll_once(future.as_mut(), &wakes).is_pending());
    tx.send(2).unwrap();
    drop(tx);
    assert_eq!(poll_once(future.as_mut(), &wakes), Poll::Ready(Ok(())));
    drop(future);
    assert_eq!(block_on(rx.changed_async()), Err(RecvError::Disconnected));
    let (tx, mut rx) = broadcast::channel(1);
    let mut future = Box::pin(rx.recv_async());
    assert!(poll_once(future.as_mut(), &wakes).is_pending());
    tx.send(7).unwrap();
    drop(tx);
    assert_eq!(poll_once(future.as_mut(), &wakes), Poll::Ready(Ok(7)));
    drop(future);
    let ended = Err(broadcast::RecvError::Disconnected);
    assert_eq!(block_on(rx.recv_async()), ended);
    assert_eq!(wakes.count(), 3);
}

/// A broadcast reaches every task that awaits it; a change, too.
// Proves: S12.
#[test]
fn all_waiters_are_notified() {
    let wakes = Arc::new(Wakes::default());
    let (tx, rx) = broadcast::channel(1);
    let (sets, sees) = watch::channel(0);
    let mut receivers: Vec<_> = (0..5).map(|_| (rx.clone(), sees.clone())).collect();
    let mut futures: Vec<_> = receivers
        .iter_mut()
        .map(|(rx, sees)| (Box::pin(rx.recv_async()), Box::pin(sees.changed_async())))
        .collect();
    for (receives, changes) in &mut futures {
        assert!(poll_once(receives.as_mut(), &wakes).is_pending());
        assert!(poll_once(changes.as_mut(), &wakes).is_pending());
    }
    assert_eq!((tx.send(7), sets.send(1)), (Ok(6), Ok(())));
    assert_eq!(wakes.count(), 10);
    for (receives, changes) in &mut futures {
        assert_eq!(poll_once(receives.as_mut(), &wakes), Poll::Ready(Ok(7)));
        assert_eq!(poll_once(changes.as_mut(), &wakes), Poll::Ready(Ok(())));
    }
}

/// Futures that are dropped at every moment, repeatedly, lose nothing.
// Proves: S12, S12 (free).
#[test]
fn a_storm_of_futures_of_each_kind() {
    fn insist<T>(mut attempt: impl FnMut() -> Option<T>, mut i: u64) -> T {
        loop {
            i = i.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let limit = Duration::from_micros((i >> 33) % 50);
            if let Ok(Some(result)) = pirn::timeout(limit, &mut attempt) {
                return result;
            }
        }
    }
    for workers in [1, 2] {
        let runtime = runtime(workers);
        let count = scaled(2_000);
        let (ask, asked) = pirn::channel::bounded::<oneshot::Sender<usize>>(0);
        let (sets, mut sees) = watch::channel(0);
        let (tx, mut rx) = broadcast::channel(count);
        runtime.scope(|scope| {
            scope.spawn(move || {
                for (i, answer) in asked.iter().enumerate() {
                    if i % 3 == 0 {
                        pirn::yield_now();
                    }
                    answer.send(i).unwrap();
                }
            });
            scope.spawn(move || {
                for i in 1..=count {
                    sets.send(i).unwrap();
                    tx.send(i).unwrap();
                    if i % 7 == 0 {
                        pirn::sleep(Duration::from_micros(20)).unwrap();
                    }
                }
            });
            scope.spawn(move || {
                for i in 0..count {
                    let (tx, answer) = oneshot::channel();
                    ask.send(tx).unwrap();
                    let seed = i as u64;
                    let mut answer = pin!(answer.recv_async());
                    let got = insist(|| wait(answer.as_mut()).ok(), seed);
                    assert_eq!(got, Ok(i));
                }
            });
            scope.spawn(move || {
                let mut last = 0;
                while insist(|| wait(sees.changed_async()).ok(), 1).is_ok() {
                    let now = *sees.borrow();
                    assert!(now >= last);
                    last = now;
                }
                assert_eq!(last, count);
            });
            scope.spawn(move || {
                for i in 1..=count {
                    assert_eq!(insist(|| wait(rx.recv_async()).ok(), i as u64), Ok(i));
                }
            });
        });
    }
}
