//! Parallel work among fibers: items may wait, be interrupted, and be parallel themselves; plain
//! threads may call it, and time may be virtual.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use pirn::blocking::block_in_place;
use pirn::cancel::Token;
use pirn::channel::{bounded, unbounded};
use pirn::future::block_on;
use pirn::par::{self, Split};
use pirn::sync::Mutex;
use pirn::time::{now, sleep, timeout};
use pirn::{Interrupt, Runtime};

use crate::executor_kind::runtime;
use crate::par_fixture::compute;
use crate::util::{on_every_shape, scaled};

/// As many items as are single jobs: one may wait for any other.
// Proves: O9.
#[test]
fn items_wait_for_each_other() {
    on_every_shape(|runtime| {
        for n in [2, 3, 32, 63_usize] {
            // Each item waits for the next one's, so the last one starts it all.
            let links: Vec<_> = (0..n).map(|_| bounded::<usize>(0)).collect();
            let sum = runtime.run(|| {
                par::map_reduce(
                    0..n,
                    || 0,
                    |at| {
                        let before = match at + 1 < n {
                            true => links[at + 1].1.recv().unwrap(),
                            false => 0,
                        };
                        if at > 0 {
                            links[at].0.send(before + at).unwrap();
                        }
                        if at == 0 { before } else { 0 }
                    },
                    |a, b| a + b,
                )
            });
            assert_eq!(sum, n * (n - 1) / 2);
        }
    });
}

/// Sleeping items sleep concurrently.
// Proves: O9.
#[test]
fn items_sleep_together() {
    let runtime = Runtime::builder().deterministic(5).build().unwrap();
    let took = runtime.run(|| {
        let start = now();
        par::for_each(0..60, |_| sleep(Duration::from_secs(1)).unwrap());
        now() - start
    });
    assert!(took < Duration::from_secs(2), "{took:?}");
}

/// The same seed, the same results, and only sleeps take time.
// Proves: O9.
#[test]
fn virtual_time_and_parallel_work_go_together() {
    for seed in 0..scaled(5) as u64 {
        let runtime = Runtime::builder().deterministic(seed).build().unwrap();
        runtime.run(|| {
            let squares = par::map(0..10_000u64, |n| n * n);
            assert_eq!(par::sum::<_, u64>(&squares[..]), 333_283_335_000);
            let mut numbers: Vec<u64> = (0..50_000).map(|n| n * 7 % 1_009).collect();
            par::sort(&mut numbers);
            assert!(numbers.is_sorted());
            let waited = par::map(0..40u64, |n| {
                sleep(Duration::from_secs(n)).unwrap();
                n
            });
            assert!(waited.is_sorted());
        });
    }
}

/// A lock of the runtime is held over parallel work that acquires it in turn.
// Proves: O9.
#[test]
fn items_take_turns() {
    on_every_shape(|runtime| {
        let n = scaled(20_000);
        let count = Mutex::new(0);
        runtime.run(|| {
            par::for_each(0..n, |_| {
                let mut count = count.lock();
                *count += 1;
                if usize::is_multiple_of(*count, 1_000) {
                    pirn::yield_now();
                }
            });
        });
        assert_eq!(count.into_inner(), n);
    });
}

/// Parallel work in parallel work, sorts and sums in maps.
// Proves: O9.
#[test]
fn work_nests() {
    on_every_shape(|runtime| {
        let count = scaled(50) as u64;
        let rows = runtime.run(|| {
            par::map(0..count, |row| {
                let mut cells = par::map(0..1_000u64, |x| (x * (row + 7)) % 1_009);
                par::sort_unstable(&mut cells);
                par::scan(&mut cells, |a, b| a + b);
                let last: u64 = par::map_reduce(&cells[..], || 0, |x| *x, u64::max);
                assert_eq!(cells.last(), Some(&last));
                last
            })
        });
        let expected: Vec<u64> = (0..count)
            .map(|row| (0..1_000).map(|x| (x * (row + 7)) % 1_009).sum())
            .collect();
        assert_eq!(rows, expected);
    });
}

/// From threads that run no fibers, of the default runtime and concurrently.
// Proves: O9.
#[test]
fn plain_threads_ask_too() {
    std::thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| {
                let mut numbers: Vec<u64> =
                    (0..20_000).map(|n| n * 31 % 10_007).collect();
                let total: u64 = par::sum(&numbers[..]);
                par::sort(&mut numbers);
                assert!(numbers.is_sorted());
                par::scan(&mut numbers, |a, b| a + b);
                assert_eq!(numbers.last(), Some(&total));
                let here = std::thread::current().id();
                let threads = par::map(0..100, |_| std::thread::current().id());
                assert!(!threads.contains(&here), "on a thread that runs no fibers");
                let found = par::find_any(numbers, |n| *n == total);
                assert_eq!(found, Some(total));
            });
        }
    });
}

/// Yields until `condition` holds.
fn wait_for(condition: impl Fn() -> bool) {
    while !condition() {
        pirn::yield_now();
    }
}

