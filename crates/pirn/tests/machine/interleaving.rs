//! How safe code of other crates fails when fibers interleave on one thread. The documentation
//! warns of it; if a test here changes, so must the documentation.

use std::cell::Cell;

use pirn::{scope, yield_now};

use crate::executor_kind::runtime;

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
/// ends. (The test does not use the reference afterwards.)
#[test]
fn a_waiting_initializer_drops_a_value_in_use() {
    let runtime = runtime(1);
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
