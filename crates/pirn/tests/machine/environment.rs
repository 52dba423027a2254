//! The environment: valid settings take effect, invalid ones are named in an error.

use std::sync::Arc;

use pirn::Runtime;
use pirn::runtime::Handle;

use crate::util::{apart, compute_until};

fn ends_well(name: &str, environment: &[(&str, &str)], part: impl FnOnce()) {
    if let Some(ended) = apart(name, environment, part) {
        assert!(
            ended.status.success(),
            "with {environment:?}: {}",
            ended.stderr
        );
    }
}

/// An invalid value makes `build` fail with an error that names it, and the default runtime panic
/// with the same text.
// Proves: P10.
#[test]
fn a_bad_value_is_named() {
    let bad = [
        ("PIRN_WORKERS", "none"),
        ("PIRN_WORKERS", ""),
        ("PIRN_WORKERS", "-1"),
        ("PIRN_WORKERS", "99999999999999999999"),
        ("PIRN_WORKERS", "5000"),
        ("PIRN_STACK_SIZE", "big"),
        ("PIRN_STACK_SIZE", ""),
        ("PIRN_STACK_SIZE", "12Q"),
        ("PIRN_STACK_SIZE", "K"),
        ("PIRN_STACK_SIZE", "1"),
        ("PIRN_STACK_SIZE", "99999999999G"),
        ("PIRN_STACK_SIZE", "é"),
        ("PIRN_SEED", "lucky"),
        ("PIRN_SEED", "-1"),
        ("PIRN_SEED", "99999999999999999999"),
        ("PIRN_DEADLOCK", "maybe"),
        ("PIRN_DEADLOCK", ""),
        ("PIRN_STATS", "yes"),
        ("PIRN_STATS", ""),
        ("PIRN_VERBOSE", "2"),
        ("PIRN_ASSERT", "on"),
        ("PIRN_LOG", "everything"),
        ("PIRN_LOG", "wake,"),
        ("PIRN_LOG", ""),
        ("PIRN_SLOW_FIBER", "0"),
        ("PIRN_SLOW_FIBER", "1s"),
        ("PIRN_SLOW_FIBER", "no"),
        ("PIRN_STALL_SIGNAL", "off"),
        ("PIRN_STALL_SIGNAL", ""),
        ("PIRN_TRACE", ""),
        ("PIRN_TRACE", "no-such-directory/file"),
        ("PIRN_IO_URING", "2"),
        ("PIRN_IO_URING", ""),
        ("PIRN_INSPECT", ""),
        ("PIRN_INSPECT", "no-such-directory/file"),
    ];
    for (variable, value) in bad {
        ends_well(
            "environment::a_bad_value_is_named",
            &[(variable, value)],
            || {
                let (variable, value) = std::env::vars()
                    .find(|(name, _)| bad.iter().any(|(variable, _)| name == variable))
                    .expect("set for this process");
                let error = Runtime::builder().build().expect_err("refused").to_string();
                assert!(
                    error.contains(&variable),
                    "`{error}` does not name {variable}"
                );
                assert!(
                    value.len() > 12 || error.contains(&value),
                    "`{error}` hides the value"
                );
                let raised = std::panic::catch_unwind(|| pirn::spawn(|| ()));
                let panic = raised.expect_err("refused");
                let said = panic.downcast_ref::<String>().expect("a message");
                assert!(said.contains(&error), "`{said}` is not `{error}`");
                let raised = std::panic::catch_unwind(|| pirn::run(|| ()));
                assert!(raised.is_err(), "again, not from a lock left behind");
            },
        );
    }
}

/// Without a runtime to run it, a closure is dropped before the panic propagates.
#[test]
fn no_runtime_no_leak() {
    let name = "environment::no_runtime_no_leak";
    ends_well(name, &[("PIRN_WORKERS", "none")], || {
        let captured = Arc::new(());
        let spawns: [fn(Arc<()>); 2] = [
            |held| _ = pirn::spawn(move || drop(held)),
            |held| _ = pirn::spawn::Builder::new().spawn(move || drop(held)),
        ];
        for spawn in spawns {
            let held = Arc::clone(&captured);
            let raised = std::panic::catch_unwind(|| spawn(held));
            assert!(raised.is_err(), "refused");
            assert_eq!(Arc::strong_count(&captured), 1, "the closure leaks");
        }
    });
}

/// A valid value is used; settings of the program take precedence.
// Proves: P10.
#[test]
fn good_values_are_used() {
    let set = [("PIRN_WORKERS", "3"), ("PIRN_STACK_SIZE", "8m")];
    ends_well("environment::good_values_are_used", &set, || {
        assert_eq!(Handle::current().metrics().workers.len(), 3);
        pirn::spawn(|| std::hint::black_box([1_u8; 3 << 20])[7])
            .join()
            .unwrap();
        let two = Runtime::builder()
            .workers(2)
            .stack_size(1 << 20)
            .build()
            .unwrap();
        assert_eq!(two.metrics().workers.len(), 2);
    });
}

