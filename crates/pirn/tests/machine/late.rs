//! The library is used by destructors of thread-locals, and by handlers that run at the end of the
//! process, whether the thread has used it before or not.

use std::cell::Cell;
use std::thread;
use std::time::Duration;

use pirn::cancel::Token;
use pirn::runtime::Handle;
use pirn::scope::TaskGroup;
use pirn::sync::{Mutex, Semaphore};
use pirn::{blocking, channel, compute, future, park, scope, sleep, spawn, timeout};

use crate::util::{LONG, apart};

const SHORT: Duration = Duration::from_millis(1);

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
    assert_eq!(pirn::run(|| 1), 1);
    assert_eq!(spawn(|| 2).join().unwrap(), 2);
    assert_eq!(scope(|s| s.spawn(|| 3).join().unwrap()), 3);
    let group = TaskGroup::new();
    assert!(group.spawn(|| ()).is_ok());
    group.wait().unwrap();
    future::block_on(future::sleep(SHORT));
    sleep(SHORT).unwrap();
    let (tx, rx) = channel::bounded(0);
    let sending = spawn(move || tx.send(4).unwrap());
    assert_eq!(rx.recv().unwrap(), 4);
    sending.join().unwrap();
    *Mutex::new(0).lock() += 1;
    drop(Semaphore::new(1).acquire(1).unwrap());
    assert_eq!(timeout(LONG, || 5).unwrap(), 5);
    assert_eq!(blocking(|| 6), 6);
    assert_eq!(compute(|| 7), 7);
    let handle = Handle::current();
    handle.enter(|| handle.enter(|| spawn(|| ()).join().unwrap()));
    assert!(Handle::try_current().is_none());
    let token = Token::new();
    token.child().cancel();
    pirn::current().unpark();
    park();
    pirn::yield_now();
    assert_eq!(pirn::par::map(0..4_usize, |n| n * n), [0, 1, 4, 9]);
    eprintln!("late: everything was used");
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

/// A handler at the end of the process runs after all destructors of the thread that ends it.
// Proves: E1-late.
#[test]
#[expect(unsafe_code, reason = "registers a handler with the C library")]
fn in_a_handler_at_the_end_of_the_process() {
    unsafe extern "C" {
        safe fn atexit(handler: extern "C" fn()) -> i32;
    }
    extern "C" fn handler() {
        everything();
    }
    expect_used("late::in_a_handler_at_the_end_of_the_process", || {
        assert_eq!(atexit(handler), 0);
        everything();
        std::process::exit(0);
    });
}