/// Of a million items, few are visited after an error.
// Proves: O9.
#[test]
fn an_error_ends_the_work() {
    on_every_shape(|runtime| {
        let n = 1_000_000;
        let looked = AtomicUsize::new(0);
        let found = AtomicBool::new(false);
        let result = runtime.run(|| {
            par::try_for_each(0..n, |at| {
                looked.fetch_add(1, Ordering::SeqCst);
                if at == 1_000 {
                    found.store(true, Ordering::SeqCst);
                    return Err(std::io::Error::other("enough"));
                }
                // However long the other one's worker is delayed.
                wait_for(|| at < 1_000 || found.load(Ordering::SeqCst));
                Ok(())
            })
        });
        assert_eq!(result.unwrap_err().to_string(), "enough");
        let looked = looked.into_inner();
        assert!(looked < n / 2, "{looked} of {n}");
    });
}

/// Of several errors, the first by position of those that were found.
// Proves: O9.
#[test]
fn the_first_error_found_is_returned() {
    let result = runtime(1).run(|| {
        par::try_map(0..100_000_usize, |at| match at >= 500 {
            true => Err(std::io::Error::other(at.to_string())),
            false => Ok(at),
        })
    });
    assert_eq!(result.unwrap_err().to_string(), "500");
}

/// A cancellation in the middle of a million items leaves most of them unvisited.
// Proves: O9.
#[test]
fn an_interrupt_ends_the_work() {
    on_every_shape(|runtime| {
        let n = 1_000_000;
        let looked = AtomicUsize::new(0);
        let token = Token::new();
        let result = runtime.run(|| {
            token.enter(|| {
                par::try_for_each(0..n, |_| {
                    let before = looked.fetch_add(1, Ordering::SeqCst);
                    if before == 1_000 {
                        token.cancel();
                    }
                    // However long the canceller's worker is delayed.
                    wait_for(|| before < 1_000 || token.is_cancelled());
                    Ok::<_, Interrupt>(())
                })
            })
        });
        assert_eq!(result, Err(Interrupt::Cancelled));
        let looked = looked.into_inner();
        assert!(looked < n / 2, "{looked} of {n}");
        let result =
            runtime.run(|| token.enter(|| par::try_map(0..n, Ok::<_, Interrupt>)));
        assert_eq!(result, Err(Interrupt::Cancelled));
    });
}

/// More items than any test completes. Each doubling is one more call on the stack, which an
/// instrumented program has less room for.
const ENDLESS: u64 = 1 << 40;

/// A deadline soon ends work that computes.
// Proves: O9.
#[test]
fn a_deadline_ends_the_work() {
    on_every_shape(|runtime| {
        let result = runtime.run(|| {
            timeout(Duration::from_millis(5), || {
                par::try_for_each(0..ENDLESS, |_| {
                    compute(Duration::from_micros(10));
                    Ok::<_, Interrupt>(())
                })
            })
        });
        assert!(result.is_err());
    });
}

/// A thread's own deadlines and tokens apply to the fibers that work for it.
// Proves: O9.
#[test]
fn threads_are_interrupted_too() {
    let endless = || par::try_for_each(0..ENDLESS, |_| Ok::<_, Interrupt>(()));
    assert!(timeout(Duration::from_millis(5), endless).is_err());
    let token = Token::new();
    let cancel = |at| {
        if at == 1_000 {
            token.cancel();
        }
        Ok::<u64, Interrupt>(at)
    };
    let result = token.enter(|| par::try_map(0..1_000_000_u64, cancel));
    assert_eq!(result, Err(Interrupt::Cancelled));
    let error = || par::try_for_each(0..9, |_| Err(std::io::Error::other("own")));
    let result = timeout(Duration::from_secs(3_600), error);
    assert_eq!(result.unwrap().unwrap_err().to_string(), "own");
}

/// Uninterruptible work is completed.
// Proves: O9.
#[test]
fn what_cannot_fail_is_done_all_the_same() {
    on_every_shape(|runtime| {
        let token = Token::new();
        token.cancel();
        let sum: u64 = runtime.run(|| token.enter(|| par::sum(0..100_000u64)));
        assert_eq!(sum, 4_999_950_000);
    });
}

/// Items with results that go elsewhere by a channel, in grains.
// Proves: O9.
#[test]
fn items_send_what_they_make() {
    on_every_shape(|runtime| {
        let (tx, rx) = unbounded();
        let small = bounded(2);
        runtime.run(|| {
            pirn::scope(|s| {
                s.spawn(|| {
                    for n in small.1.iter().take(1_000) {
                        tx.send(n).unwrap();
                    }
                });
                par::for_each((0..1_000u64).grain(50), |n| small.0.send(n).unwrap());
            });
        });
        drop(tx);
        let mut all: Vec<u64> = rx.iter().collect();
        par::sort(&mut all);
        assert!(all.into_iter().eq(0..1_000));
    });
}

/// Inside a poll the second half of a join stays where it is, also if the first one blocks the
/// thread: the wait for a fiber would let others run before the poll ends.
// Proves: O9.
#[test]
fn a_half_stays_in_its_poll() {
    runtime(1).run(|| {
        let own = pirn::current().id();
        for _ in 0..100 {
            par::join(|| (), || ());
            let (_, second) = block_on(async {
                par::join(|| block_in_place(|| ()), || pirn::current().id())
            });
            assert_eq!(second, own);
        }
    });
}
