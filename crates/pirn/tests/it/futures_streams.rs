//! Channels as streams.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use futures_core::Stream;
use futures_core::stream::FusedStream;
use futures_util::stream::{StreamExt, unfold};
use pirn::channel::{self, RecvStream, broadcast, watch};
use pirn::future::{block_on, wait};

use crate::executor_kind::runtime;
use crate::futures_fixture::{Tasks, Wakes, block_on_thread};
use crate::util::{Drops, eventually, on_every_shape, scaled};

async fn next<T>(stream: &mut RecvStream<T>) -> Option<T> {
    poll_fn(|context| Pin::new(&mut *stream).poll_next(context)).await
}

fn poll_next<T>(stream: &mut RecvStream<T>, wakes: &Arc<Wakes>) -> Poll<Option<T>> {
    let waker = Waker::from(Arc::clone(wakes));
    Pin::new(stream).poll_next(&mut Context::from_waker(&waker))
}

/// A stream yields the sent values, in order, to any poller, and ends when the channel is drained.
// Proves: S13.
#[test]
fn a_stream_ends_with_its_channel() {
    fn sent<T: Send + Unpin>(stream: T) -> T {
        stream
    }
    on_every_shape(|runtime| {
        for capacity in [0, 1, 5] {
            let drains = || async {
                let (tx, rx) = channel::bounded(capacity);
                runtime
                    .spawn(move || (0..20).for_each(|i| tx.send(i).unwrap()))
                    .detach();
                let mut stream = sent(rx.into_stream());
                for i in 0..20 {
                    assert!(!stream.is_terminated());
                    assert_eq!(next(&mut stream).await, Some(i));
                }
                assert_eq!(next(&mut stream).await, None);
                assert!(stream.is_terminated());
                assert_eq!(next(&mut stream).await, None);
            };
            assert_eq!(runtime.run(|| wait(drains())), Ok(()));
            block_on(drains());
            block_on_thread(drains());
        }
    });
}

/// A dropped stream returns a value that was handed over to it, and closes the channel if it was
/// the last receiver.
// Proves: S13.
#[test]
fn a_dropped_stream_gives_back() {
    let wakes = Arc::new(Wakes::default());
    let (tx, rx) = channel::bounded(0);
    let mut stream = rx.clone().into_stream();
    assert!(poll_next(&mut stream, &wakes).is_pending());
    // It may be moved while it waits.
    let mut stream = Box::new(stream);
    assert!(poll_next(&mut stream, &wakes).is_pending());
    tx.try_send(7).unwrap();
    assert_eq!(wakes.count(), 1);
    drop(stream);
    assert_eq!(rx.try_recv(), Ok(7));
    assert!(!tx.is_closed());
    let mut stream = rx.into_stream();
    assert!(poll_next(&mut stream, &wakes).is_pending());
    tx.try_send(8).unwrap();
    assert_eq!(poll_next(&mut stream, &wakes), Poll::Ready(Some(8)));
    // Between two polls that yield it is in no queue.
    assert!(tx.try_send(9).is_err());
    drop(stream);
    assert!(tx.is_closed());
    let (tx, rx) = channel::bounded(2);
    let drops = Drops::default();
    let mut stream = rx.into_stream();
    assert!(poll_next(&mut stream, &wakes).is_pending());
    (0..2).for_each(|_| assert!(tx.try_send(drops.one()).is_ok()));
    drop(stream);
    assert_eq!(drops.count(), 2);
}

