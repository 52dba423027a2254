//! Scopes with fibers that fail, are supervised, are raced; groups that are values.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use pirn::cancel::{Token, check, shield};
use pirn::channel::bounded;
use pirn::dispatcher::Dispatcher;
use pirn::scope::{all, any, race, supervise};
use pirn::spawn::{JoinError, Rejected, park_interruptible};
use pirn::time::sleep;
use pirn::{Interrupt, channel, try_scope};

use crate::executor_kind::{alone, for_ever, prefix, runtime, until};
use crate::util::{LONG, on_every_shape, scaled};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Failed {
    Number(u32),
    Interrupted(Interrupt),
}

impl From<Interrupt> for Failed {
    fn from(interrupt: Interrupt) -> Failed {
        Failed::Interrupted(interrupt)
    }
}

/// The first error cancels the others and is returned by the scope, when all have ended.
// Proves: K5.
#[test]
fn the_first_error_wins() {
    on_every_shape(|runtime| {
        let (began, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let result: Result<(), Failed> = runtime.try_scope(|s| {
            for _ in 0..10 {
                s.spawn(|| {
                    began.fetch_add(1, Ordering::SeqCst);
                    let interrupted = park_interruptible().unwrap_err();
                    pirn::yield_now();
                    ended.fetch_add(1, Ordering::SeqCst);
                    Err::<(), _>(Failed::from(interrupted))
                });
            }
            s.spawn(|| {
                pirn::yield_now();
                Err::<(), _>(Failed::Number(7))
            });
            s.wait()?;
            Ok(())
        });
        assert_eq!(ended.into_inner(), began.into_inner());
        assert_eq!(result, Err(Failed::Number(7)));
    });
}

/// Without an error the scope returns the body's result, and the handles return the children's.
#[test]
fn no_error_no_fuss() {
    on_every_shape(|runtime| {
        let sum = runtime.try_scope(|s| {
            let parts: Vec<_> = (1..=10).map(|n| s.spawn(move || Ok(n))).collect();
            let sum: u32 = parts.into_iter().filter_map(|part| part.join()).sum();
            Ok::<_, Failed>(sum)
        });
        assert_eq!(sum, Ok(55));
    });
}

/// The body's error cancels too; of several errors the first counts, others are dropped.
#[test]
fn the_bodys_error_counts_like_a_childs() {
    alone(|| {
        let failed: Result<(), Failed> = try_scope(|s| {
            s.spawn(|| {
                park_interruptible()?;
                Ok::<(), Failed>(())
            });
            pirn::yield_now();
            Err(Failed::Number(1))
        });
        assert_eq!(failed, Err(Failed::Number(1)));
        let failed: Result<(), Failed> = try_scope(|s| {
            let child = s.spawn(|| Err::<(), _>(Failed::Number(2)));
            assert_eq!(child.join(), None);
            assert_eq!(check(), Err(Interrupt::Cancelled));
            Err(Failed::Number(3))
        });
        assert_eq!(failed, Err(Failed::Number(2)));
    });
}

/// Cancelled from outside: a child that did not start, or failed for that reason, makes the scope
/// fail with the interrupt; a child that succeeded all the same does not.
#[test]
fn a_try_scope_that_is_cancelled_from_outside() {
    alone(|| {
        let token = Token::new();
        let unrun: Result<(), Failed> = token.child().enter(|| {
            try_scope(|s| {
                s.cancel();
                s.spawn(|| Ok::<(), Failed>(()));
                Ok(())
            })
        });
        assert_eq!(unrun, Err(Failed::Interrupted(Interrupt::Cancelled)));
        let succeeded: Result<u8, Failed> = try_scope(|s| {
            s.spawn(|| {
                pirn::yield_now();
                pirn::yield_now();
                Ok::<(), Failed>(())
            });
            pirn::yield_now();
            s.cancel();
            Ok(4)
        });
        assert_eq!(succeeded, Ok(4));
        let own: Result<(), Failed> = try_scope(|s| {
            s.cancel();
            sleep(LONG)?;
            Ok(())
        });
        assert_eq!(own, Err(Failed::Interrupted(Interrupt::Cancelled)));
    });
}

/// A panic takes precedence over any error, joined or not.
// Proves: K5.
#[test]
fn a_panic_goes_before_errors() {
    alone(|| {
        for joined in [false, true] {
            let raised = catch_unwind(AssertUnwindSafe(|| {
                let _: Result<(), Failed> = try_scope(|s| {
                    let child = s.spawn(|| -> Result<(), Failed> { panic_any("child") });
                    if joined {
                        assert_eq!(child.join(), None);
                    }
                    Err(Failed::Number(1))
                });
            }));
            if joined {
                assert_eq!(raised.unwrap_err().downcast_ref(), Some(&"child"));
            } else {
                // Cancelled before it started.
                assert!(raised.is_ok());
            }
        }
    });
}

/// A dropped handle of a child that panics cancels the scope at once.
// Proves: K5.
#[test]
fn an_unjoined_panic_cancels_at_once() {
    on_every_shape(|runtime| {
        for early in [false, true] {
            let panicked = AtomicBool::new(false);
            let raised = catch_unwind(AssertUnwindSafe(|| {
                runtime.scope(|s| {
                    let child = s.spawn(|| {
                        panicked.store(true, Ordering::SeqCst);
                        panic_any("child")
                    });
                    if early {
                        drop(child);
                    } else {
                        child.wait().unwrap();
                        assert_eq!(check(), Ok(()), "a join may still come");
                        drop(child);
                    }
                    // Nothing else ends this.
                    sleep(LONG)
                })
            }));
            assert_eq!(raised.unwrap_err().downcast_ref(), Some(&"child"));
            assert!(panicked.into_inner());
        }
    });
}

/// In a supervised scope a panic stays in its handle.
// Proves: K5.
#[test]
fn supervised_panics_stay_apart() {
    on_every_shape(|runtime| {
        let served = AtomicUsize::new(0);
        runtime.run(|| {
            supervise(|s| {
                for n in 0..20 {
                    let served = &served;
                    s.spawn(move || {
                        pirn::yield_now();
                        if n % 2 == 0 {
                            panic_any(n);
                        }
                        served.fetch_add(1, Ordering::SeqCst);
                    });
                }
                let joined = s.spawn(|| panic_any(5)).join();
                assert!(matches!(joined, Err(JoinError::Panicked(_))));
                assert_eq!(check(), Ok(()));
            });
        });
        assert_eq!(served.into_inner(), 10);
    });
}

/// Exit callbacks of a scope run after the last child, newest first, and before the scope
/// returns.
// Proves: K6.
#[test]
fn on_exit_comes_after_the_last_child() {
    on_every_shape(|runtime| {
        let (tx, rx) = channel::unbounded();
        runtime.scope(|s| {
            s.on_exit(|| tx.send(2).unwrap());
            s.on_exit(|| {
                tx.send(1).unwrap();
                s.spawn(|| tx.send(3).unwrap());
            });
            for _ in 0..10 {
                s.spawn(|| {
                    s.spawn(|| {
                        pirn::yield_now();
                        tx.send(0).unwrap();
                    });
                });
            }
        });
        let order: Vec<u8> = rx.try_iter().collect();
        assert_eq!(order[..11], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(order.len(), 13);
        let raised = catch_unwind(AssertUnwindSafe(|| {
            runtime.scope(|s| {
                s.on_exit(|| tx.send(9).unwrap());
                s.on_exit(|| panic_any("exit"));
            });
        }));
        assert_eq!(raised.unwrap_err().downcast_ref(), Some(&"exit"));
        assert_eq!(rx.try_recv(), Ok(9));
    });
}

/// K6. The same when the body panics: the calls run after the last child, and the panic continues
/// after the calls.
#[test]
fn on_exit_comes_after_a_body_that_panics() {
    let part = || {
        let (tx, rx) = channel::unbounded();
        let started = AtomicUsize::new(0);
        let child = || {
            started.store(1, Ordering::SeqCst);
            // The panic cancels it.
            let slept = sleep(LONG);
            tx.try_send(if slept.is_err() { "child" } else { "late" })
                .unwrap();
        };
        let panic = || {
            until(&started, 1);
            panic_any("body");
        };
        let kinds: [&dyn Fn(); 3] = [
            &|| {
                pirn::scope(|s| {
                    s.on_exit(|| tx.send("exit").unwrap());
                    s.spawn(child);
                    panic();
                });
            },
            &|| {
                supervise(|s| {
                    s.on_exit(|| tx.send("exit").unwrap());
                    s.spawn(child);
                    panic();
                });
            },
            &|| {
                let _: Result<(), Failed> = try_scope(|s| {
                    s.on_exit(|| tx.send("exit").unwrap());
                    s.spawn(|| {
                        child();
                        Ok::<(), Failed>(())
                    });
                    panic();
                    Ok(())
                });
            },
        ];
        for kind in kinds {
            started.store(0, Ordering::SeqCst);
            let raised = catch_unwind(AssertUnwindSafe(kind));
            assert_eq!(raised.unwrap_err().downcast_ref(), Some(&"body"));
            assert_eq!(rx.try_iter().collect::<Vec<_>>(), ["child", "exit"]);
        }
    };
    on_every_shape(|runtime| runtime.run(part));
}

/// A consumer ends when the producers' scope closes the channel on leaving: a hundred times.
// Proves: K6.
#[test]
fn a_scope_closes_what_it_fed() {
    let runtime = runtime(4);
    for round in 0..scaled(100) {
        let (tx, rx) = bounded(round % 3);
        let consumer = runtime.spawn(move || rx.iter().sum::<usize>());
        runtime.scope(|s| {
            s.on_exit(|| {
                tx.close();
            });
            for _ in 0..8 {
                s.spawn(|| (0..10).for_each(|_| tx.send(1).unwrap()));
            }
        });
        assert_eq!(consumer.join().unwrap(), 80);
    }
}

/// The body's value ends when a call on leaving panics, before the scope waits for that call's
/// children.
// Proves: K6.
#[test]
fn a_panic_on_leaving_drops_the_value_at_once() {
    alone(|| {
        let (tx, rx) = bounded::<u8>(0);
        let left = catch_unwind(AssertUnwindSafe(|| {
            pirn::scope(|s| {
                s.on_exit(|| {
                    s.spawn(|| assert!(rx.recv().is_err()));
                    panic_any("on leaving");
                });
                tx
            })
        }));
        assert_eq!(
            left.unwrap_err().downcast_ref::<&str>(),
            Some(&"on leaving")
        );
    });
}

/// All, any, race: everything, the first success, the first end.
// Proves: H-9, K-X-several.
#[test]
fn several_at_once() {
    pirn::runtime::test(|handle| {
        handle.run(|| {
            let slow = |ms: u64, result: Result<u64, Failed>| {
                move || {
                    sleep(Duration::from_millis(ms))?;
                    result
                }
            };
            let start = pirn::time::now();
            assert_eq!(all([slow(20, Ok(1)), slow(10, Ok(2))]), Ok(vec![1, 2]));
            let error = Err(Failed::Number(9));
            assert_eq!(
                all([
                    slow(10_000, Ok(1)),
                    slow(10, error),
                    slow(20, Err(Failed::Number(8)))
                ]),
                Err(Failed::Number(9))
            );
            assert_eq!(
                any([slow(10_000, Ok(1)), slow(20, Ok(2)), slow(10, error)]),
                Ok(2)
            );
            assert_eq!(
                any([
                    slow(20, Err(Failed::Number(1))),
                    slow(10, Err(Failed::Number(2)))
                ]),
                Err(vec![Failed::Number(1), Failed::Number(2)])
            );
            assert_eq!(race([slow(10_000, Ok(1)), slow(10, error)]), Some(error));
            // In virtual time: none of the jobs of ten seconds was waited for.
            let took = pirn::time::now() - start;
            assert!(took < Duration::from_secs(1), "{took:?}");
            let none: [fn() -> Result<u8, Failed>; 0] = [];
            assert_eq!(all(none), Ok(vec![]));
            assert_eq!(any(none), Err(vec![]));
            assert_eq!(race(none), None);
        });
    });
}

/// Jobs start as the iterator yields them, and the caller's deadline ends `all`, though its jobs do
/// not wait.
// Proves: K-X-several.
#[test]
fn several_start_one_by_one() {
    pirn::runtime::test(|handle| {
        handle.run(|| {
            let start = pirn::time::now();
            // Later ones are attempted only if the earlier ones take long.
            let attempts = (0..10).map(|n| {
                let _ = sleep(Duration::from_millis(10));
                move || Ok::<_, Failed>(n)
            });
            assert_eq!(any(attempts), Ok(0));
            assert!(pirn::time::now() - start < Duration::from_millis(50));
            // Each job has to run before there is another one.
            let (tx, rx) = bounded(1);
            tx.send(3).unwrap();
            let tx = &tx;
            let jobs = rx.iter().map(|n: u64| {
                move || {
                    match n {
                        0 => drop(tx.close()),
                        _ => tx.send(n - 1).unwrap(),
                    }
                    Ok::<_, Failed>(n)
                }
            });
            assert_eq!(all(jobs), Ok(vec![3, 2, 1, 0]));
            let busy = (0..2).map(|_| {
                || {
                    let until = pirn::time::now() + Duration::from_secs(10);
                    while pirn::time::now() < until {
                        let _ = shield(|| sleep(Duration::from_millis(10)));
                        if check().is_err() {
                            break;
                        }
                    }
                    Ok::<_, Failed>(0)
                }
            });
            let late = pirn::timeout(Duration::from_millis(30), || all(busy));
            assert!(late.is_err(), "{late:?}");
        });
    });
}

/// A panic of any of the jobs ends the others, also of those before it.
// Proves: K-X-several.
#[test]
fn a_panic_ends_several_at_once() {
    pirn::runtime::test(|handle| {
        handle.run(|| {
            let job = |ms: u64| {
                move || {
                    sleep(Duration::from_millis(ms))?;
                    assert_ne!(ms, 10, "on purpose");
                    Ok::<_, Failed>(ms)
                }
            };
            let start = pirn::time::now();
            let jobs = || [job(10_000), job(10), job(20_000)];
            let ways: [&dyn Fn(); 3] =
                [&|| drop(all(jobs())), &|| drop(any(jobs())), &|| {
                    let _ = race(jobs());
                }];
            for way in ways {
                let panic = catch_unwind(AssertUnwindSafe(way)).unwrap_err();
                let said = panic.downcast_ref::<String>().unwrap();
                assert!(said.contains("on purpose"), "{said}");
            }
            let took = pirn::time::now() - start;
            assert!(took < Duration::from_secs(1), "{took:?}");
        });
    });
}

/// A value that panics when it is dropped, because another job has panicked, ends no process.
// Proves: K-X-several.
#[test]
fn values_that_panic_are_dropped_beside_a_panic() {
    struct Fuse;
    impl Drop for Fuse {
        fn drop(&mut self) {
            panic_any("dropped");
        }
    }
    alone(|| {
        let job = |n: u32| {
            move || {
                if n == 1 {
                    // Later than the others.
                    (0..20).for_each(|_| pirn::yield_now());
                    panic_any("job");
                }
                Ok::<_, Failed>(Fuse)
            }
        };
        let run = AssertUnwindSafe(|| drop(all([0, 1].map(job))));
        let panic = catch_unwind(run).unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"job"));
    });
}

