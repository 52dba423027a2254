//! The attributes `main` and `test`: which runtime the body has, and how its result is reported.

use std::error::Error;
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pirn::runtime::{Builder, Handle};
use pirn::time::now;
use pirn::{sleep, yield_now};

use crate::util::{Ended, apart, eventually};

/// Returns true in the process that [`apart`] has started for the test of this name.
fn is_asked(name: &str) -> bool {
    std::env::var_os("PIRN_TEST_PART").is_some_and(|is| is == name)
}

/// Runs the test `name`, which fails if it is asked to, in a process of its own.
fn failed(name: &str) -> Ended {
    let ended = apart(name, &[], || unreachable!("that process runs another test"));
    let ended = ended.expect("this process is another one");
    assert!(!ended.status.success(), "{}", ended.stderr);
    ended
}

/// Returns the numbers of sixteen fibers in the order in which they ran.
fn order() -> Vec<usize> {
    let (tx, rx) = pirn::channel::unbounded();
    for n in 0..16 {
        let tx = tx.clone();
        pirn::spawn(move || tx.send(n).unwrap());
    }
    drop(tx);
    rx.iter().collect()
}

static RAN: AtomicBool = AtomicBool::new(false);
static LEFT_ENDED: AtomicBool = AtomicBool::new(false);

mod plain {
    #[pirn::main]
    pub(super) fn main() {
        let current = super::Handle::try_current().expect("this is a fiber");
        let default = std::thread::spawn(super::Handle::current).join().unwrap();
        assert_eq!(current.workers(), default.workers());
        super::RAN.store(true, super::Ordering::Relaxed);
    }
}

#[test]
fn main_without_options_runs_on_the_default_runtime() {
    assert!(Handle::try_current().is_none());
    assert_eq!(plain::main(), ExitCode::SUCCESS);
    assert!(RAN.load(Ordering::Relaxed));
    assert!(Handle::try_current().is_none());
}

mod configured {
    use super::*;

    #[pirn::main(workers = 3, max_threads = 3, stack_size = 1_048_576, name = "macro")]
    pub(super) fn main() -> Result<(), Box<dyn Error>> {
        assert_eq!(Handle::current().workers(), 3);
        let thread = std::thread::current();
        assert!(thread.name().is_some_and(|name| name.starts_with("macro-")));
        // More than the 256 KiB of the default.
        let bytes = [1_u8; 400 << 10];
        assert_eq!(
            std::hint::black_box(&bytes)
                .iter()
                .filter(|&&byte| byte == 1)
                .count(),
            400 << 10
        );
        // The body itself may keep what is not `Send`.
        let seven = Rc::new("7".parse::<u32>()?);
        yield_now();
        assert_eq!(*seven, 7);
        pirn::spawn(|| {
            sleep(Duration::from_millis(20)).unwrap();
            LEFT_ENDED.store(true, Ordering::Relaxed);
        });
        Ok(())
    }
}

#[test]
fn main_with_options_has_a_runtime_that_ends_with_it() {
    assert_eq!(configured::main(), ExitCode::SUCCESS);
    assert!(LEFT_ENDED.load(Ordering::Relaxed), "the drop waits");
}

mod failing {
    use super::*;

    /// `Box<dyn Error>` is not `Send`.
    #[pirn::main]
    pub(super) fn main() -> Result<(), Box<dyn Error>> {
        Err("on purpose".into())
    }
}

mod coded {
    #[pirn::main(workers = 1)]
    pub(super) fn main() -> std::process::ExitCode {
        std::process::ExitCode::from(7)
    }
}

mod impossible {
    #[pirn::main(stack_size = 1)]
    pub(super) fn main() {
        unreachable!("there is no runtime");
    }
}

mod panicking {
    use super::*;

    #[pirn::main(workers = 1)]
    pub(super) fn main() {
        // Cancelled by the drop of the runtime, or the test would take an hour.
        pirn::spawn(|| sleep(Duration::from_secs(3_600)));
        panic!("on purpose");
    }
}

