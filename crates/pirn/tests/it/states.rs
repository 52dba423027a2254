//! The states of fibers and workers: by name, and with the documented transitions only.

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use pirn::diag::{State, WorkerState};
use pirn::{Runtime, channel};

use crate::executor_kind::for_ever;
use crate::util::{SCHEDULERS, compute_until, eventually, scaled};

/// Returns whether one leads to the other, over any number of steps.
fn leads<S: Copy + PartialEq>(all: &[S], from: S, to: S, step: fn(S, S) -> bool) -> bool {
    let mut seen = vec![from];
    let mut at = 0;
    while at < seen.len() {
        let here = seen[at];
        let next = all.iter().filter(|next| step(here, **next));
        for next in next.copied().collect::<Vec<_>>() {
            if !seen.contains(&next) {
                seen.push(next);
            }
        }
        at += 1;
    }
    seen.contains(&to)
}

/// The transitions are those of the diagrams: from the beginning to an end, and never back from
/// there.
// Proves: C11, F1.
#[test]
fn the_ways_lead_somewhere() {
    let fiber = |from, to| leads(&State::ALL, from, to, State::may_become);
    for state in State::ALL {
        assert!(fiber(State::Init, state), "{state:?} is never reached");
        let over = [State::Done, State::Cancelled].contains(&state);
        assert_eq!(fiber(state, State::Done), state != State::Cancelled);
        assert_eq!(fiber(state, State::Running), !over, "{state:?}");
        assert!(state == State::Init || !fiber(state, State::Init));
    }
    assert!(!State::Init.may_become(State::Running));
    assert!(!State::Runnable.may_become(State::Parked));
    assert!(!State::Parked.may_become(State::Done));
    let worker = |from, to| leads(&WorkerState::ALL, from, to, WorkerState::may_become);
    for from in WorkerState::ALL {
        for to in WorkerState::ALL {
            assert!(worker(from, to), "no way from {from:?} to {to:?}");
        }
    }
    assert!(!WorkerState::Asleep.may_become(WorkerState::Dead));
    assert!(!WorkerState::Dead.may_become(WorkerState::Draining));
}

/// A report distinguishes running, ready and waiting fibers.
// Proves: F1.
#[test]
fn a_report_names_the_states() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let handle = runtime.handle();
    let parked = runtime.spawn(for_ever);
    let id = parked.fiber().id();
    let state = move |id| {
        let fibers = handle.fibers().into_iter();
        let found = fibers
            .filter(|fiber| fiber.id == id)
            .map(|fiber| fiber.state);
        found.last()
    };
    eventually("it waits", || state(id) == Some(State::Parked));
    let reporter = runtime.spawn(move || {
        parked.cancel();
        let own = pirn::spawn::current().id();
        let states = (state(own), state(id));
        parked.join().unwrap();
        (states, state(id))
    });
    let between = (Some(State::Running), Some(State::Runnable));
    assert_eq!(reporter.join().unwrap(), (between, None));
}

/// A worker is reported with its state: no thread yet, busy, asleep, retired, ended.
// Proves: C11.
#[test]
fn workers_have_states() {
    let builder = Runtime::builder().workers(2).max_threads(2);
    let runtime = builder.build().unwrap();
    let states = |runtime: &Runtime| -> Vec<WorkerState> {
        let workers = runtime.metrics().workers.into_iter();
        workers.map(|worker| worker.state).collect()
    };
    let all = |state| states(&runtime).iter().all(|own| *own == state);
    let (inside, over) = (AtomicUsize::new(0), AtomicBool::new(false));
    runtime.scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                inside.fetch_add(1, Ordering::SeqCst);
                compute_until("it is over", || over.load(Ordering::SeqCst));
            });
        }
        eventually("both compute", || inside.load(Ordering::SeqCst) == 2);
        assert!(all(WorkerState::Active));
        over.store(true, Ordering::SeqCst);
    });
    eventually("all sleep", || all(WorkerState::Asleep));

    // Retired, with a fiber that waits on it.
    let (tx, rx) = channel::bounded::<()>(0);
    let fibers: Vec<_> = (0..16)
        .map(|_| {
            let rx = rx.clone();
            runtime.spawn(move || _ = rx.recv())
        })
        .collect();
    eventually("all wait", || runtime.metrics().total.fiber_parks >= 16);
    let here = runtime.metrics().workers[1].counters.started > 0;
    runtime.handle().set_workers(NonZero::<usize>::MIN);
    if here && cfg!(not(pirn_free)) {
        eventually("it drains", || states(&runtime)[1] == WorkerState::Draining);
    }
    drop(tx);
    for fiber in fibers {
        fiber.join().unwrap();
    }
    eventually("it has gone", || {
        states(&runtime)
            .get(1)
            .is_none_or(|state| *state == WorkerState::Dead)
    });
}