/// An interrupt of the caller reaches the fibers that run for it.
// Proves: K-X-several.
#[test]
fn several_are_interrupted_with_their_caller() {
    alone(|| {
        let wait = || {
            park_interruptible()?;
            Ok::<(), Failed>(())
        };
        pirn::scope(|s| {
            let fibers = [
                s.spawn(move || all([wait, wait]).map(drop)),
                s.spawn(move || any([wait, wait]).map_err(|errors| errors[1])),
                s.spawn(move || race([wait, wait]).unwrap()),
            ];
            for _ in 0..20 {
                pirn::yield_now();
            }
            s.cancel();
            for fiber in fibers {
                let ended = shield(|| fiber.join()).unwrap();
                assert_eq!(ended, Err(Failed::Interrupted(Interrupt::Cancelled)));
            }
        });
    });
}

/// Nested scopes with panics at random: every raised panic is raised again, once, and every fiber
/// that started has ended.
// Proves: K5.
#[test]
fn nested_scopes_with_panics() {
    fn tree(depth: usize, seed: usize, alive: &AtomicUsize) {
        alive.fetch_add(1, Ordering::SeqCst);
        let caught = catch_unwind(AssertUnwindSafe(|| {
            pirn::scope(|s| {
                if depth > 0 {
                    for i in 0..3 {
                        s.spawn(move || tree(depth - 1, seed * 3 + i, alive));
                    }
                }
                if seed % 5 == 1 {
                    s.spawn(|| panic_any("child"));
                }
                if seed % 7 == 1 {
                    panic_any("body");
                }
                let _ = s.wait();
            });
        }));
        alive.fetch_sub(1, Ordering::SeqCst);
        if let (Err(panic), true) = (caught, seed.is_multiple_of(3)) {
            std::panic::resume_unwind(panic);
        }
    }
    for workers in [1, 2, 4, 8] {
        let runtime = runtime(workers);
        for seed in 1..=scaled(20) {
            let alive = AtomicUsize::new(0);
            let _ = catch_unwind(AssertUnwindSafe(|| {
                runtime.run(|| tree(4, seed, &alive));
            }));
            assert_eq!(alive.into_inner(), 0);
        }
        runtime.wait_idle().unwrap();
    }
}

