//! Channels and fibers as futures, polled by fibers, by threads, and by another library's runtime.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use pirn::channel::{
    self, Receiver, RecvError, RecvFuture, SendError, SendFuture, Sender,
};
use pirn::future::{block_on, fiber, wait};
use pirn::spawn::JoinError;
use pirn::{JoinHandle, Runtime};

use crate::executor_kind::{alone, for_ever, runtime};
use crate::futures_fixture::{Tasks, Wakes, block_on_thread, poll_once};
use crate::util::{Drops, eventually, on_every_shape, scaled};

/// Futures move between threads with their tasks; a handle is shared as usual.
// Proves: S5.
#[test]
fn futures_can_be_sent() {
    fn sent<T: Send>() {}
    fn shared<T: Sync + Unpin>() {}
    sent::<RecvFuture<'static, Box<u8>>>();
    sent::<SendFuture<'static, Box<u8>>>();
    sent::<JoinHandle<Box<u8>>>();
    shared::<JoinHandle<Box<u8>>>();
}

/// Which kind of party does one side of a channel.
#[derive(Debug, Copy, Clone)]
enum Party {
    Fiber,
    FiberThatPolls,
    Thread,
    ThreadThatPolls,
    Task,
}

const PARTIES: [Party; 5] = [
    Party::Fiber,
    Party::FiberThatPolls,
    Party::Thread,
    Party::ThreadThatPolls,
    Party::Task,
];

async fn send_all(tx: Sender<usize>, count: usize) {
    for i in 1..=count {
        tx.send_async(i).await.unwrap();
    }
}

async fn receive_all(rx: Receiver<usize>, sum: Arc<AtomicUsize>) {
    while let Ok(value) = rx.recv_async().await {
        sum.fetch_add(value, Ordering::SeqCst);
    }
}

/// Sends `count` values from `party` and receives them on another one of its kind.
fn join_in(
    party: Party,
    runtime: &Runtime,
    tasks: &Arc<Tasks>,
    ends: (Sender<usize>, Receiver<usize>),
    (count, sum): (usize, &Arc<AtomicUsize>),
) {
    let ((tx, rx), sum) = (ends, Arc::clone(sum));
    let send = move |tx: Sender<usize>| (1..=count).for_each(|i| tx.send(i).unwrap());
    let receive = |rx: Receiver<usize>, sum: Arc<AtomicUsize>| {
        rx.iter()
            .for_each(|value| _ = sum.fetch_add(value, Ordering::SeqCst));
    };
    match party {
        Party::Fiber => {
            runtime.spawn(move || send(tx)).detach();
            runtime.spawn(move || receive(rx, sum)).detach();
        }
        Party::FiberThatPolls => {
            runtime.spawn(move || wait(send_all(tx, count))).detach();
            runtime
                .spawn(move || block_on(receive_all(rx, sum)))
                .detach();
        }
        Party::Thread => {
            drop(thread::spawn(move || send(tx)));
            drop(thread::spawn(move || receive(rx, sum)));
        }
        Party::ThreadThatPolls => {
            drop(thread::spawn(move || block_on_thread(send_all(tx, count))));
            drop(thread::spawn(move || block_on(receive_all(rx, sum))));
        }
        Party::Task => {
            tasks.spawn(send_all(tx, count));
            tasks.spawn(receive_all(rx, sum));
        }
    }
}

/// Fibers, threads and tasks of another runtime send to each other through one channel; each value
/// arrives once.
// Proves: S5.
#[test]
fn all_kinds_meet_in_one_channel() {
    for workers in [1, 2] {
        for capacity in [0, 1, 3] {
            let runtime = runtime(workers);
            let tasks = Arc::new(Tasks::default());
            let (tx, rx) = channel::bounded(capacity);
            let (count, sum) = (scaled(500), Arc::new(AtomicUsize::new(0)));
            for party in PARTIES {
                let ends = (tx.clone(), rx.clone());
                join_in(party, &runtime, &tasks, ends, (count, &sum));
            }
            drop((tx, rx));
            thread::scope(|scope| {
                scope.spawn(|| tasks.run());
                tasks.run();
            });
            let expected = PARTIES.len() * count * (count + 1) / 2;
            eventually("everything arrives", || {
                sum.load(Ordering::SeqCst) == expected
            });
        }
    }
}

