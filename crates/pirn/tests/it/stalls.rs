//! Fibers that keep their worker while started fibers wait behind them are reported: which, why,
//! since when, how many wait, and the remedy; and no others are.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::exit;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use pirn::{Runtime, channel};

use crate::util::{Ended, apart, compute_until, eventually};

/// The fiber that keeps the worker.
const CULPRITS: [&str; 4] = ["compute", "sleep", "pipe", "lock"];

/// The fiber that waits behind it.
const VICTIMS: [&str; 5] = ["sleeper", "ready", "channel", "unpark", "socket"];

/// A stall must be reported within this time.
const BOUND: Duration = Duration::from_secs(1);

/// The variable with the setting of the program for signals, if it has one.
const SIGNAL: &str = "PIRN_TEST_SIGNAL";

/// The parameters that a test passes to the process that it starts.
fn case() -> Vec<String> {
    let case = std::env::var("PIRN_TEST_CASE").unwrap_or_default();
    case.split(' ').map(str::to_owned).collect()
}

/// Starts fibers that wait repeatedly, and returns once they do.
fn start_victims(runtime: &Runtime, victim: &str) {
    if victim == "nothing" {
        return;
    }
    let rounds = Arc::new(AtomicUsize::new(0));
    for _ in 0..3 {
        let (tx, rx) = channel::bounded::<()>(0);
        let (near, mut far) = UnixStream::pair().unwrap();
        let (kind, theirs) = (victim.to_owned(), Arc::clone(&rounds));
        let fiber = runtime.spawn(move || {
            let mut near = pirn::net::UnixStream::try_from(near).unwrap();
            loop {
                match &*kind {
                    "sleeper" => pirn::sleep(Duration::from_millis(1)).unwrap(),
                    "ready" => pirn::yield_now(),
                    "channel" => rx.recv().unwrap(),
                    "unpark" => pirn::park(),
                    "socket" => near.read_exact(&mut [0]).unwrap(),
                    other => panic!("{other}"),
                }
                theirs.fetch_add(1, Ordering::Relaxed);
            }
        });
        let kind = victim.to_owned();
        thread::spawn(move || {
            loop {
                thread::sleep(Duration::from_millis(1));
                match &*kind {
                    "channel" => _ = tx.send(()),
                    "unpark" => fiber.fiber().unpark(),
                    "socket" => far.write_all(&[1]).unwrap(),
                    _ => thread::park(),
                }
            }
        });
    }
    eventually("they run", || rounds.load(Ordering::Relaxed) > 30);
}

/// Starts `n` fibers that keep their workers until a stall has been noticed.
///
/// `forever`: the holder of the lock waits for an event that never occurs.
fn start_culprits(runtime: &Runtime, culprit: &str, n: usize, forever: bool) {
    let handle = runtime.handle();
    let noticed = move || handle.metrics().slow_fibers > 0;
    let lock = Arc::new(Mutex::new(()));
    if culprit == "lock" {
        let lock = Arc::clone(&lock);
        let (started, starts) = std::sync::mpsc::channel();
        runtime.spawn(move || {
            let _guard = lock.lock();
            started.send(()).unwrap();
            if forever {
                pirn::park();
            }
            // Until the others have queued.
            pirn::sleep(Duration::from_millis(100)).unwrap();
        });
        starts.recv().unwrap();
    }
    let (pipe, writer) = std::io::pipe().unwrap();
    // Held open: no data ever arrives.
    Box::leak(Box::new(writer));
    let pipe = Arc::new(pipe);
    for _ in 0..n {
        let (culprit, noticed) = (culprit.to_owned(), noticed.clone());
        let (lock, pipe) = (Arc::clone(&lock), Arc::clone(&pipe));
        runtime.spawn(move || match &*culprit {
            "compute" => grind_until(noticed),
            "sleep" => thread::sleep(Duration::from_secs(5)),
            "pipe" => _ = (&*pipe).read(&mut [0]).unwrap(),
            "lock" => drop(lock.lock()),
            other => panic!("{other}"),
        });
    }
}

/// The function that the report names.
#[inline(never)]
fn grind_until(noticed: impl Fn() -> bool) {
    // Nearly all the time is spent in few frames: the report shows a limited number.
    while !noticed() {
        (0..1_000_000_u32).for_each(|n| _ = std::hint::black_box(n));
    }
}

/// One stall, in a process of its own: a culprit of that kind `n` times, beside victims of that
/// kind.
#[track_caller]
fn stall(name: &str, workers: &str, culprit: &str, n: usize, victim: &str) -> bool {
    let case = format!("{culprit} {n} {victim}");
    let set = [("PIRN_WORKERS", workers), ("PIRN_TEST_CASE", &*case)];
    told(name, &set, culprit, victim).is_some()
}

