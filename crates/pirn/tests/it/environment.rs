//! The environment: what it asks for is done, what cannot be used is named.

use std::sync::Arc;

use pirn::Runtime;
use pirn::runtime::Handle;

use crate::rig::apart;

fn ends_well(name: &str, environment: &[(&str, &str)], part: impl FnOnce()) {
    if let Some(ended) = apart(name, environment, part) {
        assert!(
            ended.status.success(),
            "with {environment:?}: {}",
            ended.stderr
        );
    }
}

/// A value that cannot be used makes `build` fail with an error that names it, and the
/// default runtime panic with the same text.
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

/// When there is no runtime to run a closure, it is dropped before the panic goes on.
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

/// A value that can be used is; what the program sets itself wins.
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

/// Sizes may be given in bytes or in powers of 1024, with or without spaces around.
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
