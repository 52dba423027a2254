//! Where calls park, and where not.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use pirn::runtime::Builder;
use pirn_hooks::{stats, within, without};

use crate::fixture::{on_one_worker, one_worker};

/// Returns whether a sleep lets another fiber of the thread run.
fn parks() -> bool {
    let other = pirn::spawn(|| ());
    thread::sleep(Duration::from_millis(1));
    let ran = other.is_finished();
    other.join().unwrap();
    ran
}

// Proves: T8.
#[test]
fn only_calls_within_park() {
    one_worker().run(|| {
        assert!(!parks());
        assert!(within(parks));
        assert!(!parks());
        within(|| {
            assert!(!without(parks));
            assert!(without(|| within(parks)));
            assert!(parks());
        });
    });
}

// Proves: T8.
#[test]
fn a_runtime_may_park_everywhere() {
    let builder = Builder::new().workers(1).hooks(true);
    builder.build().unwrap().run(|| {
        assert!(parks());
        assert!(!without(parks));
        assert!(without(|| within(parks)));
        assert!(pirn::spawn(parks).join().unwrap());
        assert!(parks());
    });
}

// Proves: T8.
#[test]
fn a_panic_leaves_the_region() {
    one_worker().run(|| {
        let panicked = catch_unwind(AssertUnwindSafe(|| within(|| panic!("expected"))));
        assert!(panicked.is_err());
        assert!(!parks());
    });
}

// Proves: T8.
#[test]
fn a_fiber_begins_outside() {
    on_one_worker(|| {
        assert!(!pirn::spawn(parks).join().unwrap());
    });
}

/// In a process of its own: no other test changes its counters.
// Proves: T8.
#[test]
fn a_plain_thread_is_not_affected() {
    const NAME: &str = "regions::a_plain_thread_is_not_affected";
    const PART: &str = "PIRN_TEST_PART";
    if std::env::var_os(PART).is_none() {
        let own = std::env::current_exe().unwrap();
        let ended = Command::new(own)
            .args(["--exact", NAME, "--test-threads=1"])
            .env(PART, NAME)
            .output()
            .unwrap();
        let stdout = String::from_utf8_lossy(&ended.stdout);
        assert!(stdout.contains("1 passed"), "{ended:?}");
        return;
    }
    let start = Instant::now();
    within(|| thread::sleep(Duration::from_millis(1)));
    assert!(start.elapsed() >= Duration::from_millis(1));
    for function in stats().functions {
        let counted = (function.calls, function.parked, function.blocked);
        assert_eq!(counted, (0, 0, 0), "{}", function.name);
    }
}

#[expect(unsafe_code, reason = "a promise about fibers")]
fn migrating(builder: Builder) -> Builder {
    // SAFETY: no fiber of these tests keeps anything of its thread.
    unsafe { builder.free_migration() }
}

// Proves: T8.
#[test]
fn fibers_that_migrate_are_refused() {
    let runtime = migrating(Builder::new().workers(1)).build().unwrap();
    let refused = runtime.spawn(|| within(|| ())).join();
    assert!(refused.unwrap_err().to_string().contains("free_migration"));

    let hooked = || Builder::new().workers(1).hooks(true);
    let refused = migrating(hooked()).build().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidInput);
    let said = "hooks is true and free_migration is set";
    assert!(refused.to_string().contains(said), "{refused}");
    // Fibers of a deterministic runtime do not migrate.
    let runtime = migrating(hooked().deterministic(7)).build().unwrap();
    assert!(runtime.run(parks));
}

// Proves: T11.
#[test]
fn a_report_names_the_call() {
    on_one_worker(|| {
        let (one, mut to) = std::io::pipe().unwrap();
        let number = one.as_raw_fd();
        let reader = pirn::spawn(move || within(|| (&one).read(&mut [0]).unwrap()));
        pirn::yield_now();
        let mut report = Vec::new();
        pirn::diag::dump(&mut report).unwrap();
        let report = String::from_utf8(report).unwrap();
        let call = format!("of `read` on descriptor {number}");
        assert!(report.contains(&call), "{report}");
        to.write_all(b"x").unwrap();
        assert_eq!(reader.join().unwrap(), 1);
    });
}