/// Sizes may be given in bytes or in powers of 1024, with or without surrounding spaces.
#[test]
fn sizes_may_have_a_unit() {
    for size in ["131072", "128K", "128k", " 1M ", "1G"] {
        ends_well(
            "environment::sizes_may_have_a_unit",
            &[("PIRN_STACK_SIZE", size)],
            || {
                assert_eq!(pirn::spawn(|| 1).join().unwrap(), 1);
            },
        );
    }
}

/// Runs a few operations of each kind on the default runtime, and on another one that ends.
fn a_little() {
    pirn::run(|| {
        let (tx, rx) = pirn::channel::bounded(0);
        let sender = pirn::spawn(move || tx.send(1).unwrap());
        assert_eq!(rx.recv(), Ok(1));
        sender.join().unwrap();
        let sleeper = || pirn::sleep(std::time::Duration::from_millis(1)).unwrap();
        pirn::spawn(sleeper).join().unwrap();
    });
    drop(Runtime::builder().workers(1).name("other").build().unwrap());
}

/// Each variable has a visible effect, and 0 or its absence has none. (Workers and stacks:
/// above; the seed: `deterministic`; the trace: `trace`.)
// Proves: P10.
#[test]
fn each_variable_has_an_effect() {
    let name = "environment::each_variable_has_an_effect";
    let effects: [(&str, &str, &[&str]); 15] = [
        (
            "PIRN_STATS",
            "1",
            &[
                "counters of 'pirn'",
                "counters of 'other'",
                "spawned  ",
                "stacks of 'other': ",
                " bytes touched in the deepest of ",
            ],
        ),
        ("PIRN_STATS", "0", &[]),
        (
            "PIRN_VERBOSE",
            "1",
            &["'pirn' starts: ", "'other' ends: ", "'pirn' ends: "],
        ),
        ("PIRN_VERBOSE", "0", &[]),
        ("PIRN_ASSERT", "0", &[]),
        (
            "PIRN_LOG",
            "join",
            &["[join] pirn-", " has ended", "[join,park]", " waits (Join)"],
        ),
        ("PIRN_LOG", "wake", &["[wake] pirn-", " is woken"]),
        (
            "PIRN_LOG",
            "inject",
            &["[inject] pirn", " comes from outside"],
        ),
        ("PIRN_LOG", "chan", &["[chan] pirn-", " is enqueued ("]),
        ("PIRN_LOG", "park", &["[park] pirn-", " waits (Sleep)"]),
        ("PIRN_LOG", " park , wake ", &["[wake]", "[park]"]),
        ("PIRN_LOG", "all", &["[inject]", "[join]", "[wake]"]),
        ("PIRN_SLOW_FIBER", "60000", &[]),
        ("PIRN_SLOW_FIBER", "off", &[]),
        ("PIRN_STALL_SIGNAL", "0", &[]),
    ];
    for (variable, value, said) in effects {
        let Some(ended) = apart(name, &[(variable, value)], a_little) else {
            return;
        };
        assert!(
            ended.status.success(),
            "{variable}={value}: {}",
            ended.stderr
        );
        for text in said {
            let stderr = &ended.stderr;
            assert!(
                stderr.contains(text),
                "{variable}={value}: no `{text}`: {stderr}"
            );
        }
        let quiet = said.is_empty();
        assert!(
            !quiet || !ended.stderr.contains("pirn:"),
            "{}",
            ended.stderr
        );
    }
    let Some(ended) = apart(
        name,
        &[("PIRN_ASSERT", "1"), ("PIRN_VERBOSE", "1")],
        a_little,
    ) else {
        return;
    };
    assert!(ended.stderr.contains("assertions on"), "{}", ended.stderr);
}

/// The settings of a runtime that starts, as `PIRN_VERBOSE` reports them: those of the environment,
/// else the defaults.
// Proves: P5, P10.
#[test]
fn a_start_reports_the_settings() {
    let name = "environment::a_start_reports_the_settings";
    let set = [
        (None, "log nothing, stalls 100ms, assertions off"),
        (Some(("PIRN_WORKERS", "3")), "starts: 3 workers, "),
        (Some(("PIRN_STACK_SIZE", "192K")), "stacks of 192 KiB"),
        (Some(("PIRN_LOG", "wake,park")), "log wake,park, "),
        (Some(("PIRN_SLOW_FIBER", "70")), "stalls 70ms"),
        (Some(("PIRN_SLOW_FIBER", "off")), "stalls off"),
        (Some(("PIRN_ASSERT", "1")), "assertions on"),
    ];
    for (variable, text) in set {
        let environment: Vec<_> = [("PIRN_VERBOSE", "1")]
            .into_iter()
            .chain(variable)
            .collect();
        let part = || drop(Runtime::builder().build().unwrap());
        let Some(ended) = apart(name, &environment, part) else {
            return;
        };
        assert!(
            ended.stderr.contains(text),
            "{variable:?}: {}",
            ended.stderr
        );
    }
}