#[test]
fn a_result_of_main_is_the_exit_code() {
    let name = "macros::a_result_of_main_is_the_exit_code";
    let ended = apart(name, &[], || {
        assert_eq!(failing::main(), ExitCode::FAILURE);
        assert_eq!(coded::main(), ExitCode::from(7));
    });
    if let Some(ended) = ended {
        assert!(ended.status.success(), "{}", ended.stderr);
        assert!(
            ended.stderr.contains("Error: \"on purpose\""),
            "{}",
            ended.stderr
        );
    }
}

#[test]
fn a_runtime_of_main_that_cannot_be_built_is_reported() {
    let name = "macros::a_runtime_of_main_that_cannot_be_built_is_reported";
    let ended = apart(name, &[], || {
        assert_eq!(impossible::main(), ExitCode::FAILURE);
    });
    if let Some(ended) = ended {
        assert!(ended.status.success(), "{}", ended.stderr);
        let said = "pirn: the runtime of `main` could not be made: ";
        let error = ended.stderr.split(said).nth(1).expect("a message");
        assert!(error.contains("stack_size"), "{error}");
    }
}

#[test]
#[should_panic(expected = "on purpose")]
fn a_panic_of_main_cancels_the_fibers_and_is_raised() {
    let _ = panicking::main();
}

#[pirn::test]
fn a_test_has_virtual_time() {
    let (real, start) = (Instant::now(), now());
    sleep(Duration::from_secs(100_000)).unwrap();
    assert_eq!(now() - start, Duration::from_secs(100_000));
    assert!(real.elapsed() < Duration::from_secs(100_000));
}

#[pirn::test(seed = 7)]
fn a_seed_fixes_the_order() {
    let ordered = order();
    // A runtime of its own on a plain thread, so that this one does not wait in its place.
    let again = std::thread::spawn(|| Builder::new().deterministic(7).test(|_| order()));
    assert_eq!(ordered, again.join().unwrap());
}

#[pirn::test(seed = 3, stack_size = 1_048_576)]
fn a_test_gets_the_handle_and_the_stack_size(runtime: &Handle) {
    assert_eq!(runtime.workers(), 1);
    let fiber = runtime.spawn(|| {
        let bytes = [1_u8; 400 << 10];
        std::hint::black_box(&bytes)
            .iter()
            .filter(|&&byte| byte == 1)
            .count()
    });
    assert_eq!(fiber.join().unwrap(), 400 << 10);
}

#[pirn::test(workers = 2)]
fn a_test_with_workers_is_parallel_in_real_time(
    runtime: &Handle,
) -> Result<(), Box<dyn Error>> {
    assert_eq!(runtime.workers(), 2);
    let (real, start) = (Instant::now(), now());
    sleep(Duration::from_millis(5))?;
    assert!(
        real.elapsed() >= Duration::from_millis(5)
            && now() - start < Duration::from_secs(3_600)
    );
    // Neither thread yields: they run at the same time, or one waits indefinitely.
    let here = AtomicBool::new(false);
    let there = AtomicBool::new(false);
    pirn::scope(|s| {
        s.spawn(|| {
            here.store(true, Ordering::SeqCst);
            eventually("the other half runs", || there.load(Ordering::SeqCst));
        });
        s.spawn(|| {
            there.store(true, Ordering::SeqCst);
            eventually("this half runs", || here.load(Ordering::SeqCst));
        });
    });
    Ok(())
}

#[pirn::test]
#[should_panic(expected = "on purpose")]
fn a_test_may_have_to_panic() {
    panic!("on purpose");
}

#[pirn::test(workers = 1)]
#[should_panic(expected = "on purpose")]
fn a_test_with_workers_may_have_to_panic() {
    // Cancelled by the drop of the runtime.
    pirn::spawn(|| sleep(Duration::from_secs(3_600)));
    panic!("on purpose");
}

