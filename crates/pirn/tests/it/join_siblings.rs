//! A fiber that joins its children one after the other is not resumed after each.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pirn::JoinHandle;
use pirn::runtime::{Runtime, Spread};

/// Counts the fibers that have ended.
fn ending(ended: &Arc<AtomicUsize>) -> impl FnOnce() + Send + use<> {
    let ended = Arc::clone(ended);
    move || {
        ended.fetch_add(1, Ordering::SeqCst);
    }
}

/// A fiber with a hundred short children parks a few times, not a hundred times: its other children
/// run before it.
///
/// Left out under sanitizers: there a short child can take 25 µs, half the cost of waking a worker, so
/// a row of siblings ends after one.
// Proves: B21.
#[test]
#[cfg(not(any(pirn_free, pirn_asan, pirn_tsan)))]
fn a_parent_of_many_parks_seldom() {
    const CHILDREN: u64 = 100;
    let runtime = runtime_without_spreading();
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
    assert!(least < Some(CHILDREN / 2), "{least:?} parks");
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

/// Trees of fibers that join their children do not put off a started fiber that is ready.
// Proves: B21.
#[test]
#[cfg(not(pirn_free))]
fn trees_of_joins_put_off_no_other() {
    let most = runtime_without_spreading().run(|| {
        let ended = Arc::new(AtomicUsize::new(0));
        let (seen, mut most) = (Arc::clone(&ended), 0);
        let yielding = pirn::spawn(move || {
            while pirn::cancel::check().is_ok() {
                let before = seen.load(Ordering::SeqCst);
                pirn::yield_now();
                most = most.max(seen.load(Ordering::SeqCst) - before);
            }
            most
        });
        // It has started by now.
        pirn::yield_now();
        // A tree of these fits into a ring.
        (0..200).for_each(|_| node(2, &ended).join().unwrap());
        yielding.cancel();
        yielding.join().unwrap()
    });
    assert!(most <= 10, "{most} fibers have ended in between");
}

/// Starts a fiber with ten children of this kind.
fn node(depth: u32, ended: &Arc<AtomicUsize>) -> JoinHandle<()> {
    let ended = Arc::clone(ended);
    pirn::spawn(move || {
        if depth > 0 {
            let children = [(); 10].map(|()| node(depth - 1, &ended));
            for child in children {
                child.join().unwrap();
            }
        }
        ended.fetch_add(1, Ordering::SeqCst);
    })
}

/// The lines of a runtime that spreads none are known from the start.
fn runtime_without_spreading() -> Runtime {
    let builder = Runtime::builder().workers(1).spread(Spread::Never);
    builder.build().expect("a runtime")
}

/// Starts fibers and joins all, the first one first. Returns the most of them that had ended when
/// the first join returned.
fn most_ended_before_a_join(
    start: fn(&Arc<AtomicUsize>) -> Vec<JoinHandle<()>>,
) -> usize {
    runtime_without_spreading().run(move || {
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
