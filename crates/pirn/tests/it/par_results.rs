//! Parallel operations have the results of the serial ones.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use pirn::par::{self, Split};
use pirn::{Interrupt, Runtime};

use crate::executor_kind::runtime;
use crate::par_fixture::{check_cuts, compute, lengths};
use crate::util::{Dice, on_every_shape};

/// Every operation on runs of every length, on every shape of runtime, compared with a loop.
// Proves: O9.
#[test]
fn every_operation_does_what_a_loop_does() {
    on_every_shape(|runtime| {
        runtime.run(|| {
            let every = if cfg!(pirn_tsan) { 3 } else { 1 };
            for n in lengths().into_iter().step_by(every) {
                compare(&Dice(n as u64).many(n));
            }
        });
    });
}

fn compare(numbers: &[u64]) {
    let n = numbers.len();
    let doubled: Vec<u64> = numbers.iter().map(|x| x * 2).collect();
    assert_eq!(par::map(numbers, |x| x * 2), doubled, "map of {n}");
    assert_eq!(par::map(numbers.to_vec(), |x| x * 2), doubled, "map of Vec");
    assert_eq!(
        par::map(0..n, |at| numbers[at] * 2),
        doubled,
        "map of range"
    );

    let mut changed = numbers.to_vec();
    par::for_each(&mut changed[..], |x| *x *= 2);
    assert_eq!(changed, doubled, "for_each of {n}");

    let total: u64 = numbers.iter().sum();
    assert_eq!(par::sum::<_, u64>(numbers), total, "sum of {n}");
    assert_eq!(par::sum::<_, u64>(numbers.to_vec()), total, "sum of Vec");
    let reduced = par::reduce(numbers.to_vec(), || 0, |a, b| a + b);
    assert_eq!(reduced, total, "reduce of {n}");

    // Associative, but order matters.
    let text = par::map_reduce(
        numbers,
        String::new,
        |x| ((b'a' + (x % 26) as u8) as char).to_string(),
        |a, b| a + &b,
    );
    let expected: String = numbers
        .iter()
        .map(|x| (b'a' + (x % 26) as u8) as char)
        .collect();
    assert_eq!(text, expected, "map_reduce of {n}");

    let mut scanned = numbers.to_vec();
    par::scan(&mut scanned, |a, b| a + b);
    let expected: Vec<u64> = numbers
        .iter()
        .scan(0, |sum, x| {
            *sum += x;
            Some(*sum)
        })
        .collect();
    assert_eq!(scanned, expected, "scan of {n}");

    let wanted = |x: &&u64| x.is_multiple_of(97);
    let found = par::find_any(numbers, wanted);
    assert_eq!(found.is_some(), numbers.iter().any(|x| wanted(&x)));
    assert!(found.is_none_or(|x| wanted(&x)));
    assert_eq!(par::find_any(numbers, |x| **x > u64::MAX / 2), None);

    let seen = AtomicUsize::new(0);
    let all = par::try_for_each(numbers, |_| {
        seen.fetch_add(1, Ordering::SeqCst);
        Ok::<_, Interrupt>(())
    });
    assert_eq!((all, seen.into_inner()), (Ok(()), n));
    let tried = par::try_map(numbers, |x| Ok::<_, Interrupt>(x * 2));
    assert_eq!(tried.as_deref(), Ok(&doubled[..]));
}

/// Every run can be divided at every position.
// Proves: O9.
#[test]
fn every_run_is_cut_anywhere() {
    fn all<T>(items: impl IntoIterator<Item = T>) -> Vec<T> {
        items.into_iter().collect()
    }

    let items = [5, 6, 7, 8, 9];
    check_cuts(|| &items[..], &all(&items));
    check_cuts(|| items.to_vec(), &items);
    check_cuts(|| items.to_vec().grain(2), &items);
    check_cuts(Vec::<u8>::new, &[]);
    check_cuts(|| vec![(); 3], &[(); 3]);
    check_cuts(|| par::chunks(&items, 2), &all(items.chunks(2)));
    check_cuts(|| par::chunks(&items, 9), &all(items.chunks(9)));
    check_cuts(|| par::chunks(&items[..0], 2), &[]);
    check_cuts(
        || (0..4, par::chunks(&items, 2)),
        &all((0..4).zip(items.chunks(2))),
    );
    check_cuts(|| (items.to_vec(), 1..9), &all(items.into_iter().zip(1..9)));
    check_cuts(|| -3..4_i8, &all(-3..4));
    check_cuts(|| i8::MIN..i8::MAX, &all(i8::MIN..i8::MAX));
    check_cuts(|| i8::MIN..=i8::MAX, &all(i8::MIN..=i8::MAX));
    check_cuts(|| u8::MIN..=u8::MAX, &all(u8::MIN..=u8::MAX));
    check_cuts(|| i64::MAX - 3..i64::MAX, &all(i64::MAX - 3..i64::MAX));
    check_cuts(
        || u128::MAX - 3..=u128::MAX,
        &all(u128::MAX - 3..=u128::MAX),
    );
    #[expect(clippy::reversed_empty_ranges, reason = "is one")]
    check_cuts(|| 4..2, &[]);
    #[expect(clippy::reversed_empty_ranges, reason = "is one")]
    check_cuts(|| 4..=2, &[]);

    let mut left = items;
    let (first, _) = (&mut left[..]).split_at(2);
    first.each(|item| *item = 0);
    let (_, last) = par::chunks_mut(&mut left, 2).split_at(2);
    last.items().for_each(|chunk| chunk.fill(1));
    assert_eq!(left, [0, 0, 7, 8, 1]);
}

