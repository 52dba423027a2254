//! An idle process is idle: none of its threads wakes up, though all workers have run and a
//! thousand fibers wait. In a binary of its own, since it watches every thread of the process.
#![cfg(not(any(loom, shuttle, pirn_asan, pirn_tsan)))]
#![allow(clippy::disallowed_methods, reason = "watches from a plain thread")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pirn::channel;
use pirn::diag::LogMask;
use pirn::runtime::{Builder, Runtime, Scheduler};

const PART: &str = "PIRN_TEST_PART";

/// Context switches of every thread of this process but the calling one, by thread.
fn switches() -> BTreeMap<String, u64> {
    let own = fs::read_link("/proc/thread-self").expect("is there");
    let own = own
        .file_name()
        .expect("a number")
        .to_string_lossy()
        .into_owned();
    let mut all = BTreeMap::new();
    for task in fs::read_dir("/proc/self/task").expect("is there").flatten() {
        let id = task.file_name().to_string_lossy().into_owned();
        // A thread may have ended meanwhile.
        let Ok(status) = fs::read_to_string(task.path().join("status")) else {
            continue;
        };
        let number =
            |line: &str| line.rsplit(char::is_whitespace).next()?.parse::<u64>().ok();
        let counts = status.lines().filter(|line| line.contains("ctxt_switches"));
        if id != own {
            let name = status
                .lines()
                .next()
                .unwrap_or_default()
                .replace("Name:\t", "");
            all.insert(format!("{name} ({id})"), counts.filter_map(number).sum());
        }
    }
    all
}

/// Runs a million fibers on every worker, parks a thousand, and watches for `length`.
fn watch(builder: Builder, workers: usize, length: Duration) {
    // The name of its threads: other runtimes of the process may have left some.
    let builder = builder.name(format!("w{workers}"));
    let runtime = builder.workers(workers).build();
    let runtime = runtime.expect("a runtime starts");
    let arrived = AtomicUsize::new(0);
    let arrived = &arrived;
    // Every worker starts: each of these fibers keeps its thread until all have arrived.
    runtime.scope(|s| {
        for _ in 0..workers {
            s.spawn(move || {
                arrived.fetch_add(1, Ordering::SeqCst);
                while arrived.load(Ordering::SeqCst) < workers {
                    std::thread::sleep(Duration::from_micros(100));
                }
            });
        }
    });
    for _ in 0..1_000 {
        runtime.scope(|s| {
            for _ in 0..1_000 {
                s.spawn(|| ());
            }
        });
    }
    let (tx, rx) = channel::bounded::<()>(0);
    let rx = Arc::new(rx);
    for i in 0..1_000 {
        let rx = Arc::clone(&rx);
        runtime.spawn(move || match i % 3 {
            0 => assert!(rx.recv().is_err()),
            1 => drop(pirn::sleep(Duration::MAX)),
            _ => pirn::park(),
        });
    }
    let total = 1_001_000 + workers as u64;
    let start = Instant::now();
    while runtime.metrics().total.started < total {
        assert!(start.elapsed() < Duration::from_secs(60), "they start");
        std::thread::sleep(Duration::from_millis(1));
    }
    // The workers have stopped spinning by then. The deadlock detector has checked twice without
    // seeing any progress, a second apart, which wakes the workers; after that the monitor stays
    // awake for a second.
    std::thread::sleep(Duration::from_secs(8));
    // On a busy machine the monitor parks later: three checks.
    let look = |_| {
        let before = switches();
        std::thread::sleep(length);
        (before, switches())
    };
    let looks: Vec<_> = (0..3).map(look).take_while(|(b, a)| b != a).collect();
    if looks.len() == 3 {
        // A panic would wait for fibers that park indefinitely.
        eprintln!(
            "threads were awake in {length:?} of idleness, before and after: {looks:?}"
        );
        std::process::exit(1);
    }
    has_only_its_threads(&runtime, &format!("w{workers}-"), workers);
    drop(tx);
    runtime
        .shutdown(Duration::from_millis(50))
        .expect_err("a third parks for good");
}

