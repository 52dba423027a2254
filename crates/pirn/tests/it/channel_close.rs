//! How a bounded channel is closed: by a call, and by the end of all senders or receivers.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};
use std::thread;

use pirn::channel::{
    RecvError, RecvTimeoutError, SendError, SendTimeoutError, Sender, TryRecvError,
    TrySendError, bounded,
};

use crate::channel::{Counted, SHORT};
use crate::executor_kind::{EXECUTOR_KINDS, Jobs, alone, until};
use crate::util::eventually;

#[test]
fn exactly_one_caller_closes() {
    for executor in EXECUTOR_KINDS {
        let (tx, rx) = bounded::<()>(1);
        let closers = AtomicUsize::new(0);
        let closed = |it: bool| {
            closers.fetch_add(usize::from(it), Ordering::SeqCst);
        };
        let mut jobs = Jobs::new();
        for _ in 0..8 {
            jobs.add(|| closed(tx.close()));
            jobs.add(|| closed(rx.close()));
        }
        jobs.run(executor, 4);
        assert_eq!(closers.into_inner(), 1);
        assert!(tx.is_closed() && rx.is_closed());
    }
}

/// Each way to send is refused, though there is room; the value in the channel is received.
// Proves: A9, I12, I13.
#[test]
fn a_closed_channel_refuses_and_drains() {
    let (tx, rx) = bounded(2);
    tx.send(1).unwrap();
    tx.close();
    assert_eq!(tx.force_send(2), Err(SendError::Disconnected(2)));
    let mut many = VecDeque::from([2, 3]);
    assert_eq!(tx.send_many(&mut many), Err(SendError::Disconnected(())));
    assert_eq!(many, [2, 3]);
    pirn::select! {
        send(tx, 2) -> sent => assert_eq!(sent, Err(SendError::Disconnected(2))),
        default => panic!("closed is possible"),
    }
    let sent = pirn::future::block_on(tx.send_async(2));
    assert_eq!(sent, Err(SendError::Disconnected(2)));
    assert_eq!(tx.send(2), Err(SendError::Disconnected(2)));
    assert_eq!(tx.try_send(2), Err(TrySendError::Disconnected(2)));
    assert_eq!(
        tx.send_timeout(2, SHORT),
        Err(SendTimeoutError::Disconnected(2))
    );
    assert_eq!(rx.recv(), Ok(1));
    assert_eq!(rx.recv(), Err(RecvError::Disconnected));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
    assert_eq!(rx.recv_timeout(SHORT), Err(RecvTimeoutError::Disconnected));
}

/// Wakers are called after the lock of the channel is released, however many there are: each of
/// these uses the channel.
// Proves: G7.
#[test]
fn wakers_use_the_channel_that_calls_them() {
    struct Uses {
        tx: Sender<()>,
        called: AtomicUsize,
    }
    impl Wake for Uses {
        fn wake(self: Arc<Self>) {
            drop(self.tx.clone());
            self.called.fetch_add(1, Ordering::SeqCst);
        }
    }
    for capacity in [0, 1] {
        let (tx, rx) = bounded(capacity);
        let called = AtomicUsize::new(0);
        let uses = Arc::new(Uses { tx, called });
        let count = Arc::clone(&uses);
        // Where the lock is held, it does not end.
        let caller = thread::spawn(move || {
            let waker = Waker::from(Arc::clone(&uses));
            let mut context = Context::from_waker(&waker);
            let mut futures: Vec<_> =
                (0..100).map(|_| Box::pin(rx.recv_async())).collect();
            for future in &mut futures {
                assert!(future.as_mut().poll(&mut context).is_pending());
            }
            uses.tx.try_send(()).unwrap();
            assert_eq!(uses.called.load(Ordering::SeqCst), 1);
            uses.tx.close();
        });
        eventually("the wakers return", || caller.is_finished());
        caller.join().unwrap();
        assert_eq!(count.called.load(Ordering::SeqCst), 100);
    }
}