/// A future has its place in the queue among others, and receives in its turn; its last waker is
/// called, once.
// Proves: S5.
#[test]
fn a_future_is_served_in_its_turn() {
    alone(|| {
        let (tx, rx) = channel::bounded(1);
        let (first, last) = (Arc::new(Wakes::default()), Arc::new(Wakes::default()));
        let mut future = pin!(rx.recv_async());
        assert!(poll_once(future.as_mut(), &first).is_pending());
        let second = pirn::spawn({
            let rx = rx.clone();
            move || rx.recv().unwrap()
        });
        let before = pirn::runtime::Handle::current().metrics().total.fiber_parks;
        while pirn::runtime::Handle::current().metrics().total.fiber_parks == before {
            pirn::yield_now();
        }
        assert!(poll_once(future.as_mut(), &last).is_pending());
        tx.send(1).unwrap();
        tx.send(2).unwrap();
        assert_eq!((first.count(), last.count()), (0, 1));
        assert_eq!(second.join().unwrap(), 2);
        assert_eq!(poll_once(future.as_mut(), &first), Poll::Ready(Ok(1)));
        tx.send(3).unwrap();
        assert_eq!((first.count(), last.count(), rx.recv()), (0, 1, Ok(3)));
    });
}

/// A value that was handed to a dropped future goes to the next receiver, or back, and is the
/// oldest there; senders keep to the capacity.
// Proves: S6.
#[test]
fn a_dropped_receive_gives_back() {
    for capacity in [0, 1, 2] {
        let (tx, rx) = channel::bounded(capacity);
        let wakes = Arc::new(Wakes::default());
        for after in 0..=capacity {
            let mut future = Box::pin(rx.recv_async());
            assert!(poll_once(future.as_mut(), &wakes).is_pending());
            tx.try_send(0).unwrap();
            (1..=after).for_each(|i| tx.try_send(i).unwrap());
            drop(future);
            assert_eq!(rx.len(), after + 1);
            if after == capacity {
                assert!(tx.try_send(9).is_err());
            }
            (0..=after).for_each(|i| assert_eq!(rx.try_recv(), Ok(i)));
            assert!(rx.is_empty() && rx.try_recv().is_err());
        }
        // To a receiver that waits behind it, and before a sender.
        let mut future = Box::pin(rx.recv_async());
        let mut next = Box::pin(rx.recv_async());
        assert!(poll_once(future.as_mut(), &wakes).is_pending());
        assert!(poll_once(next.as_mut(), &wakes).is_pending());
        tx.try_send(7).unwrap();
        drop(future);
        assert_eq!(poll_once(next.as_mut(), &wakes), Poll::Ready(Ok(7)));
        let mut future = Box::pin(rx.recv_async());
        assert!(poll_once(future.as_mut(), &wakes).is_pending());
        tx.try_send(0).unwrap();
        (1..=capacity).for_each(|i| tx.try_send(i).unwrap());
        let mut sends = Box::pin(tx.send_async(capacity + 1));
        assert!(poll_once(sends.as_mut(), &wakes).is_pending());
        drop(future);
        for i in 0..=capacity {
            assert!(poll_once(sends.as_mut(), &wakes).is_pending() || i > 0);
            assert_eq!(rx.try_recv(), Ok(i));
        }
        assert_eq!(rx.try_recv(), Ok(capacity + 1));
        drop(sends);
    }
}