/// Waits until the runtime, called `name`, has a thread for each worker, for each standby worker on
/// which fibers have started, and none else. Those that a delayed worker has needed end before.
/// Where fibers may migrate, a standby worker stays only for a timer.
fn has_only_its_threads(runtime: &Runtime, name: &str, workers: usize) {
    let start = Instant::now();
    loop {
        let standby: BTreeSet<_> = runtime.fibers().iter().map(|it| it.worker).collect();
        let standby = standby.into_iter().filter(|worker| *worker >= workers);
        let most = workers + standby.count();
        let least = if cfg!(pirn_free) { workers } else { most };
        let ours = switches().into_keys().filter_map(|thread| {
            let role = thread.strip_prefix(name)?;
            Some(role.split(' ').next().unwrap_or_default().to_owned())
        });
        let ours: Vec<String> = ours.collect();
        let services = ["monitor", "inspect"];
        let others = ours
            .iter()
            .filter(|role| !services.contains(&role.as_str()));
        if (least..=most).contains(&others.count()) {
            return;
        }
        if start.elapsed() > Duration::from_secs(40) {
            // As above.
            eprintln!("{least} to {most} threads are needed: {ours:?}");
            std::process::exit(1);
        }
        // A report wakes a standby worker, which then stays for as long as before.
        std::thread::sleep(Duration::from_secs(5));
    }
}

fn apart(name: &str, part: impl FnOnce()) {
    if std::env::var_os(PART).is_some() {
        part();
        // Fibers that park indefinitely are left behind.
        std::process::exit(0);
    }
    let mut child = Command::new(std::env::current_exe().expect("this binary"));
    child
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .env(PART, "1");
    let ended = child.output().expect("a process starts");
    assert!(
        ended.status.success(),
        "{}",
        String::from_utf8_lossy(&ended.stderr)
    );
    // It exits before it could say that the test has passed.
    let stdout = String::from_utf8_lossy(&ended.stdout);
    assert!(stdout.contains("running 1 test"), "{stdout}");
}

/// R7. With all workers started, a million fibers run and a thousand parked, no thread
/// of the process switches context for ten seconds.
// Proves: C8, E5.
#[test]
fn an_idle_process_stays_idle() {
    apart("an_idle_process_stays_idle", || {
        watch(Runtime::builder(), 4, Duration::from_secs(10));
    });
}

/// The same with the other scheduler, and with a single worker, for a shorter while.
// Proves: E5, R7.
#[test]
fn any_idle_process_stays_idle() {
    apart("any_idle_process_stays_idle", || {
        let single = Runtime::builder().scheduler(Scheduler::SingleQueue);
        watch(single, 3, Duration::from_secs(2));
        watch(Runtime::builder(), 1, Duration::from_secs(2));
    });
}

/// The same with every kind of observation on.
// Proves: P5-quiet, P15.
#[test]
fn a_watched_process_stays_idle() {
    apart("a_watched_process_stays_idle", || {
        for workers in [1, 4] {
            let trace = format!("{}/idle-{workers}.json", env!("CARGO_TARGET_TMPDIR"));
            let builder = Runtime::builder().trace(trace).stats_at_exit(true);
            let socket = std::env::temp_dir();
            let socket = socket.join(format!("pirn-idle-{}", std::process::id()));
            let builder = builder.inspect(socket);
            let builder = builder.slow_fiber(Some(Duration::from_millis(500)));
            watch(
                builder.log(LogMask::SYSMON),
                workers,
                Duration::from_secs(3),
            );
        }
    });
}

/// A fiber that blocks its thread in the first half of a join cannot be asked for the second one:
/// the monitor checks it now and then, not at every beat.
// Proves: E5.
#[test]
fn a_joiner_that_blocks_is_left_alone() {
    fn nest(depth: u32, block: &(impl Fn() + Sync)) {
        match depth {
            0 => block(),
            // Some are given to the other worker, until it has stopped asking.
            _ => drop(pirn::par::join(|| nest(depth - 1, block), || ())),
        }
    }
    apart("a_joiner_that_blocks_is_left_alone", || {
        let runtime = Runtime::builder().workers(2).build();
        let runtime = runtime.expect("a runtime starts");
        let block = || {
            // The monitor has parked by then, and the other worker sleeps.
            std::thread::sleep(Duration::from_millis(500));
            let (start, before) = (Instant::now(), looks());
            std::thread::sleep(Duration::from_secs(1));
            let looks = looks() - before;
            let most = 100 + start.elapsed().as_millis() / 5;
            assert!(u128::from(looks) < most, "{looks} looks");
        };
        runtime.run(|| nest(50, &block));
        let spawned = runtime.metrics().total.spawned;
        assert!(spawned < 50, "all halves were given away");
    });
}

/// How often monitors have parked.
fn looks() -> u64 {
    let threads = switches().into_iter();
    let monitors = threads.filter(|(name, _)| name.contains("monitor"));
    monitors.map(|(_, switches)| switches).sum()
}
