//! The counters: each counts what its name says, and they are consistent with each other.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pirn::Runtime;
use pirn::channel;
use pirn::diag::Counters;

use crate::util::{compute_until, eventually, on_every_shape, scaled};

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

/// Invariants at any time, for any reader.
fn always(total: &Counters) {
    // A fiber that migrates has its park counted on one worker and its wake on another.
    if cfg!(not(pirn_free)) {
        assert!(total.fiber_wakes <= total.fiber_parks, "{total}");
    }
    assert!(total.remote_wakes <= total.fiber_wakes, "{total}");
    assert!(total.steals <= total.steal_attempts, "{total}");
}

/// At idle each spawned fiber has ended, and every wait was ended by one wake.
// Proves: P1.
#[test]
fn they_agree_when_nothing_runs() {
    on_every_shape(|runtime| {
        work(runtime);
        // A worker counts that it parks after the last fiber has ended.
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

/// And at any time in between, for as many reads as there is time for.
// Proves: P1.
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

/// One run in about 250 is timed: the average is close to the true one, and the longest run is
/// found.
// Proves: P1.
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
    assert!((200..=300).contains(&every), "one of {every} is timed");
    let average = total.run_average().expect("there are samples");
    assert!(average >= long / 2, "{average:?} on average");
    let longest = Duration::from_nanos(total.run_nanos_max);
    assert!(longest >= average, "{longest:?} at most");
}

/// A worker that spawns while another one sleeps checks whether its queue is worth a wake, and
/// counts the result each time: not, for one short fiber; worth it, for many.
// Proves: P9.
#[test]
#[cfg_attr(pirn_tsan, ignore = "threads take too long to fall asleep there")]
fn pressure_is_counted() {
    // The only other thread: it sleeps until the end, or is woken once.
    let builder = || Runtime::builder().workers(2).max_threads(2);
    let looks = |runtime: &Runtime| {
        let total = runtime.metrics().total;
        (total.surplus_found, total.surplus_missed)
    };
    // The other worker may be awake once; then this one need not check.
    let looked = (0..20).map(|_| {
        let runtime = builder().build().unwrap();
        runtime.run(|| pirn::spawn(|| ()).join().unwrap());
        looks(&runtime)
    });
    let looked: Vec<_> = looked.collect();
    let no_surplus = |(found, missed): &(u64, u64)| *found == 0 && *missed <= 1;
    assert!(looked.iter().all(no_surplus), "one fiber: {looked:?}");
    assert!(looked.contains(&(0, 1)), "one fiber is looked at");
    let mut looked = (0..20).map(|_| {
        let runtime = builder().build().unwrap();
        runtime.run(|| {
            // No other fiber runs here until this one has ended; its first spawns wake no worker.
            let all: Vec<_> = (0..200).map(|_| pirn::spawn(|| ())).collect();
            let (found, missed) = looks(&runtime);
            // This worker checks where it spawns one, the other where it starts a stolen one.
            assert!(
                found + missed <= 400,
                "{found} and {missed} looks for 200 fibers"
            );
            all.into_iter().for_each(|fiber| fiber.join().unwrap());
            (found, missed)
        })
    });
    assert!(
        looked.any(|(found, missed)| found > 0 && missed > 0),
        "both are found among many fibers"
    );
    assert_eq!(Counters::default().run_average(), None);
}

/// The text has the fibers that wait to start, both kinds of checks, wakes, and each reason for the
/// number of threads.
// Proves: P9.
#[test]
fn the_text_reports_pressure() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    work(&runtime);
    let text = runtime.metrics().to_string();
    let names = [
        "pressure",
        "surplus_found",
        "surplus_missed",
        "wakes",
        "scale_no_work",
        "scale_nonpositive",
        "scale_idle_capacity",
        "scale_not_stuck",
    ];
    for name in names {
        let mut lines = text.lines().map(|line| line.split_whitespace());
        let line =
            lines.find_map(|mut words| (words.next() == Some(name)).then_some(words));
        let value = line.and_then(|mut words| words.next());
        let value = value.unwrap_or_else(|| panic!("no {name}: {text}"));
        value.parse::<u64>().expect("a number");
    }
}

/// Every counter is in the text, by its name.
// Proves: P1.
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
// Proves: P1.
#[test]
#[cfg(feature = "prometheus")]
fn prometheus_can_read_them() {
    // No standby thread, which a busy machine would activate.
    let builder = Runtime::builder().workers(2).max_threads(2);
    let runtime = builder.build().unwrap();
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
            let kinds = ["counter", "gauge", "histogram"];
            assert!(kinds.contains(&kind), "{line}");
            assert!(typed.insert(name, kind).is_none(), "{name} twice");
        } else {
            let (series, value) = line.rsplit_once(' ').expect("a sample");
            let name = series.split('{').next().expect("a name");
            let parts = ["_bucket", "_sum", "_count"];
            let whole = parts.iter().find_map(|part| name.strip_suffix(part));
            if whole.is_some_and(|whole| typed.get(whole) == Some(&"histogram")) {
                value.parse::<f64>().expect("a number");
                continue;
            }
            assert!(typed.contains_key(name), "{line} has no type");
            *sums.entry(name).or_default() += value.parse::<u64>().expect("a number");
        }
    }
    assert_eq!(sums["pirn_spawned_total"], metrics.total.spawned);
    assert_eq!(sums["pirn_completed_total"], metrics.total.completed);
    assert_eq!(sums["pirn_workers"], 2);
    assert_eq!(typed["pirn_stall_seconds"], "histogram");
    assert!(
        text.contains("pirn_stall_seconds_bucket{le=\"+Inf\"} 0"),
        "{text}"
    );
}
