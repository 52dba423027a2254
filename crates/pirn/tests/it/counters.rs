//! The counters: each counts what it says, and they agree with each other.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pirn::Runtime;
use pirn::channel;
use pirn::diag::Counters;

use crate::rig::{compute_until, eventually, on_every_shape, scaled};

/// Fibers that wait for each other, yield, spawn more than a ring holds.
fn work(runtime: &Runtime) {
    runtime.scope(|s| {
        let (tx, rx) = channel::bounded(1);
        for _ in 0..4 {
            let tx = tx.clone();
            s.spawn(move || {
                for n in 0..scaled(200) {
                    tx.send(n).unwrap();
                    pirn::yield_now();
                }
            });
        }
        drop(tx);
        s.spawn(move || rx.iter().count());
        s.spawn(|| {
            for _ in 0..scaled(2_000) {
                drop(pirn::spawn(|| ()));
            }
        });
    });
    runtime.wait_idle().unwrap();
}

/// What holds at any time, whoever looks.
fn always(total: &Counters) {
    // A fiber that migrates has its park counted on one worker and its wake on another.
    if cfg!(not(pirn_free)) {
        assert!(total.fiber_wakes <= total.fiber_parks, "{total}");
    }
    assert!(total.remote_wakes <= total.fiber_wakes, "{total}");
    assert!(total.steals <= total.steal_attempts, "{total}");
}

/// P1. At idle what was spawned has ended, and every wait was ended by one wake.
#[test]
fn they_agree_when_nothing_runs() {
    on_every_shape(|runtime| {
        work(runtime);
        // A worker counts its own way to sleep after the last fiber has ended.
        eventually("everybody sleeps", || {
            let total = runtime.metrics().total;
            total.spawned == total.completed && total.unparks <= total.wakes
        });
        let total = runtime.metrics().total;
        always(&total);
        assert_eq!(total.spawned, total.completed);
        assert_eq!(total.started, total.completed);
        assert_eq!(total.fiber_parks, total.fiber_wakes);
        assert!(total.next_hits <= total.dispatched);
        assert!(total.started + total.fiber_parks <= total.dispatched);
        assert!(total.steals <= total.stolen);
        assert_eq!(total.rescues, 0);
        assert!(total.fiber_parks > 0);
    });
}

/// P1. And at any time in between, for as many looks as there is time for.
#[test]
fn they_never_contradict_each_other() {
    for workers in [1, 2, 4] {
        let runtime = Runtime::builder().workers(workers).build().unwrap();
        let over = Arc::new(AtomicBool::new(false));
        let (handle, done) = (runtime.handle(), Arc::clone(&over));
        let looks = std::thread::spawn(move || {
            let mut last = Counters::default();
            let mut looks = 0;
            while !done.load(Ordering::Relaxed) {
                let metrics = handle.metrics();
                always(&metrics.total);
                if cfg!(not(pirn_free)) {
                    for worker in &metrics.workers {
                        always(&worker.counters);
                    }
                }
                assert!(last.dispatched <= metrics.total.dispatched, "counts back");
                last = metrics.total;
                looks += 1;
            }
            looks
        });
        for _ in 0..scaled(20) {
            work(&runtime);
        }
        over.store(true, Ordering::Relaxed);
        assert!(looks.join().expect("no contradiction") > 0);
    }
}

/// P1. One run in about 250 is timed: the average is not far from what it is, and the longest
/// is found.
#[test]
fn runs_are_timed_by_samples() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let rounds = 6_400;
    let long = Duration::from_micros(50);
    runtime.run(|| {
        for _ in 0..rounds {
            let start = Instant::now();
            compute_until("some time passes", || start.elapsed() >= long);
            pirn::yield_now();
        }
    });
    let total = runtime.metrics().total;
    let every = total.dispatched / total.run_samples.max(1);
    assert!((200..=1000).contains(&every), "one of {every} is timed");
    let average = total.run_average().expect("there are samples");
    assert!(average >= long / 2, "{average:?} on average");
    let longest = Duration::from_nanos(total.run_nanos_max);
    assert!(longest >= average, "{longest:?} at most");
}

/// P9. Whoever looks at its queue and finds it worth a wake, or not, counts that.
#[test]
fn pressure_is_counted() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    eventually("surplus is found and missed", || {
        work(&runtime);
        let total = runtime.metrics().total;
        total.surplus_found + total.surplus_missed > 0
    });
    assert_eq!(Counters::default().run_average(), None);
}

/// Every counter is in the text, by its name.
#[test]
fn the_text_has_all_of_them() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    work(&runtime);
    let metrics = runtime.metrics();
    let text = metrics.to_string();
    for name in ["spawned", "fiber_parks", "run_nanos_max", "aged_wakes"] {
        assert!(text.lines().any(|line| line.starts_with(name)), "{text}");
    }
    let spawned = format!("{:<24}{}", "spawned", metrics.total.spawned);
    assert!(text.lines().any(|line| line == spawned), "{text}");
}

/// The same for Prometheus: each line is a type or a sample, and the samples of a counter
/// add up to the total.
#[test]
#[cfg(feature = "prometheus")]
fn prometheus_can_read_them() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    work(&runtime);
    let metrics = runtime.metrics();
    let mut out = Vec::new();
    metrics.prometheus(&mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let mut typed = std::collections::HashMap::new();
    let mut sums = std::collections::HashMap::<_, u64>::new();
    for line in text.lines() {
        if let Some(of) = line.strip_prefix("# TYPE ") {
            let (name, kind) = of.split_once(' ').expect("a name and a type");
            assert!(["counter", "gauge"].contains(&kind), "{line}");
            assert!(typed.insert(name, kind).is_none(), "{name} twice");
        } else {
            let (series, value) = line.rsplit_once(' ').expect("a sample");
            let name = series.split('{').next().expect("a name");
            assert!(typed.contains_key(name), "{line} has no type");
            *sums.entry(name).or_default() += value.parse::<u64>().expect("a number");
        }
    }
    assert_eq!(sums["pirn_spawned_total"], metrics.total.spawned);
    assert_eq!(sums["pirn_completed_total"], metrics.total.completed);
    assert_eq!(sums["pirn_workers"], 2);
}
