//! Every call that waits, under everything that interrupts: it returns that interrupt, soon.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use pirn::{Interrupt, Runtime};

use crate::interrupts_calls::{CHANNELS, CHOICES, Call, ELSEWHERE, FIBERS, LOCKS};
use crate::interrupts_sources::{CANCELLED, ENDED, Start, TIMED_OUT};
use crate::util::{LONG, SCHEDULERS, eventually, shaped};

fn calls() -> impl Iterator<Item = &'static (&'static str, Call)> {
    [CHANNELS, CHOICES, FIBERS, LOCKS, ELSEWHERE]
        .into_iter()
        .flatten()
}

/// Starts all calls at once, each from a place of its own, interrupts them when all have begun, and
/// compares what they return.
///
/// `ends`: the shutdown of the runtime is what interrupts.
fn interrupt_all(
    runtime: Runtime,
    source: &str,
    start: Start,
    ends: bool,
    expected: Interrupt,
) {
    let begun = Arc::new(AtomicUsize::new(0));
    let (tx, rx) = mpsc::channel();
    let mut stops = Vec::new();
    for (name, call) in calls() {
        let (begun, tx) = (Arc::clone(&begun), tx.clone());
        stops.push(start(
            &runtime,
            Box::new(move || {
                begun.fetch_add(1, Ordering::SeqCst);
                let ended = call();
                tx.send((*name, ended)).unwrap();
            }),
        ));
    }
    eventually("all have begun", || {
        begun.load(Ordering::SeqCst) == stops.len()
    });
    // Most of them wait by then.
    thread::sleep(Duration::from_millis(20));
    let mut runtime = Some(runtime);
    let end = |runtime: &mut Option<Runtime>| {
        if let Some(runtime) = runtime.take() {
            runtime.shutdown(LONG / 4).unwrap();
        }
    };
    if ends {
        end(&mut runtime);
    }
    stops.into_iter().for_each(|stop| stop());
    let mut left: Vec<_> = calls().map(|(name, _)| *name).collect();
    while !left.is_empty() {
        let Ok((name, ended)) = rx.recv_timeout(LONG / 4) else {
            panic!("{source} did not end {left:?}");
        };
        assert_eq!(ended, Some(expected), "{source}: {name}");
        left.retain(|other| *other != name);
    }
    end(&mut runtime);
}

/// Runs `test` on runtimes with two workers, of each kind.
fn on_each(test: impl Fn(Runtime)) {
    for scheduler in SCHEDULERS {
        test(shaped(2, scheduler));
    }
    // SAFETY: no fiber of these tests keeps anything that is tied to a thread across a wait.
    let free = unsafe { Runtime::builder().workers(2).free_migration() };
    test(free.build().unwrap());
}

/// A cancellation, from wherever it comes, ends every call that waits.
// Proves: K2.
#[test]
fn a_cancellation_ends_every_call() {
    for (source, start) in CANCELLED {
        on_each(|runtime| {
            interrupt_all(runtime, source, *start, false, Interrupt::Cancelled);
        });
    }
}

/// A deadline, wherever it is set, ends every call that waits.
// Proves: K9.
#[test]
fn a_deadline_ends_every_call() {
    for (source, start) in TIMED_OUT {
        on_each(|runtime| {
            interrupt_all(runtime, source, *start, false, Interrupt::TimedOut);
        });
    }
}

/// A shutdown ends every call of the runtime's fibers that waits, and of those of its groups.
// Proves: K7.
#[test]
fn a_shutdown_ends_every_call() {
    for (source, start) in ENDED {
        on_each(|runtime| {
            interrupt_all(runtime, source, *start, true, Interrupt::Cancelled);
        });
    }
}