/// Rows of a table, changed together with a parallel vector.
// Proves: O9.
#[test]
fn chunks_and_pairs_go_side_by_side() {
    on_every_shape(|runtime| {
        let mut table = vec![0; 1_003];
        let factors: Vec<usize> = (0..60).collect();
        runtime.run(|| {
            let rows = par::chunks_mut(&mut table, 17);
            par::for_each((rows, factors), |(row, factor)| {
                for (at, cell) in row.iter_mut().enumerate() {
                    *cell = at * factor;
                }
            });
        });
        for (at, cell) in table.iter().enumerate() {
            assert_eq!(*cell, (at % 17) * (at / 17));
        }
    });
}

#[test]
#[should_panic(expected = "chunks of 0 items")]
fn chunks_of_nothing_are_refused() {
    let _ = par::chunks(&[1, 2, 3], 0);
}

/// The shape of a sum depends on the number of its items, not on the workers.
// Proves: O9, O9 (free).
#[test]
fn sums_of_floats_are_the_same_on_any_number_of_workers() {
    let mut numbers = Dice(7);
    let values: Vec<f64> = (0..100_003)
        .map(|_| (numbers.next() as f64).sqrt() / (1.0 + numbers.below(1_000) as f64))
        .collect();
    let add_up = |runtime: &Runtime, slow: bool| {
        runtime.run(|| {
            let mut running = values.clone();
            par::scan(&mut running, |a, b| a + b);
            let value = |x: &f64| {
                if slow && x.to_bits().is_multiple_of(64) {
                    compute(Duration::from_micros(20));
                }
                *x
            };
            let mapped = par::map_reduce(&values[..], || 0.0, value, |a, b| a + b);
            let sum: f64 = par::sum(&values[..]);
            let last = running.last().copied().unwrap_or_default();
            [mapped.to_bits(), sum.to_bits(), last.to_bits()]
        })
    };
    let expected = add_up(&runtime(1), false);
    for workers in [1, 2, 8] {
        for slow in [false, true] {
            assert_eq!(
                add_up(&runtime(workers), slow),
                expected,
                "{workers} workers"
            );
        }
    }
    // Of 4,096 items at a time, more than one.
    let serial: f64 = values.iter().sum();
    assert!((serial - f64::from_bits(expected[1])).abs() < serial * 1e-9);
}

/// Slow items are shared one by one, also those of one block.
// Proves: O9, O9-cuts.
#[test]
fn what_takes_long_is_shared_at_once() {
    let runtime = runtime(2);
    let fibers = Mutex::new(BTreeSet::new());
    runtime.run(|| {
        // Of 4,096 items: the first block.
        par::for_each(0..(32 * 4096), |at| {
            if at < 4096 && fibers.lock().unwrap().len() < 2 {
                compute(Duration::from_micros(100));
                fibers
                    .lock()
                    .unwrap()
                    .insert(pirn::current().id().to_string());
            }
        });
    });
    assert!(fibers.into_inner().unwrap().len() >= 2);
}

/// Returns whether `work` calls the function that it is given on more than one fiber.
fn is_shared(work: impl FnOnce(&(dyn Fn() + Sync))) -> bool {
    let (first, shared) = (OnceLock::new(), AtomicBool::new(false));
    work(&|| {
        if shared.load(Ordering::Relaxed) {
            return;
        }
        let own = pirn::current().id();
        if *first.get_or_init(|| own) != own {
            shared.store(true, Ordering::Relaxed);
        }
        // The parts that have not begun become fibers.
        pirn::yield_now();
    });
    shared.into_inner()
}