/// The monitor's category has lines when the monitor wakes a worker for a waiting fiber.
#[test]
fn the_monitor_says_what_it_does() {
    let name = "environment::the_monitor_says_what_it_does";
    let ended = apart(name, &[("PIRN_LOG", "sysmon")], || {
        let runtime = Runtime::builder().workers(2).build().unwrap();
        runtime.run(|| {
            while Handle::current().metrics().aged_wakes == 0 {
                // It waits in the next slot, from which other workers do not steal until it has
                // aged.
                let child = pirn::spawn(|| ());
                compute_until("the child runs elsewhere", || child.is_finished());
            }
        });
    });
    if let Some(ended) = ended {
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
        let woken = " is woken for work that has aged";
        let mut lines = ended.stderr.lines();
        let said = lines.find(|line| line.contains("[sysmon] ") && line.ends_with(woken));
        assert!(said.is_some(), "{}", ended.stderr);
    }
}

/// Settings of the program take precedence over every variable. (Of the deadlock: `trials`; the
/// seed: `deterministic`; the socket: `inspect_ends`; signals: `stalls`; files: `files_queued`.)
// Proves: P10.
#[test]
fn the_builder_wins() {
    let name = "environment::the_builder_wins";
    let directory = crate::util::Directory::new();
    let (own, other) = (directory.at("own"), directory.at("other"));
    let variables = [
        ("PIRN_STATS", "1"),
        ("PIRN_VERBOSE", "1"),
        ("PIRN_LOG", "all"),
        ("PIRN_SLOW_FIBER", "1"),
        ("PIRN_ASSERT", "1"),
        ("PIRN_WORKERS", "5"),
        ("PIRN_STACK_SIZE", "1M"),
        ("PIRN_TRACE", other.to_str().unwrap()),
        // For the part itself.
        ("PIRN_TEST_TRACE", own.to_str().unwrap()),
    ];
    let ended = apart(name, &variables, || {
        let builder = Runtime::builder()
            .workers(1)
            .stats_at_exit(false)
            .verbose(false)
            .trace(std::env::var_os("PIRN_TEST_TRACE").unwrap());
        let builder = builder.log(pirn::diag::LogMask::NONE).slow_fiber(None);
        builder.build().unwrap().run(|| ());
        eprintln!("now with a report");
        let builder = Runtime::builder().workers(2).stack_size(192 << 10);
        let builder = builder
            .log(pirn::diag::LogMask::PARK)
            .slow_fiber(Some(std::time::Duration::from_millis(70)))
            .assertions(false)
            .stats_at_exit(false)
            .trace(std::env::var_os("PIRN_TEST_TRACE").unwrap());
        drop(builder.build().unwrap());
    });
    let Some(ended) = ended else { return };
    assert!(ended.status.success(), "{}", ended.stderr);
    let (quiet, loud) = ended.stderr.split_once("now with a report").unwrap();
    assert!(!quiet.contains("pirn:"), "{}", ended.stderr);
    let settings = [
        "starts: 2 workers, ",
        "stacks of 192 KiB",
        "trace on, log park, stalls 70ms, assertions off",
    ];
    for text in settings {
        assert!(loud.contains(text), "no `{text}`: {}", ended.stderr);
    }
    assert_eq!(directory.names(), ["own"], "the trace");
}

/// The names of the categories, in both directions.
// Proves: P10.
#[test]
fn categories_have_names() {
    use pirn::diag::LogMask;
    assert_eq!("all".parse(), Ok(LogMask::ALL));
    assert_eq!(
        LogMask::ALL.to_string(),
        "join,wake,inject,chan,park,sysmon"
    );
    assert_eq!(LogMask::ALL.to_string().parse(), Ok(LogMask::ALL));
    assert!(LogMask::NONE.is_empty() && !LogMask::JOIN.intersects(LogMask::PARK));
    let said = "park,sleep".parse::<LogMask>().unwrap_err().to_string();
    assert!(
        said.contains("'sleep'") && said.contains("sysmon"),
        "{said}"
    );
}

/// A transition missing from the table of the state word ends the process: always in a debug
/// build or with the feature `diagnostics`, by request in a release build.
// Proves: F14, P8.
#[test]
#[expect(unsafe_code, reason = "breaks a fiber on purpose")]
fn an_illegal_transition_aborts() {
    let name = "environment::an_illegal_transition_aborts";
    let always = cfg!(any(debug_assertions, feature = "diagnostics"));
    for (asked, aborts) in [("0", always), ("1", true)] {
        let ended = apart(name, &[("PIRN_ASSERT", asked)], || {
            // A fiber's regular life, checked.
            pirn::run(|| pirn::spawn(pirn::yield_now).join().unwrap());
            pirn::spawn(|| {
                // SAFETY: the fiber yields once and ends; it is joined.
                unsafe { pirn::dev::break_running_fiber() };
                pirn::yield_now();
            })
            .join()
            .unwrap();
            // A joiner is notified before the worker has finished with the fiber.
            Handle::current().wait_idle().unwrap();
            std::process::exit(0);
        });
        let Some(ended) = ended else { return };
        assert_eq!(!ended.status.success(), aborts, "{asked}: {}", ended.stderr);
        let said = ended.stderr.contains("pirn: a fiber's state is broken: ");
        assert_eq!(said, aborts, "{asked}: {}", ended.stderr);
    }
}
