//! How safe code of other crates fails when fibers interleave on one thread. The documentation
//! warns of it; if a test here changes, so must the documentation.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

use pirn::{Runtime, scope, yield_now};

use crate::executor_kind::until;

/// A runtime with one thread, on which all fibers start.
fn one_thread() -> Runtime {
    let builder = Runtime::builder().workers(1).max_threads(1);
    builder.build().unwrap()
}

/// Counts its drops.
struct Counted;

impl Drop for Counted {
    fn drop(&mut self) {
        DROPPED.with(|dropped| dropped.set(dropped.get() + 1));
    }
}

std::thread_local! {
    static DROPPED: Cell<usize> = const { Cell::new(0) };
    static ENTERED: Cell<usize> = const { Cell::new(0) };
    /// Its initializer waits, the first time.
    static VALUE: Counted = {
        let before = ENTERED.with(|entered| entered.replace(entered.get() + 1));
        while before == 0 && ENTERED.with(Cell::get) < 2 {
            yield_now();
        }
        Counted
    };
}

/// Two fibers of one worker initialize one `thread_local!`. The one that does not wait in its
/// initializer has a reference to the value; `std` drops that value when the other initializer
/// ends. (The test does not use the reference afterwards; the one in `it::seeded` does, and
/// AddressSanitizer reports it.)
#[test]
fn a_waiting_initializer_drops_a_value_in_use() {
    let runtime = one_thread();
    let dropped = runtime.run(|| {
        let user = || {
            VALUE.with(|_in_use| {
                (0..10).for_each(|_| yield_now());
                DROPPED.with(Cell::get)
            })
        };
        scope(|s| {
            let both = [s.spawn(user), s.spawn(user)];
            both.map(|fiber| fiber.join().unwrap())
        })
    });
    assert_eq!(dropped, [1, 1], "values dropped while one was in use");
}

std::thread_local! {
    /// The address of the value set for the callback, or 0: `scoped-tls` keeps the same.
    static SET: Cell<usize> = const { Cell::new(0) };
}

/// Sets `value` for the code in `f`, and restores what was set before.
fn set<T>(value: &u32, f: impl FnOnce() -> T) -> T {
    let before = SET.replace((&raw const *value).addr());
    let result = f();
    SET.set(before);
    result
}

/// A value that is set for a part of the stack is set for the thread: a fiber gets the value of
/// another one, or none. At the end a value is still set although it was dropped; `scoped-tls`
/// would make a reference of its address.
#[test]
fn a_value_set_for_a_scope_outlives_it() {
    let runtime = one_thread();
    let (entered, left) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let user = || {
        let value = 7;
        let found = set(&value, || {
            match entered.fetch_add(1, Ordering::SeqCst) {
                0 => until(&entered, 2),
                _ => until(&left, 1),
            }
            SET.get()
        });
        left.fetch_add(1, Ordering::SeqCst);
        ((&raw const value).addr(), found)
    };
    let (mut both, remains) = runtime.run(|| {
        scope(|s| {
            let both = [s.spawn(user), s.spawn(user)];
            (both.map(|fiber| fiber.join().unwrap()), SET.get())
        })
    });
    // In the order in which they entered.
    both.sort_by_key(|(_, found)| *found == 0);
    let [first, second] = both;
    assert_eq!(first.1, second.0, "the first finds the value of the second");
    assert_eq!(second.1, 0, "the second finds none");
    assert_eq!(remains, first.0, "the value of the first remains");
}