/// A forced send evicts no value that a dropped receive has returned to a channel without a buffer.
// Proves: S6.
#[test]
fn a_returned_value_is_not_evicted() {
    let (tx, rx) = channel::bounded(0);
    let mut future = Box::pin(rx.recv_async());
    let wakes = Arc::new(Wakes::default());
    assert!(poll_once(future.as_mut(), &wakes).is_pending());
    tx.send(7).unwrap();
    drop(future);
    assert_eq!(tx.force_send(9), Ok(Some(9)));
    assert_eq!((rx.try_recv(), rx.len()), (Ok(7), 0));
}

/// Futures that are dropped at every moment lose nothing: a value that was sent is received once,
/// one of an interrupted send at most once.
// Proves: S6, S6 (free).
#[test]
fn a_storm_of_dropped_futures() {
    for capacity in [0, 1, 4] {
        let runtime = runtime(2);
        let (tx, rx) = channel::bounded(capacity);
        let count = scaled(5_000);
        let zeros = || (0..2 * count).map(|_| AtomicUsize::new(0));
        let (sent, received): (Vec<_>, Vec<_>) = (zeros().collect(), zeros().collect());
        let (sent, received) = (&sent, &received);
        runtime.scope(|scope| {
            for sender in 0..2 {
                let tx = tx.clone();
                scope.spawn(move || {
                    let own = sent.iter().enumerate().skip(sender * count).take(count);
                    for (i, sent) in own {
                        let limit = Duration::from_micros(i as u64 % 50);
                        let drops = Drops::default();
                        let one = drops.one();
                        let outcome =
                            pirn::timeout(limit, || wait(tx.send_async((i, Some(one)))));
                        match outcome {
                            Ok(Ok(Ok(()))) => sent.store(1, Ordering::SeqCst),
                            Ok(Ok(Err(error))) => panic!("{error}"),
                            // It may have been sent all the same.
                            _ => eventually("it is somewhere", || {
                                pirn::yield_now();
                                drops.count() == 1
                            }),
                        }
                    }
                });
            }
            drop(tx);
            for polls in [false, true] {
                let rx = rx.clone();
                scope.spawn(move || {
                    for i in 0_u64.. {
                        let limit = Duration::from_micros(i % 40);
                        let outcome = match polls {
                            true => pirn::timeout(limit, || wait(rx.recv_async())),
                            false => pirn::timeout(limit, || Ok(rx.recv())),
                        };
                        match outcome {
                            Ok(Ok(Ok((i, _)))) => {
                                received[i].fetch_add(1, Ordering::SeqCst);
                            }
                            Ok(Ok(Err(RecvError::Disconnected))) => break,
                            _ => {}
                        }
                    }
                });
            }
        });
        for (value, (sent, received)) in sent.iter().zip(received).enumerate() {
            let sent = sent.load(Ordering::SeqCst);
            let received = received.load(Ordering::SeqCst);
            assert!(
                (sent..=1).contains(&received),
                "value {value}: sent {sent} times, received {received} times"
            );
        }
        assert_eq!(
            rx.try_recv().map(|_| ()),
            Err(channel::TryRecvError::Disconnected)
        );
    }
}

/// A close ends waits, and returns values.
// Proves: S6.
#[test]
fn a_close_ends_futures() {
    let wakes = Arc::new(Wakes::default());
    let (tx, rx) = channel::bounded::<Box<u8>>(0);
    let mut receives = pin!(rx.recv_async());
    assert!(poll_once(receives.as_mut(), &wakes).is_pending());
    tx.close();
    assert_eq!(
        poll_once(receives, &wakes),
        Poll::Ready(Err(RecvError::Disconnected))
    );
    let (tx, rx) = channel::bounded(0);
    let mut sends = pin!(tx.send_async(Box::new(7)));
    assert!(poll_once(sends.as_mut(), &wakes).is_pending());
    drop(rx);
    let error = SendError::Disconnected(Box::new(7));
    assert_eq!(poll_once(sends, &wakes), Poll::Ready(Err(error)));
    assert_eq!(wakes.count(), 2);
}