/// Like [`stall`], with this environment; returns the standard error.
#[track_caller]
fn told(name: &str, set: &[(&str, &str)], culprit: &str, victim: &str) -> Option<String> {
    // What the fibers of a stuck worker own is lost at the exit.
    let leaks = (
        "ASAN_OPTIONS",
        "detect_leaks=0:detect_stack_use_after_return=0",
    );
    let set = [set, &[leaks]].concat();
    let ended = apart(name, &set, || {
        let [culprit, n, victim] = &case_of_three();
        let builder = Runtime::builder();
        let builder = match std::env::var(SIGNAL) {
            Ok(yes) => builder.stall_signal(yes == "1"),
            Err(_) => builder,
        };
        let runtime = builder.build().unwrap();
        start_victims(&runtime, victim);
        assert_eq!(runtime.metrics().slow_fibers, 0, "nothing stalls yet");
        let start = Instant::now();
        // A crowd may reach the worker of the lock's holder late, and the holder would end before.
        let forever = victim == "nothing" || n != "1";
        start_culprits(&runtime, culprit, n.parse().unwrap(), forever);
        while runtime.metrics().slow_fibers == 0 {
            assert!(start.elapsed() < 10 * BOUND, "nothing was noticed");
            thread::sleep(Duration::from_millis(1));
        }
        let took = start.elapsed();
        eprintln!("noticed after {} ms", took.as_millis());
        assert!(took < BOUND || victim == "nothing", "{took:?}");
        if std::env::var_os("PIRN_TEST_LINGERS").is_some() {
            // During the lookup of function names.
            thread::sleep(Duration::from_secs(3));
        }
        exit(0);
    });
    let ended = ended?;
    if victim != "nothing" {
        check(&ended, culprit);
    }
    Some(ended.stderr)
}

fn case_of_three() -> [String; 3] {
    case().try_into().expect("three words")
}

#[track_caller]
fn check(ended: &Ended, culprit: &str) {
    let said = &ended.stderr;
    assert!(ended.status.success(), "{culprit}: {said}");
    let mut lines = said.lines();
    let line = lines.find(|line| line.starts_with("pirn: fiber "));
    let line = line.unwrap_or_else(|| panic!("{culprit}: no report: {said}"));
    assert!(line.contains("(spawned at "), "{line}");
    assert!(line.contains("stalls.rs:"), "{line}");
    assert!(line.contains("has kept worker "), "{line}");
    assert!(
        line.contains("started fibers behind it: at least "),
        "{line}"
    );
    let waiting = line
        .split_once("at least ")
        .and_then(|(_, rest)| rest.split(',').next());
    let waiting: u32 = waiting.and_then(|n| n.parse().ok()).expect("a number");
    // Three victims, and a crowd of culprits at most.
    assert!((1..=3 + 64).contains(&waiting), "{line}");
    let (cause, remedy) = match culprit {
        "compute" => ("it computes", "pirn::par"),
        "lock" => ("it blocks its thread", "pirn::sync"),
        _ => ("it blocks its thread", "pirn::blocking"),
    };
    assert!(line.contains(cause), "{culprit}: {said}");
    let advice = lines.next().unwrap_or_default();
    assert!(advice.contains(remedy), "{culprit}: {said}");
}

/// A sleeper of 1 ms behind one fiber that keeps the only worker.
// Proves: P5.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_each_culprit_is_reported() {
    let name = "stalls::alone_each_culprit_is_reported";
    for culprit in CULPRITS {
        if !stall(name, "1", culprit, 1, "sleeper") {
            return;
        }
    }
}

/// A stall is detected in every kind of wait of the delayed fiber.
// Proves: P5.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_each_victim_is_seen() {
    let name = "stalls::alone_each_victim_is_seen";
    for victim in VICTIMS {
        for culprit in ["compute", "pipe"] {
            if !stall(name, "1", culprit, 1, victim) {
                return;
            }
        }
    }
}

/// Beside several culprits, on one worker and on two.
// Proves: P5.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_crowds_of_culprits_are_reported() {
    let name = "stalls::alone_crowds_of_culprits_are_reported";
    for workers in ["1", "2"] {
        for n in [2, 4, 64] {
            for culprit in CULPRITS {
                if !stall(name, workers, culprit, n, "sleeper") {
                    return;
                }
            }
        }
    }
}

/// A report contains where the fiber was: which system call, which functions.
// Proves: P5.
#[cfg(all(target_arch = "x86_64", not(any(pirn_asan, pirn_tsan))))]
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_a_report_has_frames() {
    let name = "stalls::alone_a_report_has_frames";
    for (culprit, function, call) in [
        ("compute", "grind_until", "computes"),
        ("sleep", "start_culprits", "nanosleep"),
        ("pipe", "start_culprits", "in read"),
    ] {
        let case = format!("{culprit} 1 sleeper");
        let set = [
            ("PIRN_WORKERS", "1"),
            ("PIRN_TEST_CASE", &*case),
            ("PIRN_TEST_LINGERS", "1"),
        ];
        let Some(said) = told(name, &set, culprit, "sleeper") else {
            return;
        };
        assert!(said.contains("pirn: where fiber "), "{culprit}: {said}");
        assert!(said.contains(function), "{culprit}: {said}");
        assert!(said.contains(call), "{culprit}: {said}");
    }
}

