//! Deadlines of a piece of code: the nearest one applies, every interruptible wait reports it, and
//! it ends with its code.

use std::io;
use std::time::{Duration, Instant};

use pirn::cancel::{check, deadline, reason, with_deadline};
use pirn::channel::{self, RecvError, RecvTimeoutError, SendError, SendTimeoutError};
use pirn::runtime::Handle;
use pirn::scope::TaskGroup;
use pirn::select::Select;
use pirn::spawn::{Fiber, JoinError, checkpoint, park_interruptible, park_timeout};
use pirn::sync::{AcquireError, Condvar, Event, Mutex, RwLock, Semaphore, WaitGroup};
use pirn::time::{Elapsed, interval, now, sleep, sleep_until, timeout};
use pirn::wait::{self, Ticket, Waitable};
use pirn::{Interrupt, JoinHandle, future};

use crate::executor_kind::{EXECUTOR_KINDS, Jobs, alone, runtime};
use crate::util::LONG;

const SHORT: Duration = Duration::from_millis(3);

/// Longer than any wait of a test.
fn far() -> Instant {
    now() + LONG
}

fn past() -> Instant {
    let now = now();
    now.checked_sub(Duration::from_millis(1)).unwrap_or(now)
}

type Call = (&'static str, fn() -> Result<(), Interrupt>);

/// Every operation that waits, cannot succeed, and can be interrupted.
const CALLS: &[Call] = &[
    ("sleep", || sleep(LONG)),
    ("sleep for ever", || sleep(Duration::MAX)),
    ("sleep_until", || sleep_until(far())),
    ("park_interruptible", park_interruptible),
    ("send", || {
        let (tx, _rx) = channel::bounded(0);
        match tx.send(5) {
            Err(SendError::Interrupted(5, interrupt)) => Err(interrupt),
            other => panic!("{other:?}"),
        }
    }),
    ("send_timeout", || {
        let (tx, _rx) = channel::bounded(1);
        tx.try_send(4).unwrap();
        match tx.send_timeout(5, LONG) {
            Err(SendTimeoutError::Interrupted(5, interrupt)) => Err(interrupt),
            other => panic!("{other:?}"),
        }
    }),
    ("recv", || {
        let (_tx, rx) = channel::bounded::<u8>(0);
        match rx.recv() {
            Err(RecvError::Interrupted(interrupt)) => Err(interrupt),
            other => panic!("{other:?}"),
        }
    }),
    ("recv_deadline", || {
        let (_tx, rx) = channel::bounded::<u8>(1);
        match rx.recv_deadline(far()) {
            Err(RecvTimeoutError::Interrupted(interrupt)) => Err(interrupt),
            other => panic!("{other:?}"),
        }
    }),
    ("iter", || {
        let (_tx, rx) = channel::bounded::<u8>(1);
        let mut iter = rx.iter();
        assert_eq!(iter.next(), None);
        iter.interrupted().map_or(Ok(()), Err)
    }),
    ("join", || {
        let (fiber, _ends) = endless();
        match fiber.join() {
            Err(JoinError::Interrupted(interrupt)) => Err(interrupt),
            other => panic!("{other:?}"),
        }
    }),
    ("wait", || {
        let (fiber, _ends) = endless();
        fiber.wait()
    }),
    ("join_timeout", || {
        let (fiber, _ends) = endless();
        match fiber.join_timeout(LONG) {
            Ok(Err(JoinError::Interrupted(interrupt))) => Err(interrupt),
            other => panic!("{other:?}"),
        }
    }),
    ("wait_idle", || {
        let runtime = runtime(1);
        let fiber = runtime.spawn(pirn::park);
        let _ends = Unparks(fiber.fiber().clone());
        runtime.wait_idle()
    }),
    ("Scope::wait", || {
        pirn::scope(|s| {
            let child = s.spawn(pirn::park);
            let result = s.wait();
            child.fiber().unpark();
            result
        })
    }),
    ("Scope::wait_timeout", || {
        pirn::scope(|s| {
            let child = s.spawn(pirn::park);
            let result = s.wait_timeout(LONG);
            child.fiber().unpark();
            result.map(|_| ())
        })
    }),
    ("lock_interruptible", || {
        let mutex = Mutex::new(());
        let held = mutex.lock();
        let result = mutex.lock_interruptible().map(|_| ());
        drop(held);
        result
    }),
    ("wait_interruptible", || {
        let (mutex, never) = (Mutex::new(()), Condvar::new());
        match never.wait_interruptible(mutex.lock()) {
            Ok(_) => Ok(()),
            Err((_guard, interrupt)) => Err(interrupt),
        }
    }),
    ("WaitGroup::wait", || {
        let group = WaitGroup::new();
        group.add(1);
        group.wait()
    }),
    ("wait::on", || wait::on(&Never)),
    ("park_on", || {
        let word = 0_u8;
        wait::park_on(&raw const word as usize, || true).map(|_| ())
    }),
    ("Event::wait", || Event::manual().wait()),
    ("Event::wait_timeout", || {
        Event::manual().wait_timeout(LONG).map(|_| ())
    }),
    ("acquire", || match Semaphore::new(0).acquire(1) {
        Err(AcquireError::Interrupted(interrupt)) => Err(interrupt),
        other => panic!("{other:?}"),
    }),
    ("read_interruptible", || {
        let lock = RwLock::new(());
        let held = lock.write();
        let result = lock.read_interruptible().map(|_| ());
        drop(held);
        result
    }),
    ("write_interruptible", || {
        let lock = RwLock::new(());
        let held = lock.read();
        let result = lock.write_interruptible().map(|_| ());
        drop(held);
        result
    }),
    ("oneshot::recv", || {
        let (_tx, rx) = channel::oneshot::channel::<u8>();
        match rx.recv() {
            Err(RecvError::Interrupted(interrupt)) => Err(interrupt),
            other => panic!("{other:?}"),
        }
    }),
    ("watch::changed", || {
        let (_tx, mut rx) = channel::watch::channel(0_u8);
        match rx.changed() {
            Err(RecvError::Interrupted(interrupt)) => Err(interrupt),
            other => panic!("{other:?}"),
        }
    }),
    ("broadcast::recv", || {
        let (_tx, mut rx) = channel::broadcast::channel::<u8>(1);
        match rx.recv() {
            Err(channel::broadcast::RecvError::Interrupted(interrupt)) => Err(interrupt),
            other => panic!("{other:?}"),
        }
    }),
    ("TaskGroup::wait", || {
        with_endless_group(|group| group.wait())
    }),
    ("TaskGroup::join_next", || {
        with_endless_group(|group| group.join_next().map(|_| ()))
    }),
    ("Select::wait", || {
        let (_tx, rx) = channel::bounded::<u8>(1);
        let mut case = rx.recv_case();
        let mut select = Select::new();
        select.add(&mut case);
        select.wait().map(|_| ())
    }),
    ("Interval::tick", || {
        let mut ticks = interval(LONG);
        let _ = ticks.tick()?;
        ticks.tick().map(|_| ())
    }),
    ("future::wait", || future::wait(std::future::pending())),
];

/// Calls `f` with a group that has a fiber, which ends afterwards.
fn with_endless_group(
    f: impl FnOnce(&TaskGroup) -> Result<(), Interrupt>,
) -> Result<(), Interrupt> {
    let group = TaskGroup::new();
    let _ends = Unparks(group.spawn(pirn::park).unwrap());
    f(&group)
}

/// A fiber that ends when the second of the two is dropped.
fn endless() -> (JoinHandle<()>, Unparks) {
    let fiber = pirn::spawn(pirn::park);
    let parked = fiber.fiber().clone();
    (fiber, Unparks(parked))
}

struct Unparks(Fiber);

impl Drop for Unparks {
    fn drop(&mut self) {
        self.0.unpark();
    }
}

struct Never;

impl Waitable for Never {
    type Output = ();
    fn try_complete(&self) -> Option<()> {
        None
    }
    fn register(&self, _: Ticket) -> bool {
        true
    }
    fn unregister(&self, _: Ticket) {}
}

/// Every interruptible call ends at a deadline that expires while it waits, and at once under an
/// expired one; on fibers and on threads.
// Proves: F-X-free (free), N9.
#[test]
fn every_wait_ends_at_the_deadline() {
    for executor in EXECUTOR_KINDS {
        let mut jobs = Jobs::new();
        for &(name, call) in CALLS {
            jobs.add(move || {
                let ended = with_deadline(past(), call);
                assert_eq!(ended, Err(Interrupt::TimedOut), "{name}, expired");
                let at = now() + SHORT;
                let ended = with_deadline(at, call);
                assert_eq!(ended, Err(Interrupt::TimedOut), "{name}, expiring");
                assert!(now() >= at, "{name} ended early");
                assert_eq!(timeout(SHORT, call).unwrap_err().to_string(), said());
                assert_eq!(check(), Ok(()), "{name} left a deadline behind");
            });
        }
        jobs.run(executor, 2);
    }
}

fn said() -> String {
    "the time limit has passed".to_owned()
}

/// An operation that need not wait is not done under an expired deadline, and changes nothing; a
/// wait for an end that has occurred is `Ok` all the same.
#[test]
fn an_expired_deadline_comes_before_the_fast_path() {
    alone(|| {
        let (tx, rx) = channel::bounded(1);
        with_deadline(past(), || {
            assert_eq!(
                tx.send(1),
                Err(SendError::Interrupted(1, Interrupt::TimedOut))
            );
        });
        tx.send(2).unwrap();
        with_deadline(past(), || {
            let refused = Err(RecvError::Interrupted(Interrupt::TimedOut));
            assert_eq!(rx.recv(), refused);
            assert_eq!(rx.try_recv(), Ok(2));
        });
        let ended = pirn::spawn(|| 3);
        ended.wait().unwrap();
        with_deadline(past(), || {
            assert_eq!(ended.wait(), Ok(()));
            assert_eq!(ended.join().unwrap(), 3);
            assert_eq!(pirn::scope(|s| s.wait()), Ok(()));
            let mutex = Mutex::new(());
            assert!(mutex.lock_interruptible().is_err());
            drop(mutex.lock());
        });
    });
}

/// A call that is no interruption point ignores the deadline.
// Proves: N9.
#[test]
fn other_waits_take_no_notice() {
    alone(|| {
        with_deadline(past(), || {
            let start = now();
            park_timeout(SHORT);
            assert!(now() - start >= SHORT);
            pirn::yield_now();
            pirn::scope(|s| drop(s.spawn(pirn::yield_now)));
            assert_eq!(pirn::blocking(|| 5), 5);
        });
    });
}

/// Of two deadlines the nearer one applies; a farther one inside changes nothing.
// Proves: K9, N10.
#[test]
fn the_nearest_deadline_holds() {
    alone(|| {
        let (near, far) = (now() + SHORT, far());
        assert_eq!(deadline(), None);
        with_deadline(far, || {
            assert_eq!(deadline(), Some(far));
            with_deadline(near, || {
                assert_eq!(deadline(), Some(near));
                with_deadline(far, || assert_eq!(deadline(), Some(near)));
                assert_eq!(sleep(LONG), Err(Interrupt::TimedOut));
            });
            assert_eq!(deadline(), Some(far));
            assert_eq!((reason(), check()), (None, Ok(())));
        });
        assert_eq!(deadline(), None);
        assert!(now() < far);
    });
}

/// A `timeout` fails by its own deadline only: an end by the outer one is returned as the inner
/// result, and of two equal ones the outer one counts.
#[test]
fn a_timeout_distinguishes_its_own_deadline() {
    let forever = || sleep(LONG);
    alone(|| {
        assert_eq!(
            with_deadline(far(), || timeout(SHORT, forever))
                .unwrap_err()
                .to_string(),
            said()
        );
        let inner = with_deadline(now() + SHORT, || timeout(LONG, forever));
        assert_eq!(inner, Ok(Err(Interrupt::TimedOut)));
        let outer = timeout(SHORT, || timeout(LONG, forever));
        assert!(outer.is_err());
        let both = now() + SHORT;
        let tie = with_deadline(both, || {
            let inner = timeout(both.saturating_duration_since(now()), deadline);
            (inner, with_deadline(both, forever))
        });
        assert_eq!(tie, (Ok(Some(both)), Err(Interrupt::TimedOut)));
        assert_eq!(timeout(Duration::MAX, || 3), Ok(3));
        assert!(timeout(Duration::ZERO, check).is_err());
    });
}

/// A limit of the call itself is a timeout, a deadline around it an interrupt: the nearer one ends
/// the wait, and the one around it if both are equal.
#[test]
fn a_calls_own_limit_is_distinguished_from_a_deadline() {
    for executor in EXECUTOR_KINDS {
        let mut jobs = Jobs::new();
        jobs.add(|| {
            let (_tx, rx) = channel::bounded::<u8>(1);
            let timed_out = Err(RecvTimeoutError::Timeout);
            let interrupted = Err(RecvTimeoutError::Interrupted(Interrupt::TimedOut));
            assert_eq!(with_deadline(far(), || rx.recv_timeout(SHORT)), timed_out);
            let soon = now() + SHORT;
            assert_eq!(with_deadline(soon, || rx.recv_timeout(LONG)), interrupted);
            let soon = now() + SHORT;
            assert_eq!(with_deadline(soon, || rx.recv_deadline(soon)), interrupted);
            let soon = now() + SHORT;
            assert_eq!(timeout(LONG, || rx.recv_deadline(soon)), Ok(timed_out));
            // However late the sleeper runs, its own limit has expired first.
            assert_eq!(with_deadline(far(), || sleep(SHORT / 3)), Ok(()));
        });
        jobs.run(executor, 1);
    }
    // With virtual time no fiber is late, so the two may be arbitrarily close.
    pirn::runtime::test(|_| {
        let soon = now() + SHORT;
        let nearer = SHORT - Duration::from_micros(1);
        assert_eq!(with_deadline(soon, || sleep(nearer)), Ok(()));
        let soon = now() + SHORT;
        let interrupted = Err(Interrupt::TimedOut);
        assert_eq!(with_deadline(soon, || sleep(SHORT)), interrupted);
    });
}

/// A cancellation is reported before a deadline, also when both have occurred, and the `timeout`
/// then has not expired.
// Proves: N10.
#[test]
fn cancelled_beats_timed_out() {
    alone(|| {
        let (endless, _ends) = endless();
        let fiber = pirn::spawn(move || {
            let result = timeout(SHORT, || {
                pirn::park();
                while now() < deadline().unwrap() {
                    pirn::yield_now();
                }
                (endless.wait(), check(), sleep(LONG), reason())
            });
            (result, check())
        });
        pirn::yield_now();
        fiber.cancel();
        fiber.fiber().unpark();
        let cancelled = Err(Interrupt::Cancelled);
        let met = Ok((cancelled, cancelled, cancelled, Some(Interrupt::Cancelled)));
        assert_eq!(fiber.join().unwrap(), (met, cancelled));
    });
}

/// An expired deadline is reported by every later call, until the code is left, also by a panic.
// Proves: N9.
#[test]
fn an_interrupt_stays_until_the_code_is_left() {
    alone(|| {
        let (tx, rx) = channel::bounded(1);
        with_deadline(now() + SHORT, || {
            assert_eq!(sleep(LONG), Err(Interrupt::TimedOut));
            for _ in 0..300 {
                assert_eq!(check(), Err(Interrupt::TimedOut));
                assert_eq!(checkpoint(), Err(Interrupt::TimedOut));
                assert!(tx.send(1).is_err());
                assert!(rx.recv().is_err());
            }
            with_deadline(far(), || assert_eq!(check(), Err(Interrupt::TimedOut)));
        });
        assert_eq!(check(), Ok(()));
        let raised = std::panic::catch_unwind(|| {
            with_deadline(past(), || std::panic::resume_unwind(Box::new(7)))
        });
        assert!(raised.is_err());
        assert_eq!((deadline(), check(), checkpoint()), (None, Ok(()), Ok(())));
    });
}

/// A loop that ignores that its calls are interrupted yields all the same.
#[test]
fn a_loop_of_interrupted_calls_gives_way() {
    let forms: [fn(&JoinHandle<()>) -> bool; 8] = [
        |_| sleep(LONG).is_err(),
        |_| checkpoint().is_err(),
        |_| channel::bounded::<u8>(1).1.recv().is_err(),
        |_| wait::on(&Never).is_err(),
        |_| park_interruptible().is_err(),
        |_| Mutex::new(()).lock_interruptible().is_err(),
        |parked| parked.wait().is_err(),
        |_| Handle::current().wait_idle().is_err(),
    ];
    for form in forms {
        alone(|| {
            let (parked, _ends) = endless();
            let sibling = pirn::spawn(|| ());
            with_deadline(past(), || {
                let mut rounds = 0;
                while !sibling.is_finished() {
                    assert!(form(&parked));
                    rounds += 1;
                    assert!(rounds < 1_000, "it holds its worker");
                }
            });
        });
    }
}

/// To run past a deadline without a call that could report it is no interrupt; a call of `check`
/// reports it, a call of `reason` does not.
#[test]
fn a_deadline_that_no_wait_meets_does_not_count() {
    let compute = || while now() < deadline().unwrap() {};
    for executor in EXECUTOR_KINDS {
        let mut jobs = Jobs::new();
        jobs.add(move || {
            assert_eq!(timeout(SHORT, || (compute(), 5).1), Ok(5));
            let looked = timeout(SHORT, || (compute(), reason()).1);
            assert_eq!(looked, Ok(Some(Interrupt::TimedOut)));
            assert!(timeout(SHORT, || (compute(), check().is_err()).1).is_err());
            assert!(timeout(SHORT, || (compute(), checkpoint().is_err()).1).is_err());
        });
        jobs.run(executor, 1);
    }
}

/// Children of a scope are under the deadline of the scope, on any worker, and an interrupt of a
/// child counts for the `timeout` around the scope. Fibers that are spawned otherwise are not under
/// it.
#[test]
fn children_of_a_scope_are_under_its_deadline() {
    let runtime = runtime(2);
    let threads = || {
        let mut ended = Vec::new();
        let all = timeout(SHORT, || {
            runtime.scope(|s| {
                let children: Vec<_> = (0..8).map(|_| s.spawn(|| sleep(LONG))).collect();
                drop(s.spawn(|| {
                    let detached = runtime.spawn(deadline);
                    while !detached.is_finished() {
                        pirn::yield_now();
                    }
                    assert_eq!(detached.join().unwrap(), None);
                }));
                for child in children {
                    while !child.is_finished() {
                        std::thread::yield_now();
                        pirn::yield_now();
                    }
                    ended.push(child.join().unwrap());
                }
            });
        });
        assert_eq!(ended, [Err(Interrupt::TimedOut); 8]);
        assert!(all.is_err(), "it was reported inside");
        assert_eq!(check(), Ok(()));
    };
    threads();
    runtime.run(threads);
    // `run` is equivalent to a call.
    let at = now() + SHORT;
    let seen = with_deadline(at, || runtime.run(|| (deadline(), sleep(LONG))));
    assert_eq!(seen, (Some(at), Err(Interrupt::TimedOut)));
    // Set when the scope is entered, not when the child is spawned.
    let child = pirn::scope(|s| with_deadline(at, || s.spawn(deadline)).join());
    assert_eq!(child.unwrap(), None);
}

/// The errors name the cause, also as `io` errors.
#[test]
fn errors_convert() {
    let elapsed: Elapsed = timeout(Duration::ZERO, check).unwrap_err();
    assert_eq!(Interrupt::from(elapsed), Interrupt::TimedOut);
    assert_eq!(io::Error::from(elapsed).kind(), io::ErrorKind::TimedOut);
    let error = io::Error::from(Interrupt::TimedOut);
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    assert_eq!(Interrupt::of(&error), Some(Interrupt::TimedOut));
    assert_ne!(
        io::Error::from(Interrupt::Cancelled).kind(),
        io::ErrorKind::Interrupted
    );
}

/// Data and a deadline that race: the value is delivered, or stays.
// Proves: N11.
#[test]
fn data_and_deadlines_cross() {
    const ROUNDS: u64 = 2_000;
    let runtime = runtime(2);
    let (tx, rx) = channel::bounded(0);
    let sender = runtime.spawn(move || {
        let mut kept = 0_u64;
        for i in 0..ROUNDS {
            let limit = Duration::from_micros(i * 37 % 150);
            let sent = with_deadline(now() + limit, || tx.send(i));
            match sent {
                Ok(()) => {}
                Err(SendError::Interrupted(value, Interrupt::TimedOut)) => kept += value,
                Err(other) => panic!("{other:?}"),
            }
        }
        kept
    });
    let receiver = runtime.spawn(move || {
        let mut came = 0_u64;
        loop {
            match timeout(Duration::from_micros(80), || rx.recv()) {
                Ok(Ok(value)) => came += value,
                Ok(Err(RecvError::Disconnected)) => break came,
                Err(_) => {}
                Ok(Err(other)) => panic!("{other:?}"),
            }
        }
    });
    let sum = sender.join().unwrap() + receiver.join().unwrap();
    assert_eq!(sum, ROUNDS * (ROUNDS - 1) / 2);
}