/// Ignored tests are listed as such: [`an_ignored_test_stays_ignored`] runs it.
#[pirn::test]
#[ignore = "fails where another test asks for it"]
fn fails_if_asked() -> Result<(), Box<dyn Error>> {
    if !is_asked("macros::fails_if_asked") {
        return Ok(());
    }
    // The value never comes: the fiber is cancelled.
    let (tx, rx) = pirn::channel::bounded::<()>(1);
    pirn::spawn(move || drop((rx.recv(), tx)));
    yield_now();
    Err("on purpose".into())
}

#[pirn::test(seed = 77)]
fn fails_with_its_seed_if_asked() {
    assert!(
        !is_asked("macros::fails_with_its_seed_if_asked"),
        "on purpose"
    );
}

#[pirn::test(workers = 1)]
fn fails_with_workers_if_asked() -> Result<(), String> {
    if !is_asked("macros::fails_with_workers_if_asked") {
        return Ok(());
    }
    pirn::spawn(|| sleep(Duration::from_secs(3_600)));
    Err("on purpose".into())
}

#[test]
fn an_error_fails_the_test_and_names_its_seed() {
    let ended = failed("macros::fails_if_asked");
    assert!(
        ended.stderr.contains("Error: \"on purpose\""),
        "{}",
        ended.stderr
    );
    assert!(
        ended.stderr.contains("pirn: PIRN_SEED="),
        "{}",
        ended.stderr
    );
    assert!(!ended.stderr.contains("deadlock"), "{}", ended.stderr);
}

#[test]
fn a_failure_names_the_seed_of_the_attribute() {
    let ended = failed("macros::fails_with_its_seed_if_asked");
    let said = "pirn: PIRN_SEED=77 reproduces this failure of the test \
                'macros::fails_with_its_seed_if_asked' (";
    assert!(ended.stderr.contains(said), "{}", ended.stderr);
}

#[test]
fn an_error_with_workers_fails_the_test_and_cancels_its_fibers() {
    let ended = failed("macros::fails_with_workers_if_asked");
    assert!(
        ended.stderr.contains("Error: \"on purpose\""),
        "{}",
        ended.stderr
    );
}

#[test]
fn an_ignored_test_stays_ignored() {
    let myself = std::env::current_exe().unwrap();
    let list = |filter: &[&str]| {
        let mut command = std::process::Command::new(&myself);
        command
            .args(["--list", "--exact", "macros::fails_if_asked"])
            .args(filter);
        let listed = command.output().unwrap().stdout;
        String::from_utf8(listed)
            .unwrap()
            .contains("macros::fails_if_asked: test")
    };
    assert!(list(&[]) && list(&["--ignored"]));
}

/// The names of the attribute's own variables are free.
#[pirn::test]
fn handle(code: &Handle) -> Result<(), String> {
    code.spawn(|| ()).join().map_err(|error| error.to_string())
}

#[pirn::test(workers = 1)]
fn runtime() {
    sleep(Duration::from_millis(1)).unwrap();
}

/// Attributes are kept, those of lints as well.
#[pirn::test]
#[allow(unused_variables, reason = "this is what is tested")]
fn lints_are_allowed_as_before() {
    let unused = 1;
}

/// The types may come from a `macro_rules!`.
macro_rules! passed_on {
    ($takes:ident, $handle:ty, $fails:ident, $unit:ty) => {
        #[pirn::test]
        fn $takes(handle: $handle) {
            assert_eq!(handle.workers(), 1);
        }

        #[pirn::test]
        #[should_panic(expected = "on purpose")]
        fn $fails() -> $unit {
            panic!("on purpose");
        }
    };
}

passed_on!(
    a_type_of_a_macro_is_read,
    &Handle,
    a_unit_of_a_macro_is_none,
    ()
);
