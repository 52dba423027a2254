//! Properties, races, and atomics that are choices.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use pirn::sim::atomic::{AtomicBool, AtomicUsize, Ordering};
use pirn::sim::cell::Racy;
use pirn::sim::{always, reachable, sometimes};
use pirn::sync::Mutex;
use pirn_sim::{Verdict, campaign, eventually};

/// Runs `body` on two fibers, and waits for both.
fn twice(body: impl Fn() + Send + Sync + 'static) {
    let body = Arc::new(body);
    let other = Arc::clone(&body);
    let fibers = [pirn::spawn(move || body()), pirn::spawn(move || other())];
    fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
}

// Proves: U9.
#[test]
fn an_update_of_an_atomic_is_lost() {
    let failure = campaign().runs(100).find(|| {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        twice(move || {
            let before = counted.load(Ordering::SeqCst);
            counted.store(before + 1, Ordering::SeqCst);
        });
        assert_eq!(count.load(Ordering::SeqCst), 2);
    });
    assert!(matches!(failure.unwrap().verdict(), Verdict::Panic(_)));
}

// Proves: U9.
#[test]
fn no_update_is_lost_by_one_operation() {
    campaign().runs(300).check(|| {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        twice(move || _ = counted.fetch_add(1, Ordering::SeqCst));
        let add = |count| Some(count + 1);
        assert_eq!(
            count.fetch_update(Ordering::SeqCst, Ordering::SeqCst, add),
            Ok(2)
        );
    });
}

// Proves: U9.
#[test]
fn a_race_is_found_though_accesses_take_no_time() {
    let failure = campaign().runs(100).find(|| {
        let sum = Arc::new(Racy::new(0));
        twice(move || sum.with_mut(|sum| *sum += 1));
    });
    let failure = failure.unwrap().to_string();
    assert!(failure.contains("race: this write begins"), "{failure}");
    assert!(failure.contains("properties.rs"), "{failure}");
}

// Proves: U9.
#[test]
fn a_race_that_a_join_takes_is_found() {
    let failure = campaign().runs(100).find(|| {
        let cell = Arc::new(Racy::new(0));
        let set = || {
            let cell = Arc::clone(&cell);
            pirn::spawn(move || cell.set(1))
        };
        for fiber in [set(), set()] {
            drop(fiber.join());
        }
    });
    let failure = failure.unwrap();
    assert!(
        matches!(failure.verdict(), Verdict::Violated(_)),
        "{failure}"
    );
}

/// Another access has ended while the one at `line` is in progress.
// Proves: U9.
#[test]
fn a_race_names_the_access_in_progress() {
    let cell = Racy::new(0);
    let races = || {
        cell.with(|_| {
            let _ended = cell.get();
            cell.set(1);
        });
    };
    let line = line!() - 5;
    let caught = catch_unwind(AssertUnwindSafe(races)).unwrap_err();
    let text = caught.downcast_ref::<String>().unwrap();
    let place = format!("the access at crates/pirn-sim/tests/it/properties.rs:{line}:");
    assert!(text.contains(&place), "{text}");
    // Nothing is in progress any more.
    cell.set(2);
    assert_eq!(cell.get(), 2);
}

// Proves: U9.
#[test]
fn what_a_lock_orders_is_no_race() {
    campaign().runs(300).check(|| {
        let sum = Arc::new((Mutex::new(()), Racy::new(0)));
        let shared = Arc::clone(&sum);
        twice(move || {
            let _held = shared.0.lock();
            shared.1.set(shared.1.get() + 1);
        });
        assert_eq!(sum.1.get(), 2);
    });
}

// Proves: U9.
#[test]
fn reads_at_once_are_no_race() {
    campaign().runs(100).check(|| {
        let text = Arc::new(Racy::new("text"));
        twice(move || assert_eq!(text.get(), "text"));
    });
}

// Proves: U10.
#[test]
fn a_property_that_does_not_always_hold_fails_the_run() {
    let failure = campaign().runs(100).find(|| {
        let inside = Arc::new(AtomicUsize::new(0));
        twice(move || {
            let before = inside.fetch_add(1, Ordering::SeqCst);
            always!(before == 0, "alone", "{before} others");
            inside.fetch_sub(1, Ordering::SeqCst);
        });
    });
    let failure = failure.unwrap();
    let Verdict::Violated(property) = failure.verdict() else {
        panic!("{failure}");
    };
    assert!(
        property.starts_with("'alone' does not always hold"),
        "{property}"
    );
    assert!(property.ends_with("1 others"), "{property}");
    assert!(!failure.trace().is_canonical());
}

// Proves: U10.
#[test]
fn a_property_that_never_holds_fails_the_campaign() {
    let never = campaign().runs(50).find(|| {
        let flag = AtomicBool::new(false);
        sometimes!(flag.load(Ordering::SeqCst), "set");
    });
    let never = never.unwrap().to_string();
    assert!(
        never.contains("in no run of the campaign: 'set' ("),
        "{never}"
    );
    let unknown = campaign()
        .runs(50)
        .reaches("elsewhere")
        .find(|| reachable!("here"));
    let unknown = unknown.unwrap().to_string();
    assert!(
        unknown.contains("'elsewhere', which was never evaluated"),
        "{unknown}"
    );
}

// Proves: U10.
#[test]
fn a_property_that_holds_in_one_order_passes() {
    campaign().runs(200).reaches("second").check(|| {
        let turn = Arc::new(AtomicUsize::new(0));
        let taken = Arc::clone(&turn);
        let other = pirn::spawn(move || taken.fetch_add(1, Ordering::SeqCst));
        let own = turn.fetch_add(1, Ordering::SeqCst);
        sometimes!(own == 1, "second");
        sometimes!(own == 0, "first");
        other.join().unwrap();
    });
}

// Proves: U10.
#[test]
fn what_never_happens_does_not_happen_eventually() {
    let failure = campaign().runs(10).find(|| {
        eventually(Duration::from_secs(3600), || false);
    });
    let failure = failure.unwrap().to_string();
    assert!(failure.contains("does not hold after 3600s"), "{failure}");
}
