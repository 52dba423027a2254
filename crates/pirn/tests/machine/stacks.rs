//! Stacks: large enough, guarded, reused, and bounded without harm.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use pirn::spawn::Builder;
use pirn::{JoinHandle, Runtime, channel};

use crate::executor_kind::runtime;
use crate::util::{SCHEDULERS, SLACK, apart, eventually, mappings, resident, scaled};

/// Uses `bytes` of stack, a page at a time.
fn deep(bytes: usize) -> u8 {
    const FRAME: usize = 4 << 10;
    let mut frame = black_box([0_u8; FRAME]);
    if bytes > FRAME {
        frame[bytes % FRAME] = deep(bytes - FRAME).wrapping_add(1);
    }
    black_box(&frame)[bytes % FRAME]
}

/// The default is enough for ordinary work; a larger size can be set, for one fiber or for a
/// whole runtime.
// Proves: M1.
#[test]
fn stacks_of_any_size() {
    // A frame of a build without optimisation may take twice its array.
    const KIB: usize = 1 << 10;
    let runtime = runtime(2);
    runtime.spawn(|| deep(64 * KIB)).join().unwrap();
    let large = Builder::new().stack_size(4 << 20);
    runtime.enter(|| large.spawn(|| deep(700 * KIB)).unwrap().join().unwrap());
    let roomy = Runtime::builder()
        .workers(1)
        .stack_size(4 << 20)
        .build()
        .unwrap();
    roomy.spawn(|| deep(700 * KIB)).join().unwrap();
    let small = Runtime::builder()
        .workers(1)
        .stack_size(64 * KIB)
        .build()
        .unwrap();
    small.spawn(|| deep(8 * KIB)).join().unwrap();
    let larger = Builder::new().stack_size(4 << 20);
    small.enter(|| larger.spawn(|| deep(700 * KIB)).unwrap().join().unwrap());
}

/// M1. Stacks of different sizes are taken and returned in any order.
#[test]
fn sizes_mix() {
    let runtime = runtime(2);
    for round in 0..scaled(20) {
        let fibers: Vec<JoinHandle<u8>> = (0..32)
            .map(|i| {
                let size = [256, 1024, 512, 64][(i + round) % 4] << 10;
                let builder = Builder::new().stack_size(size);
                runtime.enter(|| {
                    let fiber = builder.spawn(move || {
                        pirn::yield_now();
                        deep(size / 16)
                    });
                    fiber.unwrap()
                })
            })
            .collect();
        fibers
            .into_iter()
            .for_each(|fiber| _ = fiber.join().unwrap());
    }
}

/// M2. A fiber that overflows its stack is named, with its spawn line and the size of the stack,
/// and the process is aborted.
// Proves: M2, P11 (checked).
#[test]
#[cfg(not(any(pirn_asan, pirn_tsan)))]
fn an_overflow_names_its_fiber() {
    use std::os::unix::process::ExitStatusExt as _;
    let ended = apart("stacks::an_overflow_names_its_fiber", &[], || {
        let runtime = Runtime::builder()
            .workers(2)
            .stack_size(64 << 10)
            .build()
            .unwrap();
        let parked: Vec<_> = (0..10).map(|_| runtime.spawn(pirn::park)).collect();
        let named = Builder::new().name("bottomless");
        // First, since the fiber may overflow at once.
        eprintln!("spawned in line {}", line!() + 1);
        let fiber = runtime.enter(|| named.spawn(|| deep(10 << 20)));
        drop(fiber.unwrap().join());
        drop(parked);
    });
    if let Some(ended) = ended {
        assert_eq!(ended.status.signal(), Some(6), "{}", ended.stderr);
        let line = ended
            .stderr
            .lines()
            .find_map(|l| l.strip_prefix("spawned in line "));
        let location = format!("{}:{}", file!(), line.expect("it got so far"));
        for part in ["bottomless", &location, "64 KiB"] {
            assert!(
                ended.stderr.contains(part),
                "no `{part}` in: {}",
                ended.stderr
            );
        }
    }
}