/// The report identifies a fiber that waits for a lock of std held by another fiber of the same
/// worker, also if no fiber is ready behind it.
// Proves: P5.
#[cfg(all(target_arch = "x86_64", not(any(pirn_asan, pirn_tsan))))]
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_a_lock_across_a_wait_is_named() {
    let name = "stalls::alone_a_lock_across_a_wait_is_named";
    for victim in ["sleeper", "nothing"] {
        let case = format!("lock 1 {victim}");
        let set = [
            ("PIRN_WORKERS", "1"),
            ("PIRN_TEST_CASE", &*case),
            ("PIRN_TEST_LINGERS", "1"),
        ];
        let Some(said) = told(name, &set, "lock", victim) else {
            return;
        };
        assert!(said.contains("waits for a lock, in "), "{victim}: {said}");
        assert!(
            said.contains("this worker cannot continue"),
            "{victim}: {said}"
        );
        assert!(said.contains("stalls.rs:"), "{victim}: {said}");
        assert!(said.contains("pirn::sync"), "{victim}: {said}");
    }
}

/// Without signals there is a report all the same, without the parts that only the thread can
/// supply. The setting of the program takes precedence over that of the environment.
// Proves: P5-quiet, P10.
#[cfg(not(any(pirn_asan, pirn_tsan)))]
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_signals_can_be_turned_off() {
    let name = "stalls::alone_signals_can_be_turned_off";
    let case = [
        ("PIRN_WORKERS", "1"),
        ("PIRN_TEST_CASE", "pipe 1 sleeper"),
        ("PIRN_TEST_LINGERS", "1"),
    ];
    for (environment, program, signals) in [
        ("0", None, false),
        ("1", Some("0"), false),
        ("0", Some("1"), true),
    ] {
        let mut set = case.to_vec();
        set.push(("PIRN_STALL_SIGNAL", environment));
        set.extend(program.map(|yes| (SIGNAL, yes)));
        let Some(said) = told(name, &set, "pipe", "sleeper") else {
            return;
        };
        let where_it_was = said.contains("pirn: where");
        // Only such threads can supply it.
        let expected = signals && cfg!(target_arch = "x86_64");
        assert_eq!(where_it_was, expected, "{environment} {program:?}: {said}");
    }
}

/// Reports can be turned off; then there is no check.
// Proves: P5-quiet.
#[test]
fn reports_can_be_turned_off() {
    let builder = Runtime::builder().workers(1).slow_fiber(None);
    let runtime = builder.build().unwrap();
    let sleeper = runtime.spawn(|| pirn::sleep(Duration::from_millis(10)).unwrap());
    eventually("it sleeps", || runtime.metrics().total.fiber_parks == 1);
    runtime.run(|| thread::sleep(Duration::from_millis(300)));
    sleeper.join().unwrap();
    assert_eq!(runtime.metrics().slow_fibers, 0);
}

/// A fiber that delays no other is not reported: one that computes or blocks alone, or beside
/// fibers that wait for an event that has not occurred.
// Proves: P5-quiet.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_a_fiber_that_holds_up_no_other_is_not_reported() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let (tx, rx) = channel::bounded::<()>(0);
    let waiting = runtime.spawn(move || rx.recv());
    let sleeper = runtime.spawn(|| pirn::sleep(Duration::from_secs(3600)));
    eventually("they wait", || runtime.metrics().total.fiber_parks == 2);
    let start = Instant::now();
    runtime.run(|| compute_until("time passes", || start.elapsed() > 3 * BOUND / 10));
    runtime.run(|| thread::sleep(7 * BOUND / 10));
    assert_eq!(runtime.metrics().slow_fibers, 0);
    drop(tx);
    let _ = waiting.join();
    sleeper.cancel();
    let _ = sleeper.join();
}

/// A stall's duration is counted when it has ended.
// Proves: P5-count.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_lengths_are_counted() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let sleeper = runtime.spawn(|| {
        for _ in 0..100 {
            pirn::sleep(Duration::from_millis(10)).unwrap();
        }
    });
    eventually("it sleeps", || runtime.metrics().total.fiber_parks > 0);
    runtime.run(|| thread::sleep(Duration::from_millis(600)));
    eventually("it is counted", || !runtime.metrics().stalled.is_zero());
    let metrics = runtime.metrics();
    assert_eq!(metrics.slow_fibers, 1);
    let filled = metrics
        .stall_delays
        .iter()
        .filter(|(_, stalls)| *stalls > 0);
    let bounds: Vec<_> = filled
        .map(|(bound, stalls)| (bound.as_millis(), *stalls))
        .collect();
    assert!(
        [[(1024, 1)], [(2048, 1)]].contains(&bounds[..].try_into().unwrap()),
        "{bounds:?}"
    );
    assert!(metrics.stalled > Duration::from_millis(500));
    sleeper.join().unwrap();
}