/// Ten thousand levels of scopes are cancelled from the top.
// Proves: K7.
#[test]
fn deeply_nested_scopes_are_cancelled() {
    fn nest(depth: usize, at_the_bottom: &AtomicUsize) {
        pirn::scope(|s| {
            s.spawn(|| {
                if depth > 0 {
                    nest(depth - 1, at_the_bottom);
                } else {
                    at_the_bottom.fetch_add(1, Ordering::SeqCst);
                    assert_eq!(park_interruptible(), Err(Interrupt::Cancelled));
                }
            });
        });
    }
    let depth = scaled(10_000).min(2_000 + scaled(8_000));
    let bottom = AtomicUsize::new(0);
    runtime(2).run(|| {
        pirn::scope(|s| {
            s.spawn(|| nest(depth, &bottom));
            until(&bottom, 1);
            s.cancel();
        });
    });
}

/// Fibers that a scope with errors spawns elsewhere, or by a fallible spawn, count like the rest.
// Proves: K4, K5.
#[test]
fn a_try_scope_spawns_elsewhere_and_if_it_can() {
    on_every_shape(|runtime| {
        let elsewhere = Dispatcher::new(1).unwrap();
        let sum = runtime.try_scope(|s| {
            let here = s.try_spawn(|| Ok(prefix())).unwrap();
            let there = s.spawn_on(&elsewhere, || Ok(prefix()));
            let (here, there) = (here.join().unwrap(), there.join().unwrap());
            Ok::<_, Failed>((here, there))
        });
        let (here, there) = sum.unwrap();
        assert_eq!(there, elsewhere.run(prefix));
        assert_ne!(here, there);

        let failed = runtime.try_scope(|s| {
            let other = s.spawn(|| {
                for_ever();
                Ok::<_, Failed>(())
            });
            s.spawn_on(&elsewhere, || Err::<(), _>(Failed::Number(7)));
            // Interrupted, or the result of one that was faster.
            let _ = other.join();
            let refused = s.try_spawn(|| Ok(8)).unwrap_err();
            assert_eq!(refused.reason(), Rejected::Cancelled);
            let f = refused.into_inner();
            assert!(matches!(f(), Ok(8)));
            Ok(())
        });
        assert_eq!(failed, Err(Failed::Number(7)));

        let failed = runtime.try_scope(|s| {
            _ = s.try_spawn(|| Err::<(), _>(Failed::Number(9)));
            Ok(())
        });
        assert_eq!(failed, Err(Failed::Number(9)));
    });
}

/// A runtime that admits nothing any more returns the closure, and the scope has not failed.
// Proves: K5.
#[test]
fn a_try_scope_of_a_runtime_that_has_ended() {
    let gone = runtime(1);
    let handle = gone.handle();
    gone.shutdown(LONG).unwrap();
    let result = handle.try_scope(|s| {
        let refused = s.try_spawn(|| Ok::<u8, Failed>(1)).unwrap_err();
        assert_eq!(refused.reason(), Rejected::ShutDown);
        Ok(5)
    });
    assert_eq!(result, Ok(5));
}
