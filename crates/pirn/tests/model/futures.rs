//! Futures: wakes against waits, interrupts and ends.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use pirn::Interrupt;
use pirn::future::{block_on, wait};

use crate::rig::{explore, thread};

/// Yields once it is opened.
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
#[test]
fn wakes_against_waits() {
    explore(|world| {
        let runtime = world.runtime();
        let (first, second) = (Gate::default(), Gate::default());
        let fiber = {
            let gate = first.clone();
            runtime.spawn(move || wait(gate).expect("nobody is cancelled"))
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

/// A wake and a cancellation meet; then the fiber waits once more.
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