/// M2. So is an unnamed one with the default stack.
// Proves: M1.
#[test]
#[cfg(not(any(pirn_asan, pirn_tsan)))]
fn an_overflow_of_a_nameless_fiber() {
    use std::os::unix::process::ExitStatusExt as _;
    let ended = apart("stacks::an_overflow_of_a_nameless_fiber", &[], || {
        drop(pirn::spawn(|| pirn::spawn(|| deep(10 << 20)).join()).join());
    });
    if let Some(ended) = ended {
        assert_eq!(ended.status.signal(), Some(6), "{}", ended.stderr);
        for part in [file!(), "256 KiB"] {
            assert!(
                ended.stderr.contains(part),
                "no `{part}` in: {}",
                ended.stderr
            );
        }
    }
}

/// M2. A long name leaves room for what has happened, and for the end of the line.
#[test]
#[cfg(not(any(pirn_asan, pirn_tsan)))]
fn an_overflow_of_a_long_name() {
    use std::os::unix::process::ExitStatusExt as _;
    let ended = apart("stacks::an_overflow_of_a_long_name", &[], || {
        let named = Builder::new().name("é".repeat(1_000));
        drop(named.spawn(|| deep(10 << 20)).unwrap().join());
    });
    if let Some(ended) = ended {
        assert_eq!(ended.status.signal(), Some(6), "{}", ended.stderr);
        let name = format!(" '{}…' (spawned at ", "é".repeat(64));
        let end = " overflowed its 256 KiB stack; raise Builder::stack_size or \
                   PIRN_STACK_SIZE\n";
        for part in [end, &name] {
            let stderr = &ended.stderr;
            assert!(stderr.contains(part), "no `{part}` in: {stderr}");
        }
    }
}

/// M2. An overflow of a plain thread, beside a runtime, is still reported by `std`; a fault
/// of another kind is still a fault.
#[test]
#[cfg(not(any(pirn_asan, pirn_tsan)))]
fn faults_of_others_are_left_to_others() {
    use std::os::unix::process::ExitStatusExt as _;
    let ended = apart("stacks::faults_of_others_are_left_to_others", &[], || {
        pirn::spawn(|| ()).join().unwrap();
        let thread = std::thread::Builder::new().name("plain".to_owned());
        drop(thread.spawn(|| deep(64 << 20)).unwrap().join());
    });
    if let Some(ended) = ended {
        assert_eq!(ended.status.signal(), Some(6), "{}", ended.stderr);
        assert!(ended.stderr.contains("plain"), "{}", ended.stderr);
        assert!(!ended.stderr.contains("fiber"), "{}", ended.stderr);
    }
}