/// Streams, futures and fibers share one channel: each value goes to one of them.
// Proves: S13.
#[test]
fn streams_share_a_channel() {
    for capacity in [0, 3] {
        let runtime = runtime(2);
        let (tx, rx) = channel::bounded(capacity);
        let (count, sum) = (scaled(2_000), Arc::new(AtomicUsize::new(0)));
        let tasks = Arc::new(Tasks::default());
        let streams = |rx: channel::Receiver<usize>, sum: Arc<AtomicUsize>| async move {
            let mut stream = rx.into_stream();
            while let Some(value) = next(&mut stream).await {
                sum.fetch_add(value, Ordering::SeqCst);
            }
        };
        for i in 0..6 {
            let (rx, sum) = (rx.clone(), Arc::clone(&sum));
            match i % 3 {
                0 => tasks.spawn(streams(rx, sum)),
                1 => drop(runtime.spawn(move || wait(streams(rx, sum)))),
                _ => drop(runtime.spawn(move || {
                    rx.iter()
                        .for_each(|value| _ = sum.fetch_add(value, Ordering::SeqCst));
                })),
            }
        }
        drop(rx);
        for i in 0..4 {
            let tx = tx.clone();
            let send = move || (1..=count).for_each(|i| tx.send(i).unwrap());
            match i % 2 {
                0 => drop(runtime.spawn(send)),
                _ => drop(thread::spawn(send)),
            }
        }
        drop(tx);
        tasks.run();
        let expected = 4 * count * (count + 1) / 2;
        eventually("everything arrives", || {
            sum.load(Ordering::SeqCst) == expected
        });
    }
}

/// A timer channel is a stream of moments.
// Proves: S13.
#[test]
fn time_wakes_streams() {
    let runtime = runtime(2);
    let moments = || async {
        let began = Instant::now();
        let mut after = channel::after(Duration::from_millis(2)).into_stream();
        assert!(next(&mut after).await.is_some());
        let mut ticks = channel::tick(Duration::from_millis(1)).into_stream();
        for _ in 0..3 {
            next(&mut ticks).await.unwrap();
        }
        assert!(began.elapsed() >= Duration::from_millis(5));
    };
    runtime.run(|| wait(moments())).unwrap();
    block_on_thread(moments());
}

/// A broadcast receiver as a stream of its futures: each time that it has fallen behind it reports
/// how much it has missed, and continues with the remaining values, to the end of the channel.
// Proves: S13.
#[test]
fn a_stream_of_a_broadcast_goes_on_after_it_has_lagged() {
    const ROOM: usize = 3;
    const BURST: usize = 10;
    let rounds = scaled(50);
    let (tx, rx) = broadcast::channel(ROOM);
    let (go, begin) = channel::bounded::<()>(0);
    let mut numbers = 0..rounds * BURST;
    let mut burst = move || numbers.by_ref().take(BURST).for_each(|n| _ = tx.send(n));
    // The first one before the first receive; the others meanwhile.
    burst();
    let sends = thread::spawn(move || begin.iter().for_each(|()| burst()));
    let stream = unfold(rx, async |mut rx| match rx.recv_async().await {
        Err(broadcast::RecvError::Disconnected) => None,
        received => Some((received, rx)),
    });
    let receives = async move {
        let mut stream = pin!(stream);
        assert_eq!(
            stream.next().await,
            Some(Err(broadcast::RecvError::Lagged(7)))
        );
        let (mut next, mut values) = (7, 0);
        for round in 1..=rounds {
            while next < round * BURST {
                match stream.next().await.unwrap() {
                    Ok(value) => {
                        assert_eq!(value, next);
                        (next, values) = (next + 1, values + 1);
                    }
                    Err(broadcast::RecvError::Lagged(missed)) => next += missed as usize,
                    Err(error) => panic!("{error}"),
                }
            }
            if round < rounds {
                go.send_async(()).await.unwrap();
            }
        }
        drop(go);
        assert_eq!(stream.next().await, None);
        values
    };
    let values = runtime(1).run(|| wait(receives)).unwrap();
    sends.join().unwrap();
    assert!(
        values >= rounds * ROOM,
        "{values} values in {rounds} rounds"
    );
}

/// A watch receiver as a stream of its futures: no value after a later one, and the last one.
// Proves: S13.
#[test]
fn a_stream_of_a_watch_yields_the_latest() {
    let last = scaled(1_000);
    let (tx, rx) = watch::channel(0);
    let stream = unfold(rx, async |mut rx| {
        rx.changed_async().await.ok()?;
        // A sender may be changing it at this moment.
        let latest = *rx.borrow_and_update();
        Some((latest, rx))
    });
    let sends = thread::spawn(move || (1..=last).for_each(|n| tx.send(n).unwrap()));
    let seen: Vec<_> = runtime(1).run(|| wait(stream.collect())).unwrap();
    sends.join().unwrap();
    // A change may be reported twice.
    assert!(seen.is_sorted(), "{seen:?}");
    assert_eq!(seen.last(), Some(&last));
}