/// Each operation has several parts, which other fibers may run, also on one worker.
// Proves: O9.
#[test]
fn every_operation_has_parts() {
    const N: u64 = 5_000;
    type Work = fn(&(dyn Fn() + Sync));
    let works: [(&str, Work); 10] = [
        ("for_each", |tick| par::for_each(0..N, |_| tick())),
        ("map", |tick| drop(par::map(0..N, |_| tick()))),
        ("map_reduce", |tick| {
            par::map_reduce(0..N, || (), |_| tick(), |(), ()| ());
        }),
        ("reduce", |tick| {
            par::reduce(0..N, || 0, |a, b| (tick(), a + b).1);
        }),
        ("find_any", |tick| {
            let _ = par::find_any(0..N, |_| (tick(), false).1);
        }),
        ("try_for_each", |tick| {
            let tick = |_| {
                tick();
                Ok::<_, Interrupt>(())
            };
            par::try_for_each(0..N, tick).unwrap();
        }),
        ("try_map", |tick| {
            let tick = |at| {
                tick();
                Ok::<_, Interrupt>(at)
            };
            par::try_map(0..N, tick).unwrap();
        }),
        ("scan", |tick| {
            let mut numbers = Dice(1).many(N as usize);
            par::scan(&mut numbers, |a, b| (tick(), a.wrapping_add(*b)).1);
        }),
        ("sort_by", |tick| {
            let mut numbers = Dice(1).many(N as usize);
            par::sort_by(&mut numbers, |a, b| (tick(), a.cmp(b)).1);
        }),
        ("sort_unstable_by", |tick| {
            let mut numbers = Dice(1).many(N as usize);
            par::sort_unstable_by(&mut numbers, |a, b| (tick(), a.cmp(b)).1);
        }),
    ];
    for workers in [1, 2] {
        let runtime = runtime(workers);
        let alone = works
            .into_iter()
            .filter(|(_, work)| !runtime.run(|| is_shared(work)));
        let alone: Vec<_> = alone.map(|(name, _)| name).collect();
        // One worker sorts by itself.
        let expected: &[&str] = match workers {
            1 => &["sort_by", "sort_unstable_by"],
            _ => &[],
        };
        assert_eq!(alone, expected, "{workers} workers");
    }
}

/// A part has no fewer items than the grain, however slow they are.
// Proves: O9.
#[test]
fn a_grain_is_not_cut() {
    let runs = Mutex::new(Vec::new());
    /// Records how many items were processed at once.
    struct Noted<'a>(std::ops::Range<usize>, &'a Mutex<Vec<usize>>);
    impl Split for Noted<'_> {
        type Item = usize;
        fn len(&self) -> usize {
            Split::len(&self.0)
        }
        fn split_at(self, index: usize) -> (Self, Self) {
            let (left, right) = Split::split_at(self.0, index);
            (Noted(left, self.1), Noted(right, self.1))
        }
        fn each(self, f: impl FnMut(usize)) {
            self.1.lock().unwrap().push(Split::len(&self.0));
            self.0.for_each(f);
        }
    }
    runtime(4).run(|| {
        par::for_each(Noted(0..500, &runs).grain(40), |_| {
            compute(Duration::from_micros(50));
        });
        par::for_each(Noted(0..7, &runs).grain(40), |_| ());
        par::for_each(Noted(0..7, &runs).grain(0), |_| ());
    });
    let mut runs = runs.into_inner().unwrap();
    assert_eq!(runs.iter().sum::<usize>(), 500 + 7 + 7);
    assert_eq!(runs.split_off(runs.len() - 7), [1; 7]);
    assert_eq!(runs.pop(), Some(7));
    assert!(runs.iter().all(|n| *n >= 40), "{runs:?}");
}

/// A user's run that claims more items than it has panics; one that claims fewer yields as many
/// results as claimed.
// Proves: O9.
#[test]
fn a_run_that_lies_does_no_harm() {
    struct Lying(usize, usize);
    impl Split for Lying {
        type Item = String;
        fn len(&self) -> usize {
            self.0
        }
        fn split_at(self, index: usize) -> (Self, Self) {
            (Lying(index, self.1), Lying(self.0 - index, self.1))
        }
        fn each(self, mut f: impl FnMut(String)) {
            for n in 0..self.1 {
                f(n.to_string());
            }
        }
    }
    let caught = std::panic::catch_unwind(|| par::map(Lying(50, 0), |s| s));
    let said = caught.unwrap_err().downcast::<String>().unwrap();
    assert!(
        said.ends_with("Lying has fewer items than its `len` says"),
        "{said}"
    );
    let more = par::map(Lying(50, 3), |s| s);
    assert_eq!(more.len(), 50);
    assert!(
        more.iter()
            .all(|text| text.parse::<usize>().is_ok_and(|n| n < 3))
    );
}
