//! A panic in any closure propagates to the caller, and nothing is lost or dropped twice.

use std::cmp::Ordering;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pirn::Interrupt;
use pirn::par::{self, Split};

use crate::par_fixture::Bomb;
use crate::util::{Counted, Dice, Drops, on_every_shape, scaled};

/// Runs `work`, which must end with the panic of a [`Bomb`].
fn boom<R>(work: impl FnOnce() -> R) {
    let payload = catch_unwind(AssertUnwindSafe(work)).err().expect("a panic");
    assert_eq!(payload.downcast_ref(), Some(&"boom"));
}

/// Calls of a closure after which it panics, for runs of `n` items.
fn moments(n: usize) -> [usize; 4] {
    [0, 1.min(n - 1), n / 2, n - 1]
}

/// With every operation, and a panic at any call.
// Proves: O9.
#[test]
fn results_are_dropped_once() {
    on_every_shape(|runtime| {
        for n in [1, 2, 65, scaled(5_000), scaled(40_000)] {
            for at in moments(n) {
                runtime.run(|| drop_all(n, at));
            }
        }
    });
}

fn drop_all(n: usize, at: usize) {
    let made = Drops::default();
    let bomb = Bomb::after(at);
    let make = |_| {
        bomb.tick();
        made.one()
    };
    boom(|| par::map(0..n, make));
    assert_eq!(made.count(), made.made());
    // Others may have continued until they were notified.
    assert!((at..n).contains(&made.made()), "{} of {n}", made.made());

    let made = Drops::default();
    let bomb = Bomb::after(at);
    let make = |_| {
        bomb.tick();
        Ok::<_, Interrupt>(made.one())
    };
    boom(|| par::try_map(0..n, make));
    assert_eq!(made.count(), made.made());
    assert!((at..n).contains(&made.made()), "{} of {n}", made.made());

    // By value: items that were passed on, and those that were not.
    let made = Drops::default();
    let items: Vec<Counted> = (0..n).map(|_| made.one()).collect();
    let bomb = Bomb::after(at);
    boom(|| par::for_each(items, |_| bomb.tick()));
    assert_eq!(made.count(), n);

    let made = Drops::default();
    let items: Vec<Counted> = (0..n).map(|_| made.one()).collect();
    let bomb = Bomb::after(at);
    boom(|| {
        par::map((items, 0..n), |(item, _)| {
            bomb.tick();
            item
        })
    });
    assert_eq!(made.count(), n);

    let made = Drops::default();
    let bomb = Bomb::after(at);
    let op = |_: Option<Counted>, _| {
        bomb.tick();
        Some(made.one())
    };
    boom(|| par::map_reduce(0..n, || None, |_| Some(made.one()), op));
    assert_eq!(made.count(), made.made());
    let bomb = Bomb::after(at);
    boom(|| par::map_reduce(0..n, || (), |_| bomb.tick(), |(), ()| ()));
    let bomb = Bomb::after(at);
    boom(|| {
        par::find_any(0..n, |_| {
            bomb.tick();
            false
        })
    });
    let bomb = Bomb::after(0);
    boom(|| {
        par::reduce(
            (0..n).grain(n),
            || {
                bomb.tick();
                0
            },
            |a, b| a + b,
        )
    });
}

/// Errors end the same way as panics: created items are dropped.
// Proves: O9.
#[test]
fn failures_drop_what_was_made() {
    on_every_shape(|runtime| {
        for n in [1, 2, 65, 5_000] {
            for at in moments(n) {
                let made = Drops::default();
                let items: Vec<(usize, Counted)> =
                    (0..n).map(|i| (i, made.one())).collect();
                let outcome = runtime.run(|| {
                    par::try_map(items, |(i, item)| match i == at {
                        true => Err(std::io::Error::other("this one")),
                        false => Ok(item),
                    })
                });
                assert_eq!(
                    outcome.err().map(|e| e.to_string()).as_deref(),
                    Some("this one")
                );
                assert_eq!(made.count(), n);
            }
        }
    });
}

/// The rest of a vector after a successful search.
// Proves: O9.
#[test]
fn what_is_not_looked_at_is_dropped() {
    on_every_shape(|runtime| {
        let made = Drops::default();
        let items: Vec<(usize, Counted)> = (0..5_000).map(|i| (i, made.one())).collect();
        let found = runtime.run(|| par::find_any(items, |(i, _)| *i == 77));
        assert_eq!(made.count(), 4_999);
        assert_eq!(found.map(|(i, _)| i), Some(77));
        assert_eq!(made.count(), 5_000);
    });
}

/// After a panic in a comparison the slice has every item once.
// Proves: O9.
#[test]
fn a_sort_that_panics_loses_nothing() {
    on_every_shape(|runtime| {
        let mut numbers = Dice(3);
        let calls = [0, 1, 100, 9_999, 60_000, 100_000, 130_000];
        for calls in calls.map(scaled) {
            for stable in [false, true] {
                let made = Drops::default();
                let n = scaled(10_000);
                let mut items: Vec<(u64, Counted)> =
                    (0..n).map(|_| (numbers.next(), made.one())).collect();
                let mut expected: Vec<u64> = items.iter().map(|item| item.0).collect();
                expected.sort_unstable();
                let bomb = Bomb::after(calls);
                let compare = |a: &(u64, Counted), b: &(u64, Counted)| {
                    bomb.tick();
                    a.0.cmp(&b.0)
                };
                let result = runtime.run(|| {
                    catch_unwind(AssertUnwindSafe(|| match stable {
                        true => par::sort_by(&mut items, compare),
                        false => par::sort_unstable_by(&mut items, compare),
                    }))
                });
                // No sort uses fewer than one comparison for each item but one.
                assert!(result.is_err() || calls + 1 >= n, "{calls} of {n}");
                assert_eq!(made.count(), 0);
                let mut left: Vec<u64> = items.iter().map(|item| item.0).collect();
                left.sort_unstable();
                assert_eq!(left, expected);
                drop(items);
                assert_eq!(made.count(), n);
            }
        }
    });
}

/// An inconsistent order: any result or a panic, but every item once.
// Proves: O9.
#[test]
fn a_sort_by_chance_loses_nothing() {
    on_every_shape(|runtime| {
        for seed in 0..scaled(4) as u64 {
            let mut items: Vec<String> = (0..6_000).map(|n: u32| n.to_string()).collect();
            let mut expected = items.clone();
            expected.sort_unstable();
            let chance = std::sync::Mutex::new(Dice(seed));
            let compare = |_: &String, _: &String| match chance.lock().unwrap().below(3) {
                0 => Ordering::Less,
                1 => Ordering::Equal,
                _ => Ordering::Greater,
            };
            let _ = runtime.run(|| {
                catch_unwind(AssertUnwindSafe(|| par::sort_by(&mut items, compare)))
            });
            items.sort_unstable();
            assert_eq!(items, expected);
        }
    });
}
