//! Futures: wakes against waits, interrupts and ends.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use pirn::Interrupt;
use pirn::channel::{RecvError, bounded, broadcast, oneshot, watch};
use pirn::future::{block_on, wait};

use crate::util::{explore, thread};

/// Yields until it is opened.
#[derive(Clone, Default)]
struct Gate {
    open: Arc<AtomicBool>,
    waker: Arc<Mutex<Option<Waker>>>,
}

impl Gate {
    fn open(&self) {
        self.open.store(true, Ordering::SeqCst);
        let waker = self.waker.lock().expect("no panics").take();
        if let Some(waker) = waker {
            waker.wake_by_ref();
            waker.wake();
        }
    }
}

impl Future for Gate {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        *self.waker.lock().expect("no panics") = Some(context.waker().clone());
        match self.open.load(Ordering::SeqCst) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

/// A fiber and a thread wait; wakes come from one of each.
// Proves: S1.
#[test]
fn wakes_against_waits() {
    explore(|world| {
        let runtime = world.runtime();
        let (first, second) = (Gate::default(), Gate::default());
        let fiber = {
            let gate = first.clone();
            runtime.spawn(move || wait(gate).expect("not cancelled"))
        };
        let outside = {
            let gate = second.clone();
            thread(move || block_on(gate))
        };
        let opener = runtime.spawn(move || second.open());
        first.open();
        opener.join().expect("it opens");
        fiber.join().expect("it has been woken");
        outside.join().expect("it has been woken");
    });
}

/// A wake and a cancellation coincide; then the fiber waits once more.
// Proves: S2.
#[test]
fn a_wake_against_a_cancellation() {
    explore(|world| {
        let runtime = world.runtime();
        let (first, second) = (Gate::default(), Gate::default());
        let fiber = {
            let (first, second) = (first.clone(), second.clone());
            runtime.spawn(move || {
                let outcome = wait(first);
                block_on(second);
                outcome
            })
        };
        let opener = thread(move || {
            first.open();
            second.open();
        });
        fiber.cancel();
        match fiber.join() {
            Ok(Ok(()) | Err(Interrupt::Cancelled)) => {}
            Ok(Err(interrupt)) => panic!("{interrupt}"),
            Err(error) => assert!(!error.is_panic()),
        }
        opener.join().expect("it opens");
    });
}

/// Polls `future` once, with a waker of no effect.
fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// A future is polled by one task and then by another, with sends in parallel: the last waker is
/// called.
// Proves: S5.
#[test]
fn a_future_changes_hands() {
    explore(|world| {
        let runtime = world.runtime();
        let (tx, rx) = bounded(0);
        let sender = runtime.spawn(move || tx.send(7).expect("it is received"));
        let receiver = runtime.spawn(move || {
            let mut future = Box::pin(rx.recv_async());
            match poll_once(future.as_mut()) {
                Poll::Ready(received) => received,
                Poll::Pending => block_on(future),
            }
        });
        assert_eq!(receiver.join().expect("it receives"), Ok(7));
        sender.join().expect("it sends");
    });
}

/// A future is dropped during a send: the next receive has the value.
// Proves: S6.
#[test]
fn a_value_against_a_drop() {
    explore(|world| {
        let runtime = world.runtime();
        let (tx, rx) = bounded(0);
        let sender = thread(move || tx.send(7).expect("it is received"));
        let receiver = runtime.spawn(move || {
            let mut future = Box::pin(rx.recv_async());
            let polled = poll_once(future.as_mut());
            drop(future);
            match polled {
                Poll::Ready(received) => received,
                Poll::Pending => rx.recv(),
            }
        });
        assert_eq!(receiver.join().expect("it receives"), Ok(7));
        sender.join().expect("it sends");
    });
}

/// Both ends poll, and one of them is cancelled: each sent value is received.
// Proves: S6.
#[test]
fn a_meeting_against_a_cancellation() {
    explore(|world| {
        let runtime = world.runtime();
        let (tx, rx) = bounded(0);
        let sender = runtime.spawn(move || wait(tx.send_async(Box::new(7))));
        let receiver = runtime.spawn(move || match wait(rx.recv_async()) {
            Ok(received) => received.ok(),
            Err(_) => rx.try_recv().ok(),
        });
        receiver.cancel();
        let received = receiver.join().ok().flatten();
        let sent = sender.join().expect("it is not cancelled");
        let sent = sent.expect("it is not interrupted").is_ok();
        assert!(!sent || received.is_some());
    });
}

/// A handle is awaited while its fiber ends.
// Proves: S7.
#[test]
fn an_end_against_a_poll() {
    explore(|world| {
        let runtime = world.runtime();
        let (first, second) = (runtime.spawn(|| 1), runtime.spawn(|| 2));
        let fiber = runtime.spawn(move || wait(first).expect("it is not interrupted"));
        let outside = thread(move || {
            let mut second = Box::pin(second);
            match poll_once(second.as_mut()) {
                Poll::Ready(ended) => ended,
                Poll::Pending => block_on(second),
            }
        });
        let ended = fiber.join().expect("it waits");
        assert_eq!(ended.expect("it ends"), 1);
        assert_eq!(outside.join().expect("it waits").expect("it ends"), 2);
    });
}

/// The one value is sent, or its sender is dropped, between two polls: the second one has the
/// result. If the future is dropped instead, the value is dropped once, by one of the two ends.
// Proves: S12.
#[test]
fn one_value_against_a_drop() {
    explore(|world| {
        let runtime = world.runtime();
        for sends in [true, false] {
            let (tx, rx) = oneshot::channel();
            let sender = thread(move || match sends {
                true => tx.send(7).expect("it is received"),
                false => drop(tx),
            });
            let receiver = runtime.spawn(move || {
                let mut future = Box::pin(rx.recv_async());
                match poll_once(future.as_mut()) {
                    Poll::Ready(received) => received,
                    Poll::Pending => block_on(future),
                }
            });
            let expected = if sends {
                Ok(7)
            } else {
                Err(RecvError::Disconnected)
            };
            assert_eq!(receiver.join().expect("it receives"), expected);
            sender.join().expect("it sends");
        }
        let value = Arc::new(7);
        let (tx, rx) = oneshot::channel();
        let sent = Arc::clone(&value);
        let sender = thread(move || drop(tx.send(sent)));
        let receiver = runtime.spawn(move || {
            let mut future = Box::pin(rx.recv_async());
            drop(poll_once(future.as_mut()));
        });
        receiver.join().expect("it ends");
        sender.join().expect("it sends");
        assert_eq!(Arc::strong_count(&value), 1);
    });
}

/// The value changes while a future is dropped, and another one waits: both see the last change,
/// and the end.
// Proves: S12.
#[test]
fn a_change_against_a_drop() {
    explore(|world| {
        let runtime = world.runtime();
        let (tx, mut rx) = watch::channel(0);
        let mut other = rx.clone();
        let sender = thread(move || (1..=2).for_each(|n| tx.send(n).expect("seen")));
        let dropper = runtime.spawn(move || {
            let mut future = Box::pin(rx.changed_async());
            let _ = poll_once(future.as_mut());
            drop(future);
            while block_on(rx.changed_async()).is_ok() {}
            *rx.borrow()
        });
        let waiter = runtime.spawn(move || {
            let mut last = 0;
            while wait(other.changed_async()).expect("not cancelled").is_ok() {
                last = *other.borrow();
            }
            last
        });
        assert_eq!(dropper.join().expect("it sees"), 2);
        assert_eq!(waiter.join().expect("it sees"), 2);
        sender.join().expect("it sends");
    });
}

/// A value for all receivers is sent while one future is dropped and another cancelled: no
/// remaining receiver misses it.
// Proves: S12.
#[test]
fn a_broadcast_against_a_drop() {
    explore(|world| {
        let runtime = world.runtime();
        let (tx, mut rx) = broadcast::channel(2);
        let mut other = rx.clone();
        let sender = thread(move || (1..=2).for_each(|n| _ = tx.send(n).expect("heard")));
        let dropper = runtime.spawn(move || {
            let mut future = Box::pin(rx.recv_async());
            let polled = poll_once(future.as_mut());
            drop(future);
            let first = match polled {
                Poll::Ready(received) => received,
                Poll::Pending => block_on(rx.recv_async()),
            };
            (first, block_on(rx.recv_async()))
        });
        let cancelled = runtime.spawn(move || {
            let first = wait(other.recv_async());
            (first, other.len())
        });
        cancelled.cancel();
        let both = dropper.join().expect("it hears");
        sender.join().expect("it sends");
        assert_eq!(both, (Ok(1), Ok(2)));
        if let Ok((first, _)) = cancelled.join() {
            assert!(matches!(first, Ok(Ok(1)) | Err(Interrupt::Cancelled)));
        }
    });
}