/// Two futures of one task meet, though both are registered.
// Proves: S5.
#[test]
fn a_task_meets_itself() {
    on_every_shape(|runtime| {
        let (tx, rx) = channel::bounded(0);
        let met = || {
            let (mut sends, mut receives) =
                (pin!(tx.send_async(7)), pin!(rx.recv_async()));
            let mut sent = false;
            block_on(std::future::poll_fn(|context| {
                sent |= sends.as_mut().poll(context).is_ready();
                receives.as_mut().poll(context)
            }))
        };
        assert_eq!(runtime.run(met), Ok(7));
        assert_eq!(met(), Ok(7));
    });
}

/// Timer channels wake their futures.
// Proves: S5.
#[test]
fn time_wakes_futures() {
    let runtime = runtime(2);
    let moments = async || {
        channel::after(Duration::from_millis(2))
            .recv_async()
            .await
            .unwrap();
        let ticks = channel::tick(Duration::from_millis(1));
        for _ in 0..3 {
            ticks.recv_async().await.unwrap();
        }
    };
    runtime.run(|| wait(moments())).unwrap();
    block_on_thread(moments());
    let wakes = Arc::new(Wakes::default());
    let rx = channel::never::<()>();
    assert!(poll_once(pin!(rx.recv_async()), &wakes).is_pending());
    let late = channel::after(Duration::from_secs(3600));
    assert!(poll_once(pin!(late.recv_async()), &wakes).is_pending());
}

/// A handle is a future of the result of `join`; dropping it detaches.
// Proves: S7.
#[test]
fn a_handle_is_a_future() {
    on_every_shape(|runtime| {
        let awaits = || async {
            let value = runtime.spawn(|| 7).await.unwrap();
            let panicked = runtime.spawn(|| panic!("so")).await;
            let refused = runtime.spawn(for_ever);
            refused.cancel();
            (
                value,
                panicked.is_err_and(|error| error.is_panic()),
                refused.await.is_ok_and(|_| false),
            )
        };
        assert_eq!(runtime.run(|| block_on(awaits())), (7, true, false));
        assert_eq!(block_on_thread(awaits()), (7, true, false));
    });
    let runtime = runtime(1);
    let wakes = Arc::new(Wakes::default());
    let (tx, rx) = channel::bounded::<()>(0);
    // Polled, and then joined, waited for, dropped.
    let receives = |rx: &Receiver<()>| {
        let rx = rx.clone();
        runtime.spawn(move || rx.recv().map_err(|_| ()))
    };
    let mut handles = [receives(&rx), receives(&rx), receives(&rx), receives(&rx)];
    for handle in &mut handles {
        assert!(poll_once(Pin::new(handle), &wakes).is_pending());
    }
    let [joined, timed, mut polled, dropped] = handles;
    drop(dropped);
    let timed = timed.join_timeout(Duration::from_millis(1)).unwrap_err();
    drop(tx);
    assert_eq!(joined.join().unwrap(), Err(()));
    assert_eq!(timed.join().unwrap(), Err(()));
    polled.wait().unwrap();
    let outcome = poll_once(Pin::new(&mut polled), &wakes);
    assert!(matches!(outcome, Poll::Ready(Ok(Err(())))));
    let again = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        poll_once(Pin::new(&mut polled), &wakes)
    }));
    assert!(again.is_err());
    polled.wait().unwrap();
    assert!(matches!(polled.join(), Err(JoinError::Taken)));
    // Also one that may never have run.
    let mut cancelled = runtime.spawn(for_ever);
    cancelled.cancel();
    cancelled.wait().unwrap();
    assert!(poll_once(Pin::new(&mut cancelled), &wakes).is_ready());
    let later = cancelled.join_timeout(Duration::ZERO).unwrap();
    assert!(matches!(later, Err(JoinError::Taken)));
    runtime
        .run(|| pirn::runtime::Handle::current().wait_idle())
        .unwrap();
}