/// Six hundred runtimes, one after the other, with 24 fibers each that take every
/// transition: in a debug build a step that is not in the diagrams ends the process. Each state
/// observed from outside is reachable from the one observed before.
// Proves: C11, F1.
#[test]
fn a_storm_of_lives() {
    let lives = scaled(600);
    for life in 0..lives {
        let scheduler = SCHEDULERS[life % 2];
        let workers = [1, 2, 4, 8][life / 2 % 4];
        let builder = Runtime::builder().workers(workers).scheduler(scheduler);
        let runtime = builder.build().unwrap();
        let states = || -> Vec<WorkerState> {
            let workers = runtime.metrics().workers.into_iter();
            workers.map(|worker| worker.state).collect()
        };
        let mut before = states();
        runtime.scope(|s| {
            for fiber in 0..24 {
                s.spawn(move || live(life + fiber));
            }
            while !s.is_empty() {
                for fiber in runtime.fibers() {
                    let told = [State::Runnable, State::Running, State::Parked];
                    assert!(told.contains(&fiber.state), "{:?}", fiber.state);
                }
                let now = states();
                for (from, to) in before.iter().zip(&now) {
                    let way =
                        leads(&WorkerState::ALL, *from, *to, WorkerState::may_become);
                    assert!(way, "{from:?} to {to:?}");
                }
                before = now;
                if life % 3 == 0 {
                    let workers = NonZero::new(1 + life % workers).unwrap();
                    runtime.handle().set_workers(workers);
                }
            }
        });
        runtime.wait_idle().unwrap();
        let total = runtime.metrics().total;
        assert_eq!((total.spawned, total.rescues), (total.completed, 0));
    }
}

/// Takes a fiber through its states, in one of several ways.
fn live(seed: usize) {
    match seed % 8 {
        0 => {}
        1 => pirn::yield_now(),
        2 => _ = pirn::sleep(Duration::from_micros(20)),
        3 => {
            let (tx, rx) = channel::bounded(0);
            let sender = pirn::spawn(move || tx.send(seed));
            assert_eq!(rx.recv(), Ok(seed));
            sender.join().unwrap().unwrap();
        }
        4 => {
            let fiber = pirn::spawn(for_ever);
            if seed.is_multiple_of(3) {
                pirn::yield_now();
            }
            fiber.cancel();
            drop(fiber.join());
        }
        5 => {
            // Waits while it unwinds.
            let fiber = pirn::spawn(|| {
                let _last = Last;
                std::panic::resume_unwind(Box::new(0));
            });
            assert!(fiber.join().is_err());
        }
        6 => {
            pirn::spawn::current().unpark();
            pirn::park();
            pirn::spawn::park_timeout(Duration::from_micros(10));
        }
        _ => pirn::scope(|s| {
            for child in 0..3 {
                s.spawn(move || live(seed / 8 + child));
            }
        }),
    }
}

struct Last;

impl Drop for Last {
    fn drop(&mut self) {
        pirn::yield_now();
        _ = pirn::spawn(pirn::yield_now).join();
    }
}
