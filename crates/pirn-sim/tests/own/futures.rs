//! Futures on fibers: wakes before and after a wait, futures that change hands or are dropped.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use pirn::channel::{RecvError, bounded, broadcast, oneshot, watch};
use pirn::future::{block_on, sleep, wait};
use pirn::{Interrupt, scope, time};

use crate::{MOMENT, assert_passed, check};

/// Pending until it is opened.
#[derive(Clone, Default)]
struct Gate {
    open: Arc<AtomicBool>,
    waker: Arc<Mutex<Option<Waker>>>,
}

impl Gate {
    fn open(&self) {
        pirn_sim::point();
        self.open.store(true, Ordering::Relaxed);
        let waker = self.waker.lock().unwrap().take();
        if let Some(waker) = waker {
            waker.wake_by_ref();
            waker.wake();
        }
    }
}

impl Future for Gate {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        *self.waker.lock().unwrap() = Some(context.waker().clone());
        match self.open.load(Ordering::Relaxed) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

/// Wakes itself in its first polls.
struct Eager(u32);

impl Future for Eager {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.0 == 0 {
            return Poll::Ready(());
        }
        self.0 -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Polls `future` once, with a waker without effect.
fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

// Proves: U30-futures.
#[test]
fn no_wake_is_lost() {
    check(|| {
        let gates = [Gate::default(), Gate::default()];
        scope(|s| {
            for gate in &gates {
                s.spawn(|| block_on(gate.clone()));
            }
            s.spawn(|| assert_eq!(wait(Eager(2)), Ok(())));
            gates.iter().for_each(Gate::open);
        });
    });
}

/// A wake and a cancellation at the same time; then the fiber waits once more.
// Proves: U30-futures.
#[test]
fn a_cancelled_wait_takes_no_wake_along() {
    check(|| {
        let (first, second) = (Gate::default(), Gate::default());
        scope(|s| {
            let token = pirn::cancel::Token::new();
            let (own, gates) = (token.clone(), (first.clone(), second.clone()));
            let fiber = s.spawn(move || {
                let outcome = own.enter(|| wait(gates.0));
                block_on(gates.1);
                outcome
            });
            s.spawn(|| {
                first.open();
                second.open();
            });
            token.cancel();
            let outcome = fiber.join().unwrap();
            assert!(outcome.is_ok() || outcome == Err(Interrupt::Cancelled));
        });
    });
}

/// A future is polled by one task and then by another one: the last waker is called.
// Proves: U30-futures.
#[test]
fn a_future_changes_hands() {
    check(|| {
        let (tx, rx) = bounded(0);
        let (single_tx, single) = oneshot::channel();
        scope(|s| {
            s.spawn(move || tx.send(7).unwrap());
            s.spawn(move || single_tx.send(8).unwrap());
            let mut future = Box::pin(rx.recv_async());
            let received = match poll_once(future.as_mut()) {
                Poll::Ready(received) => received,
                Poll::Pending => block_on(future),
            };
            assert_eq!(received, Ok(7));
            let mut future = Box::pin(single.recv_async());
            let received = match poll_once(future.as_mut()) {
                Poll::Ready(received) => received,
                Poll::Pending => wait(future).unwrap(),
            };
            assert_eq!(received, Ok(8));
        });
    });
}

/// A future is dropped after a poll: what was handed to it goes to the next receiver.
// Proves: U30-futures.
#[test]
fn a_dropped_receive_loses_no_value() {
    check(|| {
        let (tx, rx) = bounded(0);
        scope(|s| {
            s.spawn(move || (0..2).for_each(|n| tx.send(n).unwrap()));
            let mut future = Box::pin(rx.recv_async());
            let polled = poll_once(future.as_mut());
            pirn_sim::point();
            drop(future);
            let mut all = Vec::new();
            if let Poll::Ready(received) = polled {
                all.push(received.unwrap());
            }
            all.extend(rx.iter());
            assert_eq!(all, [0, 1]);
        });
    });
}

/// A send is dropped after a poll: its value has been received, or it is dropped too.
// Proves: U30-futures.
#[test]
fn a_dropped_send_keeps_no_value() {
    check(|| {
        let value = Arc::new(());
        let (tx, rx) = bounded(0);
        scope(|s| {
            let receiver = s.spawn(move || rx.recv());
            let mut future = Box::pin(tx.send_async(Arc::clone(&value)));
            let polled = poll_once(future.as_mut());
            pirn_sim::point();
            drop(future);
            drop(tx);
            let received = receiver.join().unwrap();
            match polled {
                Poll::Ready(sent) => assert!(sent.is_ok() && received.is_ok()),
                Poll::Pending => {
                    assert!(!matches!(received, Err(RecvError::Interrupted(_))));
                }
            }
        });
        assert_eq!(Arc::strong_count(&value), 1);
    });
}

/// Both ends poll, and the receiver is cancelled: what was sent is received.
// Proves: U30-futures.
#[test]
fn a_cancelled_receive_of_a_future_loses_no_value() {
    check(|| {
        let (tx, rx) = bounded(0);
        let token = pirn::cancel::Token::new();
        scope(|s| {
            let sender = s.spawn(move || wait(tx.send_async(7)).unwrap());
            s.spawn(|| token.cancel());
            let received = match token.enter(|| wait(rx.recv_async())) {
                Ok(received) => received.ok(),
                Err(_) => rx.try_recv().ok(),
            };
            drop(rx);
            assert_eq!(sender.join().unwrap().is_ok(), received.is_some());
        });
    });
}

/// Handles are awaited while their fibers end, by one task or by two.
// Proves: U30-futures.
#[test]
fn an_awaited_end_is_noticed() {
    check(|| {
        let fibers = [1, 2].map(|n| pirn::spawn(move || n));
        let [first, mut second] = fibers;
        assert_eq!(wait(first).unwrap().unwrap(), 1);
        let ended = match poll_once(Pin::new(&mut second)) {
            Poll::Ready(ended) => ended,
            Poll::Pending => block_on(second),
        };
        assert_eq!(ended.unwrap(), 2);
    });
}

/// Futures of the other channels are dropped between changes: nothing is missed.
// Proves: U30-futures.
#[test]
fn dropped_futures_miss_nothing() {
    check(|| {
        let (watch_tx, mut watched) = watch::channel(0);
        let (all_tx, mut all) = broadcast::channel(2);
        scope(|s| {
            s.spawn(move || {
                for n in 1..=2 {
                    watch_tx.send(n).unwrap();
                    all_tx.send(n).unwrap();
                }
            });
            let first = {
                let mut future = Box::pin(all.recv_async());
                let polled = poll_once(future.as_mut());
                pirn_sim::point();
                polled
            };
            let mut received = Vec::new();
            if let Poll::Ready(value) = first {
                received.push(value.unwrap());
            }
            while let Ok(value) = block_on(all.recv_async()) {
                received.push(value);
            }
            assert_eq!(received, [1, 2]);
            let changed = poll_once(Box::pin(watched.changed_async()).as_mut());
            assert!(changed.is_ready());
            while block_on(watched.changed_async()).is_ok() {}
            assert_eq!(*watched.borrow(), 2);
        });
    });
}

/// Timers of futures, and of a future that is moved to another wait.
// Proves: U30-futures.
#[test]
fn timers_of_futures_end_in_time() {
    check(|| {
        let begun = time::now();
        scope(|s| {
            for n in 1..=2 {
                s.spawn(move || {
                    let mut sleeping = Box::pin(sleep(n * MOMENT));
                    let polled = poll_once(sleeping.as_mut());
                    assert!(polled.is_pending());
                    pirn_sim::point();
                    block_on(sleeping);
                    assert_passed(begun, n);
                });
            }
        });
    });
}