/// A waker that panics, or waits, does not affect the other wakers that are called with it.
// Proves: S8.
#[test]
fn a_bad_waker_is_alone() {
    struct Bad(Receiver<()>);
    impl Wake for Bad {
        fn wake(self: Arc<Self>) {
            // On a fiber this panics, as inside a poll.
            let _ = self.0.recv_timeout(Duration::from_millis(1));
            panic!("a bad waker");
        }
    }
    on_every_shape(|runtime| {
        let (_never, nothing) = channel::bounded(0);
        let (tx, rx) = channel::bounded::<()>(0);
        let bad = Waker::from(Arc::new(Bad(nothing)));
        let wakes = Arc::new(Wakes::default());
        let mut futures: Vec<_> = (0..4).map(|_| Box::pin(rx.recv_async())).collect();
        for (i, future) in futures.iter_mut().enumerate() {
            let pending = match i % 2 {
                0 => future.as_mut().poll(&mut Context::from_waker(&bad)),
                _ => poll_once(future.as_mut(), &wakes),
            };
            assert!(pending.is_pending());
        }
        let waits = runtime.spawn({
            let rx = rx.clone();
            move || rx.recv()
        });
        runtime.run(|| drop(tx));
        assert_eq!(waits.join().unwrap(), Err(RecvError::Disconnected));
        assert_eq!(wakes.count(), 2);
    });
}

/// Futures that are always ready let other fibers run, as any operations.
// Proves: S5.
#[test]
fn ready_futures_give_way() {
    alone(|| {
        let ran = Arc::new(AtomicUsize::new(0));
        let other = pirn::spawn({
            let ran = Arc::clone(&ran);
            move || ran.fetch_add(1, Ordering::SeqCst)
        });
        let (tx, rx) = channel::bounded(1);
        wait(async {
            for i in 0..1000 {
                tx.send_async(i).await.unwrap();
                assert_eq!(rx.recv_async().await, Ok(i));
            }
        })
        .unwrap();
        assert_eq!(ran.load(Ordering::SeqCst), 1);
        other.join().unwrap();
    });
}

/// A fiber as a future starts when it is first polled, and is cancelled with the future.
// Proves: S9.
#[test]
fn a_fiber_is_a_future() {
    on_every_shape(|runtime| {
        runtime.run(|| {
            let started = Arc::new(AtomicUsize::new(0));
            let (ended, drops) = (Arc::new(AtomicUsize::new(0)), Drops::default());
            let make = || {
                let (started, ended) = (Arc::clone(&started), Arc::clone(&ended));
                let one = drops.one();
                fiber(move || {
                    let _one = one;
                    started.fetch_add(1, Ordering::SeqCst);
                    assert_eq!(for_ever(), pirn::Interrupt::Cancelled);
                    ended.fetch_add(1, Ordering::SeqCst);
                })
            };
            let wakes = Arc::new(Wakes::default());
            // Not polled; polled; polled until it waits.
            drop(make());
            assert_eq!((drops.count(), started.load(Ordering::SeqCst)), (1, 0));
            let mut early = make();
            assert!(poll_once(Pin::new(&mut early), &wakes).is_pending());
            drop(early);
            eventually("it is dropped or ends", || {
                pirn::yield_now();
                drops.count() == 2
            });
            let before = started.load(Ordering::SeqCst);
            let mut late = make();
            assert!(poll_once(Pin::new(&mut late), &wakes).is_pending());
            while started.load(Ordering::SeqCst) == before {
                pirn::yield_now();
            }
            drop(late);
            eventually("it ends", || {
                pirn::yield_now();
                ended.load(Ordering::SeqCst) == before + 1
            });
        });
        let yields = async || {
            let panicked = fiber(|| panic!("so")).await.unwrap_err();
            (fiber(|| 7).await.unwrap(), panicked.is_panic())
        };
        assert_eq!(runtime.run(|| wait(yields())), Ok((7, true)));
        assert_eq!(block_on_thread(yields()), (7, true));
    });
}