// Proves: G7, I5.
#[test]
fn close_wakes_every_parked_receiver() {
    const RECEIVERS: usize = 100;
    for capacity in [0, 1] {
        alone(|| {
            let (tx, rx) = bounded::<()>(capacity);
            let parked = AtomicUsize::new(0);
            pirn::scope(|s| {
                for _ in 0..RECEIVERS {
                    s.spawn(|| {
                        parked.fetch_add(1, Ordering::SeqCst);
                        assert_eq!(rx.recv(), Err(RecvError::Disconnected));
                    });
                }
                until(&parked, RECEIVERS);
                assert!(tx.close());
            });
        });
    }
}

// Proves: I11.
#[test]
fn close_admits_what_senders_parked_on_a_buffer_brought() {
    const SENDERS: usize = 100;
    alone(|| {
        let (tx, rx) = bounded(1);
        tx.send(0).unwrap();
        let parked = AtomicUsize::new(0);
        pirn::scope(|s| {
            for i in 1..=SENDERS {
                let (tx, parked) = (&tx, &parked);
                s.spawn(move || {
                    parked.fetch_add(1, Ordering::SeqCst);
                    assert_eq!(tx.send(i), Ok(()));
                });
            }
            until(&parked, SENDERS);
            assert!(rx.close());
            assert_eq!(rx.len(), 1 + SENDERS);
        });
        let mut values: Vec<usize> = rx.iter().collect();
        values.sort_unstable();
        assert!(values.into_iter().eq(0..=SENDERS));
    });
}

// Proves: I11.
#[test]
fn close_gives_senders_parked_on_a_rendezvous_their_values_back() {
    const SENDERS: usize = 100;
    alone(|| {
        let (tx, rx) = bounded(0);
        let parked = AtomicUsize::new(0);
        pirn::scope(|s| {
            for i in 0..SENDERS {
                let (tx, parked) = (&tx, &parked);
                s.spawn(move || {
                    parked.fetch_add(1, Ordering::SeqCst);
                    assert_eq!(tx.send(i), Err(SendError::Disconnected(i)));
                });
            }
            until(&parked, SENDERS);
            assert!(tx.close());
            assert_eq!(rx.recv(), Err(RecvError::Disconnected));
        });
    });
}

// Proves: I22.
#[test]
fn the_last_receiver_takes_the_buffer_with_it_and_frees_parked_senders() {
    const SENDERS: usize = 40;
    let alive = Arc::new(AtomicUsize::new(0));
    alone(|| {
        let (tx, rx) = bounded(2);
        let other = rx.clone();
        tx.send(Counted::new(&alive)).unwrap();
        tx.send(Counted::new(&alive)).unwrap();
        let parked = AtomicUsize::new(0);
        pirn::scope(|s| {
            for _ in 0..SENDERS {
                s.spawn(|| {
                    let value = Counted::new(&alive);
                    parked.fetch_add(1, Ordering::SeqCst);
                    let back = tx.send(value).unwrap_err();
                    assert_eq!(back.reason(), SendError::Disconnected(()));
                });
            }
            until(&parked, SENDERS);
            drop(rx);
            assert!(!tx.is_closed());
            drop(other);
            assert!(tx.is_closed());
            assert!(!tx.close());
            // The two buffered values are dropped by now, those of the senders are returned.
            assert_eq!(alive.load(Ordering::SeqCst), SENDERS);
        });
        assert_eq!(alive.load(Ordering::SeqCst), 0);
    });
}

// Proves: I13.
#[test]
fn the_last_sender_disconnects_receivers_after_the_buffer_is_empty() {
    for executor in EXECUTOR_KINDS {
        let (tx, rx) = bounded(4);
        let mut jobs = Jobs::new();
        for part in 0..4 {
            let tx = tx.clone();
            jobs.add(move || (0..100).for_each(|i| tx.send(part * 100 + i).unwrap()));
        }
        drop(tx);
        jobs.add(move || {
            let mut values: Vec<usize> = rx.into_iter().collect();
            values.sort_unstable();
            assert!(values.into_iter().eq(0..400));
        });
        jobs.run(executor, 2);
    }
}
