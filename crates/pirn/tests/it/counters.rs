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
        eventually("all workers sleep", || {
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
    let begin = Instant::now();
    let (mut laps, last) = runtime.run(|| {
        let mut laps = Vec::with_capacity(rounds + 1);
        let mut lap = begin;
        for _ in 0..rounds {
            let start = Instant::now();
            compute_until("some time passes", || start.elapsed() >= long);
            pirn::yield_now();
            let now = Instant::now();
            laps.push(now - lap);
            lap = now;
        }
        (laps, lap)
    });
    laps.push(last.elapsed());
    let total = runtime.metrics().total;
    let samples = total.run_samples.max(1);
    let every = total.dispatched / samples;
    assert!((200..=300).contains(&every), "one of {every} is timed");
    let average = total.run_average().expect("there are samples");
    assert!(average >= long / 2, "{average:?} on average");
    let longest = Duration::from_nanos(total.run_nanos_max);
    assert!(longest >= average, "{longest:?} at most");
    // A run lies within two laps, and on a busy machine the timed ones may be the longest.
    laps.sort_unstable();
    assert!(longest <= 2 * laps[rounds], "{longest:?} at most");
    let sum: Duration = laps.iter().rev().take(samples as usize).sum();
    let most = 2 * sum / samples as u32;
    assert!(average <= most, "{average:?} on average, not {most:?}");
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

/// The same for Prometheus: each line is a help, a type or a sample, and the samples of a counter
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
    let text = prometheus(&metrics);
    let mut typed = std::collections::HashMap::new();
    let mut sums = std::collections::HashMap::<_, f64>::new();
    for line in text.lines().filter(|line| !line.starts_with("# HELP ")) {
        if let Some(of) = line.strip_prefix("# TYPE ") {
            let (name, kind) = of.split_once(' ').expect("a name and a type");
            let kinds = ["counter", "gauge", "histogram"];
            assert!(kinds.contains(&kind), "{line}");
            assert!(typed.insert(name, kind).is_none(), "{name} twice");
        } else {
            let (series, value) = line.rsplit_once(' ').expect("a sample");
            let name = series.split('{').next().expect("a name");
            let value: f64 = value.parse().expect("a number");
            let parts = ["_bucket", "_sum", "_count"];
            let whole = parts.iter().find_map(|part| name.strip_suffix(part));
            if whole.is_some_and(|whole| typed.get(whole) == Some(&"histogram")) {
                continue;
            }
            assert!(typed.contains_key(name), "{line} has no type");
            *sums.entry(name).or_default() += value;
        }
    }
    let total = &metrics.total;
    assert_eq!(sums["pirn_spawned_total"], total.spawned as f64);
    assert_eq!(sums["pirn_completed_total"], total.completed as f64);
    assert_eq!(sums["pirn_workers"], 2.0);
    let seconds = Duration::from_nanos(total.run_nanos).as_secs_f64();
    let difference = sums["pirn_run_seconds_total"] - seconds;
    assert!(difference.abs() < 1e-9, "{difference} s too many");
    assert_eq!(typed["pirn_stall_seconds"], "histogram");
    assert!(
        text.contains("pirn_stall_seconds_bucket{le=\"+Inf\"} 0"),
        "{text}"
    );
}

/// Live and unstarted fibers are exported as gauges.
// Proves: P1.
#[test]
#[cfg(feature = "prometheus")]
fn prometheus_exports_live_fibers() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let text = runtime.run(|| {
        let waiting = pirn::spawn(pirn::park);
        pirn::yield_now();
        let fresh = [(); 2].map(|()| pirn::spawn(|| ()));
        let text = prometheus(&runtime.metrics());
        waiting.fiber().unpark();
        drop((waiting, fresh));
        text
    });
    assert!(text.contains("\npirn_fibers 4\n"), "{text}");
    assert!(text.contains("\npirn_unstarted_fibers 2\n"), "{text}");
}

/// Every series has a line of help before its type, and a name that ends in its unit.
// Proves: P1.
#[test]
#[cfg(feature = "prometheus")]
fn prometheus_knows_what_they_are() {
    /// Numbers of things that go up and down.
    const NUMBERS: [&str; 4] = [
        "pirn_workers",
        "pirn_fibers",
        "pirn_unstarted_fibers",
        "pirn_waiting_for_stack",
    ];
    let runtime = Runtime::builder().workers(2).build().unwrap();
    work(&runtime);
    let metrics = runtime.metrics();
    let text = prometheus(&metrics);
    let lines: Vec<&str> = text.lines().collect();
    let is_sample = |line: &&&str| !line.starts_with('#');
    let helps = lines.iter().filter(|it| it.starts_with("# HELP "));
    let types = lines.iter().filter(|it| it.starts_with("# TYPE "));
    assert_eq!(helps.count(), types.count());
    let mut series = 0;
    for (at, line) in lines.iter().enumerate() {
        let Some((name, kind)) = line
            .strip_prefix("# TYPE ")
            .and_then(|of| of.split_once(' '))
        else {
            continue;
        };
        series += 1;
        let help = lines[at - 1].strip_prefix("# HELP ");
        let help = help.and_then(|of| of.split_once(' '));
        let (of, help) = help.unwrap_or_else(|| panic!("{name} has no help"));
        assert_eq!(of, name);
        assert!(help.ends_with('.') && !help.contains('\\'), "{help}");
        let first = lines.get(at + 1).filter(is_sample);
        assert!(first.is_some_and(|it| it.starts_with(name)), "of {name}");

        let is_time = help.contains("seconds");
        let ends = match (kind, is_time) {
            ("counter", true) => name.ends_with("_seconds_total"),
            ("counter", false) => {
                name.ends_with("_total") && !name.ends_with("_seconds_total")
            }
            ("gauge", false) if help.contains("bytes") => name.ends_with("_bytes"),
            ("gauge", false) => NUMBERS.contains(&name),
            _ => name.ends_with("_seconds"),
        };
        assert!(ends, "{name} is a {kind}: {help}");
        for part in name.split('_') {
            let units = ["nanos", "micros", "millis", "ms", "ns", "kib"];
            assert!(!units.contains(&part), "{name} has another unit");
        }
    }
    // Seven of them belong to the runtime as a whole.
    let counters = metrics.total.to_string().lines().count();
    assert_eq!(series, counters + 7, "{text}");
}

#[cfg(feature = "prometheus")]
fn prometheus(metrics: &pirn::diag::Metrics) -> String {
    let mut text = Vec::new();
    metrics.prometheus(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}
