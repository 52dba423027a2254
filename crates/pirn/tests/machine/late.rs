//! The library is used by destructors of thread-locals, and by handlers that run at the end of the
//! process, whether the thread has used it before or not.

use std::cell::Cell;
use std::thread;

use pirn::runtime::Runtime;

use crate::util::apart;
use crate::{late_calls, late_system, late_waits};

/// Calls `f` when it is dropped.
struct Late(Cell<Option<fn()>>);

impl Drop for Late {
    fn drop(&mut self) {
        if let Some(f) = self.0.take() {
            f();
        }
    }
}

std::thread_local! {
    static LATE: Late = const { Late(Cell::new(None)) };
}

/// Uses each entry point of the library once, and reports that.
fn everything() {
    late_calls::all();
    late_waits::all();
    late_system::all();
    eprintln!("late: everything was used");
}

/// Each public function outside of a type is called in this test.
// Proves: E1-late.
#[test]
fn every_function_is_called() {
    let api = include_str!("../../../../docs/public-api/pirn.txt");
    let calls = concat!(
        include_str!("late_calls.rs"),
        include_str!("late_system.rs"),
        include_str!("late_waits.rs"),
    );
    let is_called = |path: &str| {
        let (module, name) = path.rsplit_once("::").unwrap();
        let module = module.rsplit("::").next().unwrap();
        let by_module = format!("{module}::{name}(");
        let named =
            calls.contains(&by_module) || calls.contains(&by_module.replace('(', "::<"));
        // Imported by name.
        named
            || calls.contains(&format!(" {name}("))
            || calls.contains(&format!("({name}("))
    };
    let mut missing: Vec<_> = functions(api).filter(|path| !is_called(path)).collect();
    missing.dedup();
    assert!(missing.is_empty(), "not called: {missing:?}");
}

/// Returns the paths of the functions that belong to no type or trait.
fn functions(api: &str) -> impl Iterator<Item = &str> {
    api.lines().filter_map(|line| {
        let path = line.strip_prefix("pub fn ")?;
        let end = path.find(['(', '<'])?;
        let path = path[..end].trim();
        let is_method = path
            .split("::")
            .any(|part| part.starts_with(char::is_uppercase));
        (path.starts_with("pirn::") && !is_method).then_some(path)
    })
}

fn expect_used(name: &str, part: impl FnOnce()) {
    let Some(ended) = apart(name, &[], part) else {
        return;
    };
    assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    let times = ended.stderr.matches("late: everything was used").count();
    assert_eq!(times, 2, "{}", ended.stderr);
}

/// The destructor runs after those of the library, which the thread has used later.
// Proves: E1-late.
#[test]
fn in_a_destructor_that_comes_last() {
    expect_used("late::in_a_destructor_that_comes_last", || {
        let last = thread::spawn(|| {
            LATE.with(|late| late.0.set(Some(everything)));
            everything();
        });
        last.join().unwrap();
    });
}

/// The destructor runs before those of the library, which the thread has used earlier.
// Proves: E1-late.
#[test]
fn in_a_destructor_that_comes_first() {
    expect_used("late::in_a_destructor_that_comes_first", || {
        let first = thread::spawn(|| {
            everything();
            LATE.with(|late| late.0.set(Some(everything)));
        });
        first.join().unwrap();
    });
}

/// The thread uses the library for the first time in its destructors.
// Proves: E1-late.
#[test]
fn in_a_destructor_alone() {
    expect_used("late::in_a_destructor_alone", || {
        everything();
        let alone = thread::spawn(|| LATE.with(|late| late.0.set(Some(everything))));
        alone.join().unwrap();
    });
}

/// The destructor of a worker runs after those of the library.
// Proves: E1-late.
#[test]
fn in_a_destructor_of_a_worker_that_comes_last() {
    expect_used("late::in_a_destructor_of_a_worker_that_comes_last", || {
        everything();
        let builder = Runtime::builder().workers(1).max_threads(1);
        let started =
            builder.on_thread_start(|| LATE.with(|late| late.0.set(Some(everything))));
        started.build().unwrap().run(|| ());
    });
}

/// The destructor of a worker runs before those of the library.
// Proves: E1-late.
#[test]
fn in_a_destructor_of_a_worker_that_comes_first() {
    expect_used("late::in_a_destructor_of_a_worker_that_comes_first", || {
        everything();
        let runtime = Runtime::builder().workers(1).build().unwrap();
        runtime.run(|| LATE.with(|late| late.0.set(Some(everything))));
    });
}

#[expect(unsafe_code, reason = "registers a handler with the C library")]
fn at_exit() {
    unsafe extern "C" {
        safe fn atexit(handler: extern "C" fn()) -> i32;
    }
    extern "C" fn handler() {
        everything();
    }
    assert_eq!(atexit(handler), 0);
}

/// The handler is registered before those of the library, so that it runs after them. It runs
/// after all destructors of the thread that ends the process.
// Proves: E1-late.
#[test]
fn in_a_handler_at_the_end_of_the_process() {
    expect_used("late::in_a_handler_at_the_end_of_the_process", || {
        at_exit();
        everything();
        std::process::exit(0);
    });
}

/// The handler is registered after those of the library, so that it runs before them.
// Proves: E1-late.
#[test]
fn in_a_handler_that_comes_first() {
    expect_used("late::in_a_handler_that_comes_first", || {
        everything();
        at_exit();
        std::process::exit(0);
    });
}

/// A thread that has not used the library ends the process.
// Proves: E1-late.
#[test]
fn in_a_handler_on_another_thread() {
    expect_used("late::in_a_handler_on_another_thread", || {
        everything();
        at_exit();
        let ends = thread::spawn(|| std::process::exit(0));
        ends.join().unwrap();
    });
}