/// M5 (out of stacks). With stacks for four fibers a hundred run all the same: those without a
/// stack queue, are counted, and resume when stacks become available.
#[test]
fn more_fibers_than_stacks() {
    for scheduler in SCHEDULERS {
        for workers in [1, 2, 4] {
            let builder = Runtime::builder().workers(workers).scheduler(scheduler);
            let runtime = builder.max_stacks(4).build().unwrap();
            let (running, most) =
                (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
            let gate = Arc::new(AtomicBool::new(false));
            let fibers: Vec<_> = (0..100)
                .map(|_| {
                    let (running, most) = (Arc::clone(&running), Arc::clone(&most));
                    let gate = Arc::clone(&gate);
                    runtime.spawn(move || {
                        let now = running.fetch_add(1, Ordering::SeqCst) + 1;
                        most.fetch_max(now, Ordering::SeqCst);
                        while !gate.load(Ordering::SeqCst) {
                            pirn::yield_now();
                        }
                        running.fetch_sub(1, Ordering::SeqCst);
                    })
                })
                .collect();
            eventually("some wait for a stack", || {
                runtime.metrics().waiting_for_stack > 0
            });
            assert!(running.load(Ordering::SeqCst) <= 4);
            gate.store(true, Ordering::SeqCst);
            fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
            assert!(most.load(Ordering::SeqCst) <= 4);
            let metrics = runtime.metrics();
            assert!(metrics.total.stack_waits > 0);
            assert_eq!(metrics.waiting_for_stack, 0);
        }
    }
}

/// M5 (out of stacks). A stack cached by one worker does not keep a fiber of another worker from
/// starting: none waits while a stack is free.
#[test]
fn no_fiber_waits_while_a_stack_is_free() {
    let shapes = SCHEDULERS
        .map(|scheduler| [1, 2, 63, 64, 65, 128, 200].map(|max| (scheduler, max)));
    for (scheduler, max) in shapes.into_iter().flatten() {
        let builder = Runtime::builder().workers(2).scheduler(scheduler);
        let runtime = builder.max_stacks(max).build().unwrap();
        let (tx, rx) = channel::bounded::<()>(0);
        let rx = Arc::new(rx);
        // All stacks but one are taken for good.
        let holders: Vec<_> = (1..max)
            .map(|_| {
                let rx = Arc::clone(&rx);
                runtime.spawn(move || assert!(rx.recv().is_err()))
            })
            .collect();
        eventually("the holders hold", || {
            runtime.metrics().total.started == max as u64 - 1
        });
        for _ in 0..scaled(200) {
            let all: Vec<_> = (0..4).map(|_| runtime.spawn(pirn::yield_now)).collect();
            for fiber in all {
                let end = fiber.join_timeout(crate::util::LONG);
                let end = end.unwrap_or_else(|_| {
                    panic!("starved with {max} stacks, {scheduler:?}")
                });
                end.unwrap();
            }
        }
        drop(tx);
        holders
            .into_iter()
            .for_each(|holder| holder.join().unwrap());
    }
}

/// M5 (out of stacks). A fiber with a stack size that the system cannot provide is not run, and
/// other fibers are unaffected.
#[test]
fn a_stack_that_no_system_can_give() {
    let part = || {
        let runtime = runtime(1);
        let huge = runtime.enter(|| Builder::new().stack_size(1 << 50).spawn(|| 1));
        let before = crate::util::processor_time();
        assert_eq!(runtime.spawn(|| 2).join().unwrap(), 2);
        pirn::sleep(Duration::from_millis(200)).unwrap();
        assert_eq!(runtime.spawn(|| 3).join().unwrap(), 3);
        let spent = crate::util::processor_time() - before;
        assert!(
            spent < Duration::from_millis(150),
            "{spent:?} spent on a stack that cannot be"
        );
        if let Ok(huge) = huge {
            huge.cancel();
            runtime.shutdown(crate::util::LONG).unwrap();
            assert!(huge.join().is_err());
        }
    };
    if let Some(ended) = apart("stacks::a_stack_that_no_system_can_give", &[], part) {
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    }
}

/// M3. Fibers that run one after another use one stack: memory use stays constant, and none is
/// requested from the system.
// Proves: M7.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_stacks_are_reused() {
    let runtime = runtime(2);
    let round = || {
        runtime.run(|| {
            for _ in 0..1_000 {
                pirn::spawn(|| deep(16 << 10)).join().unwrap();
            }
        });
    };
    // Both threads have started by then, and made their first allocations.
    let both = Arc::new(Barrier::new(2));
    let meet = |()| {
        let both = Arc::clone(&both);
        runtime.spawn(move || {
            both.wait();
            pirn::spawn(|| deep(16 << 10)).join().unwrap();
        })
    };
    let fibers = [(), ()].map(meet);
    fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
    (0..10).for_each(|_| round());
    let (memory, maps) = (resident(), mappings());
    (0..scaled(100)).for_each(|_| round());
    let grown = resident().saturating_sub(memory);
    // A chunk of headers for the other worker is 2 MiB; a hundred thousand stacks are 1.6 GB.
    assert!(grown < SLACK as usize * (8 << 20), "grew by {grown} bytes");
    // A few may come from allocations of the other worker's thread; a stack each would be
    // thousands.
    assert!(mappings() <= maps + 8 * (SLACK * SLACK) as usize);
}

/// The stack of a fiber that has ended is the stack of the next one, whether its spawner waits for
/// each or for all: one worker needs two stacks, its spawner's included.
// Proves: M7.
#[test]
#[cfg(not(any(pirn_asan, pirn_tsan)))]
fn the_next_fiber_has_the_last_ones_stack() {
    use std::collections::BTreeSet;
    const FIBERS: usize = 1_000;
    // A page of its own stack.
    let page = || std::ptr::from_ref(&black_box(0_u8)).addr() >> 12;
    for scheduler in SCHEDULERS {
        let builder = Runtime::builder().workers(1).max_threads(1);
        let runtime = builder.scheduler(scheduler).build().unwrap();
        let (one_by_one, together): (BTreeSet<_>, BTreeSet<_>) = runtime.run(|| {
            let each = (0..FIBERS).map(|_| pirn::spawn(page).join().unwrap());
            let one_by_one = each.collect();
            let all: Vec<_> = (0..FIBERS).map(|_| pirn::spawn(page)).collect();
            let together = all.into_iter().map(|fiber| fiber.join().unwrap());
            (one_by_one, together.collect())
        });
        for (pages, how) in [(one_by_one, "one by one"), (together, "together")] {
            assert!(pages.len() <= 2, "{how}, {scheduler:?}: {pages:?}");
        }
    }
}

