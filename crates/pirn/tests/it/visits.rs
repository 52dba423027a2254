//! Code that runs on another fiber than its caller: under the token, the shield and the clock of
//! the caller.

use std::sync::mpsc;
use std::time::Duration;

use pirn::cancel::{check, shield};
use pirn::dispatcher::Dispatcher;
use pirn::runtime::Handle;
use pirn::{Interrupt, Runtime, compute, par, scope, sleep};

use crate::executor_kind::runtime;
use crate::util::LONG;

type Work = fn() -> Result<(), Interrupt>;

const STEP: Duration = Duration::from_millis(40);

/// A shutdown does not interrupt what runs in a shield, also not the parts that other fibers run;
/// what comes after the shield is interrupted.
// Proves: K8.
#[test]
fn a_shield_covers_what_other_fibers_run() {
    let works: [(&str, Work); 6] = [
        ("in place", || sleep(STEP)),
        ("join", || pirn::join(|| sleep(STEP / 2), || sleep(STEP)).1),
        ("loop", || par::try_for_each(0..4, |_| sleep(STEP / 2))),
        ("compute", || compute(|| sleep(STEP))),
        ("run", || {
            Handle::current()
                .dispatcher()
                .limited(1)
                .run(|| sleep(STEP))
        }),
        ("child of a child", || {
            scope(|s| {
                let child = || scope(|s| s.spawn(|| sleep(STEP)).join().unwrap());
                s.spawn(child).join().unwrap()
            })
        }),
    ];
    for (name, work) in works {
        let (runtime, (tx, rx)) = (runtime(2), mpsc::channel());
        let token = runtime.handle().token();
        let fiber = runtime.spawn(move || {
            let inside = shield(|| {
                tx.send(()).unwrap();
                work()
            });
            // The shutdown may come late.
            while !token.is_cancelled() {
                std::thread::yield_now();
            }
            (inside, check())
        });
        rx.recv().unwrap();
        std::thread::sleep(STEP / 4);
        runtime.shutdown(LONG).unwrap();
        let expected = (Ok(()), Err(Interrupt::Cancelled));
        assert_eq!(fiber.join().unwrap(), expected, "{name}");
    }
}

/// What a fiber runs elsewhere ends with the fiber's runtime, and with the fiber's own
/// cancellation.
// Proves: K7.
#[test]
fn a_cancellation_reaches_what_runs_elsewhere() {
    type Run = fn(&Handle) -> Result<(), Interrupt>;
    let runs: [(&str, Run); 4] = [
        ("another runtime", |other| other.run(|| sleep(LONG * 2))),
        ("below a deadline", |other| {
            pirn::timeout(LONG * 3, || other.run(|| sleep(LONG * 2))).unwrap()
        }),
        ("threads that block", |_| {
            Dispatcher::io().run(|| sleep(LONG * 2))
        }),
        ("a limit", |_| {
            Handle::current()
                .dispatcher()
                .limited(1)
                .run(|| sleep(LONG * 2))
        }),
    ];
    for (name, run) in runs {
        for ends in [true, false] {
            let (own, other) = (runtime(1), runtime(1));
            let (elsewhere, (tx, rx)) = (other.handle(), mpsc::channel());
            let fiber = own.spawn(move || {
                tx.send(()).unwrap();
                run(&elsewhere)
            });
            rx.recv().unwrap();
            std::thread::sleep(STEP / 4);
            match ends {
                true => own.shutdown(LONG / 4).unwrap(),
                false => fiber.cancel(),
            }
            let ended = fiber.join().unwrap();
            assert_eq!(ended, Err(Interrupt::Cancelled), "{name}, {ends}");
        }
    }
}

/// Virtual time goes on while a fiber waits for one that runs on the same runtime within a limit.
// Proves: P13-X-outside.
#[test]
fn time_goes_on_for_a_run_on_the_own_runtime() {
    let build = || Runtime::builder().deterministic(3).build().unwrap();
    for _ in 0..3 {
        let limited = |of: &Handle| of.dispatcher().limited(1);
        let slept = build().run(|| limited(&Handle::current()).run(|| sleep(LONG)));
        assert_eq!(slept, Ok(()));
    }
}
