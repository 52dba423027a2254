//! A fiber that joins its children one after the other is not resumed after each.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pirn::JoinHandle;

use crate::executor_kind::runtime;

/// Counts the fibers that have ended.
fn ending(ended: &Arc<AtomicUsize>) -> impl FnOnce() + Send + use<> {
    let ended = Arc::clone(ended);
    move || {
        ended.fetch_add(1, Ordering::SeqCst);
    }
}

/// A fiber with a hundred short children parks a few times, not a hundred times: its other children
/// run before it.
// Proves: B21.
#[test]
fn a_parent_of_many_parks_seldom() {
    const CHILDREN: u64 = 100;
    let runtime = runtime(1);
    let parks = || runtime.metrics().total.fiber_parks;
    let round = || {
        let before = parks();
        runtime.run(|| {
            let children: Vec<_> = (0..CHILDREN).map(|_| pirn::spawn(|| ())).collect();
            children.into_iter().for_each(|child| child.join().unwrap());
        });
        parks() - before
    };
    // A worker that waits for a processor believes that its fibers take long.
    let least = (0..50).map(|_| round()).min();
    assert!(least < Some(CHILDREN / 5), "{least:?} parks");
}

/// The joiner of the first of a hundred children waits for a few of the others, not for all.
// Proves: B21.
#[test]
fn a_joiner_waits_for_few_siblings() {
    let most = most_ended_before_a_join(|ended| {
        (0..100).map(|_| pirn::spawn(ending(ended))).collect()
    });
    // The last one, which is in the slot, the one that is joined, and sixteen more.
    assert!(most <= 18, "{most} had ended");
}

/// A joiner waits for one fiber of another spawn line at most.
// Proves: B21.
#[test]
fn a_joiner_waits_for_no_row_of_strangers() {
    let most = most_ended_before_a_join(|ended| {
        let mut all = vec![pirn::spawn(ending(ended))];
        all.extend((0..100).map(|_| pirn::spawn(ending(ended))));
        all
    });
    assert!(most <= 3, "{most} had ended");
}

/// A fiber that only starts and joins others does not keep a third one from running.
// Proves: B21.
#[test]
fn joins_without_end_starve_no_other() {
    const ROUNDS: usize = 10_000;
    let runtime = runtime(1);
    let yields = runtime.run(|| {
        let yields = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&yields);
        let yielding = pirn::spawn(move || {
            while pirn::cancel::check().is_ok() {
                count.fetch_add(1, Ordering::SeqCst);
                pirn::yield_now();
            }
        });
        while yields.load(Ordering::SeqCst) == 0 {
            pirn::yield_now();
        }
        for _ in 0..ROUNDS {
            let [first, second] = [(); 2].map(|()| pirn::spawn(|| ()));
            second.join().unwrap();
            first.join().unwrap();
        }
        yielding.cancel();
        yielding.join().unwrap();
        yields.load(Ordering::SeqCst)
    });
    assert!(yields > ROUNDS / 4, "{yields} yields in {ROUNDS} rounds");
}

/// Starts fibers and joins all, the first one first, often enough that their spawn lines are known.
/// Returns the most of them that had ended when the first join returned.
fn most_ended_before_a_join(
    start: fn(&Arc<AtomicUsize>) -> Vec<JoinHandle<()>>,
) -> usize {
    runtime(1).run(move || {
        let round = || {
            let ended = Arc::new(AtomicUsize::new(0));
            let mut fibers = start(&ended).into_iter();
            fibers.next().expect("the first").join().unwrap();
            let seen = ended.load(Ordering::SeqCst);
            fibers.for_each(|fiber| fiber.join().unwrap());
            seen
        };
        (0..200).map(|_| round()).max().expect("a round")
    })
}