/// M3. After a burst of deep stacks memory is returned; the bounded cache remains.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
#[cfg(not(any(pirn_asan, pirn_tsan)))]
fn alone_memory_follows_a_burst_down() {
    const FIBERS: usize = 5_000;
    const DEPTH: usize = 32 << 10;
    let runtime = Runtime::builder()
        .workers(2)
        .stack_cache(64)
        .build()
        .unwrap();
    let before = resident();
    let (tx, rx) = channel::bounded::<()>(0);
    let rx = Arc::new(rx);
    let fibers: Vec<_> = (0..FIBERS)
        .map(|_| {
            let rx = Arc::clone(&rx);
            runtime.spawn(move || {
                deep(DEPTH);
                assert!(rx.recv().is_err());
            })
        })
        .collect();
    eventually("all wait", || {
        runtime.metrics().total.started == FIBERS as u64
    });
    eventually("all are deep", || resident() - before > FIBERS * DEPTH / 2);
    let high = resident() - before;
    drop(tx);
    fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
    let low = resident().saturating_sub(before);
    assert!(low < high / 5, "{low} bytes are left of {high}");
}

/// A hundred thousand parked fibers, a stack each, under the system's default limit on
/// mappings; all resume.
// Proves: M5.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
#[cfg(not(any(pirn_asan, pirn_tsan)))]
fn alone_a_hundred_thousand_parked_fibers() {
    const FIBERS: usize = 100_000;
    for scheduler in SCHEDULERS {
        let runtime = Runtime::builder()
            .workers(2)
            .scheduler(scheduler)
            .build()
            .unwrap();
        let before = resident();
        let (tx, rx) = channel::bounded::<()>(0);
        let rx = Arc::new(rx);
        let ended = Arc::new(AtomicUsize::new(0));
        for _ in 0..FIBERS {
            let (rx, ended) = (Arc::clone(&rx), Arc::clone(&ended));
            runtime.spawn(move || {
                assert!(rx.recv().is_err());
                ended.fetch_add(1, Ordering::Relaxed);
            });
        }
        eventually("all have started", || {
            runtime.metrics().total.started == FIBERS as u64
        });
        let each = (resident() - before) / FIBERS;
        // The frames of a build without optimization reach into a third page, and into a fourth
        // where the fiber also looks for the next one; optimised code is judged by a test of its
        // own. A canary touches a page of its own.
        let frames = if cfg!(debug_assertions) { 17 } else { 6 };
        let canary = if cfg!(feature = "diagnostics") { 5 } else { 0 };
        let most = frames + canary;
        assert!(each < most << 10, "{each} bytes for each parked fiber");
        assert!(mappings() < 2_000, "{} mappings", mappings());
        drop(tx);
        runtime.wait_idle().unwrap();
        assert_eq!(ended.load(Ordering::Relaxed), FIBERS);
    }
}

/// M2, hazard 6. A fiber's default stack suffices for formatting and for a caught panic, with a
/// backtrace.
// Proves: M1.
#[test]
fn ordinary_work_fits_a_stack() {
    let ended = apart(
        "stacks::ordinary_work_fits_a_stack",
        &[("RUST_BACKTRACE", "1")],
        || {
            let work = || {
                let text =
                    format!("{:?} {:e} {:>40}", [1.5_f64; 8], f64::MIN_POSITIVE, "right");
                let mut words: Vec<&str> = text.split(' ').collect();
                words.sort_unstable();
                let panicked = std::panic::catch_unwind(|| panic!("{}", words.join("-")));
                panicked.is_err()
            };
            assert!(pirn::spawn(work).join().unwrap());
        },
    );
    if let Some(ended) = ended {
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
        assert!(ended.stderr.contains("stack backtrace"), "{}", ended.stderr);
    }
}

#[test]
fn a_pool_may_keep_every_stack_warm() {
    let runtime = Runtime::builder()
        .workers(1)
        .stack_cache(usize::MAX)
        .build()
        .unwrap();
    for _ in 0..2 {
        runtime.run(|| {
            pirn::scope(|scope| {
                for _ in 0..500 {
                    scope.spawn(pirn::yield_now);
                }
            });
        });
    }
}

/// Memory that the process has requested from the system so far.
#[cfg(all(target_os = "linux", not(any(pirn_asan, pirn_tsan))))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Asked {
    threads: usize,
    address_space: usize,
    mappings: usize,
}

/// Whether all threads of the process but one, the caller's, sleep.
#[cfg(all(target_os = "linux", not(any(pirn_asan, pirn_tsan))))]
fn others_sleep() -> bool {
    let states = std::fs::read_dir("/proc/self/task").unwrap().map(|task| {
        let stat = task.unwrap().path().join("stat");
        let stat = std::fs::read_to_string(stat).unwrap_or_default();
        stat.rsplit_once(") ")
            .is_some_and(|(_, rest)| rest.starts_with('S'))
    });
    states.filter(|sleeps| !sleeps).count() == 1
}

/// After a prewarm the first burst of so many fibers, all alive at once, starts no thread,
/// takes no address space, maps nothing, and finds the memory of its stacks in place; without a
/// prewarm it does all of that.
// Proves: M6.
#[test]
#[cfg(all(target_os = "linux", not(any(pirn_asan, pirn_tsan))))]
fn the_first_burst_after_a_prewarm_asks_for_nothing() {
    const FIBERS: usize = 128;
    const WORKERS: usize = 3;
    let asked = || Asked {
        threads: std::fs::read_dir("/proc/self/task").unwrap().count(),
        address_space: crate::util::reserved(),
        mappings: mappings(),
    };
    let faults = || -> usize {
        let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
        let (_, fields) = stat.rsplit_once(')').unwrap();
        fields.split_whitespace().nth(7).unwrap().parse().unwrap()
    };
    let burst = |runtime: &Runtime| {
        let (tx, rx) = channel::bounded::<()>(0);
        let before = runtime.metrics().total.fiber_parks as usize;
        let fibers: Vec<_> = (0..FIBERS)
            .map(|_| {
                let rx = rx.clone();
                runtime.spawn(move || assert!(rx.recv().is_err()))
            })
            .collect();
        eventually("all wait", || {
            runtime.metrics().total.fiber_parks as usize >= before + FIBERS
        });
        drop(tx);
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
    };
    let part = || {
        let build = |prewarm: Option<usize>| {
            let builder = Runtime::builder().workers(WORKERS).max_threads(WORKERS);
            let builder = match prewarm {
                Some(stacks) => builder.prewarm(stacks),
                None => builder,
            };
            let runtime = builder.build().unwrap();
            if prewarm.is_some() {
                let started = || {
                    let workers = runtime.metrics().workers.into_iter();
                    workers.filter(|own| own.counters.parks > 0).count()
                };
                eventually("its threads have come and sleep", || started() == WORKERS);
                // The monitor's too: a thread maps a little memory when it begins.
                eventually("every other thread sleeps", others_sleep);
            }
            runtime
        };
        // One-time allocations of the process, with any runtime.
        build(None).run(|| ());
        burst(&build(Some(FIBERS)));

        let warm = build(Some(FIBERS));
        let (before, least) = (asked(), faults());
        burst(&warm);
        let warm_faults = faults() - least;
        assert_eq!(asked(), before);
        drop(warm);

        let cold = build(None);
        let (before, least) = (asked(), faults());
        burst(&cold);
        let cold_faults = faults() - least;
        assert_ne!(asked(), before);
        assert!(
            warm_faults + FIBERS * 3 / 4 <= cold_faults,
            "{warm_faults} page faults warm, {cold_faults} cold"
        );
    };
    // The deadlock detector has a thread, which may start at any time.
    let alone = [("PIRN_DEADLOCK", "off")];
    let name = "stacks::the_first_burst_after_a_prewarm_asks_for_nothing";
    if let Some(ended) = apart(name, &alone, part) {
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    }
}
