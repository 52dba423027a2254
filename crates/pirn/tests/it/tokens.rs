//! Tokens: trees of them, the code under each, and their ends.

use std::hash::{BuildHasher, RandomState};
use std::panic::panic_any;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pirn::Interrupt;
use pirn::cancel::{Token, check, shield};
use pirn::spawn::JoinError;
use pirn::sync::Mutex;
use pirn::time::{sleep, timeout};

use crate::executor_kind::{alone, for_ever, runtime};
use crate::util::{LONG, eventually, on_every_shape, scaled};

/// An entered token adds to the outer ones: either interrupts.
// Proves: K-X-entered.
#[test]
fn an_entered_token_holds_beside_the_outer_one() {
    alone(|| {
        for which in 0..2 {
            let tokens = [Token::new(), Token::new()];
            tokens[0].enter(|| {
                tokens[1].enter(|| {
                    assert_eq!(check(), Ok(()));
                    tokens[which].cancel();
                    assert_eq!(check(), Err(Interrupt::Cancelled));
                });
                let outer = check();
                assert_eq!(outer.is_err(), which == 0);
            });
            assert_eq!(check(), Ok(()));
        }
    });
}

/// After the end of an inner token's region a wait reports the outer one again, also if the outer
/// one was cancelled in between.
// Proves: K-X-entered.
#[test]
fn leaving_an_inner_token_keeps_the_outer_interrupt() {
    alone(|| {
        let (outer, inner) = (Token::new(), Token::new());
        outer.enter(|| {
            assert_eq!(check(), Ok(()));
            inner.enter(|| {
                assert_eq!(check(), Ok(()));
                inner.cancel();
                outer.cancel();
                assert_eq!(check(), Err(Interrupt::Cancelled));
            });
            assert_eq!(sleep(LONG), Err(Interrupt::Cancelled));
        });
        assert_eq!(check(), Ok(()));
    });
}

/// Tokens, callbacks and waiting: once, in any order, also too late.
// Proves: K-X-notified.
#[test]
fn tokens_notify_each_waiter_once() {
    on_every_shape(|runtime| {
        runtime.run(|| {
            let root = Token::new();
            let child = root.child();
            let called = Arc::new(AtomicUsize::new(0));
            let call = |token: &Token| {
                let called = Arc::clone(&called);
                token.on_cancel(move || {
                    called.fetch_add(1, Ordering::SeqCst);
                })
            };
            let _first = call(&root);
            let _second = call(&child);
            drop(call(&child));
            let _panics = child.on_cancel(|| panic_any("a callback's own affair"));
            pirn::scope(|s| {
                s.spawn(|| child.wait());
                s.spawn(|| {
                    let mut case = child.case();
                    let mut select = pirn::select::Select::new();
                    select.add(&mut case);
                    assert_eq!(select.wait(), Ok(0));
                });
                pirn::yield_now();
                root.cancel();
                root.cancel();
            });
            assert!(child.is_cancelled() && root.child().is_cancelled());
            assert_eq!(called.load(Ordering::SeqCst), 2);
            let _late = call(&child);
            assert_eq!(called.load(Ordering::SeqCst), 3);
            child.wait();
        });
    });
}

/// A chain of tokens deeper than any stack is cancelled and dropped.
#[test]
fn a_deep_chain_of_tokens() {
    let n = scaled(200_000);
    alone(move || {
        let root = Token::new();
        let mut last = root.child();
        for _ in 0..n {
            last = last.child();
        }
        root.cancel();
        assert!(last.is_cancelled());
        drop(root);
        drop(last);
        let mut live = Token::new();
        for _ in 0..n {
            live = live.child();
        }
    });
}

/// A dropped child leaves nothing in its parent: memory stays flat.
// Proves: K10.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_children_of_a_token_leave_it() {
    let root = Token::new();
    let before = crate::util::resident();
    for _ in 0..scaled(300_000) {
        drop(root.child());
    }
    let grown = crate::util::resident().saturating_sub(before);
    assert!(grown < 8 << 20, "{grown} bytes more");
}

/// The runtime's token is the root of all code in it, and cancelling it ends everything.
// Proves: K7.
#[test]
fn the_runtimes_token_is_above_all() {
    let runtime = runtime(2);
    let waiting = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&waiting);
    let detached = runtime.spawn(move || {
        count.fetch_add(1, Ordering::SeqCst);
        for_ever()
    });
    let count = Arc::clone(&waiting);
    let scoped = runtime.spawn(move || {
        let mut told = false;
        pirn::scope(|s| {
            let token = s.token().clone();
            s.spawn(|| {
                count.fetch_add(1, Ordering::SeqCst);
                for_ever();
            });
            token.wait();
            told = true;
        });
        told
    });
    eventually("all wait", || waiting.load(Ordering::SeqCst) == 2);
    runtime.token().cancel();
    assert_eq!(detached.join().unwrap(), Interrupt::Cancelled);
    assert!(scoped.join().unwrap());
    assert!(matches!(
        runtime.spawn(|| ()).join(),
        Err(JoinError::NotRun)
    ));
}

/// Closures that `run` runs elsewhere are under the caller's token.
#[test]
fn what_is_run_elsewhere_is_under_the_callers_token() {
    let (here, there) = (runtime(1), runtime(1));
    let ended = here.run(|| {
        pirn::scope(|s| {
            let fiber = s.spawn(|| there.run(for_ever));
            while there.metrics().total.fiber_parks == 0 {
                pirn::yield_now();
            }
            s.cancel();
            shield(|| fiber.join()).unwrap()
        })
    });
    assert_eq!(ended, Interrupt::Cancelled);
    // Its result is needed, so it runs though the caller has been cancelled before.
    let ran = here.run(|| {
        let token = Token::new();
        token.cancel();
        token.enter(|| there.run(check))
    });
    assert_eq!(ran, Err(Interrupt::Cancelled));
}

/// Clones of a token are equal, and hash alike; others are not, not even a child.
#[test]
fn tokens_are_compared_by_identity() {
    let (token, other) = (Token::new(), Token::new());
    let child = token.child();
    assert_eq!(token, token.clone());
    assert!(token != other && token != child);
    let state = RandomState::new();
    assert_eq!(state.hash_one(&token), state.hash_one(token.clone()));
    assert_ne!(state.hash_one(&token), state.hash_one(&other));
}

/// `Token::current` returns the token in force.
#[test]
fn the_current_token() {
    alone(|| {
        let outer = Token::current();
        let token = Token::new();
        token.enter(|| {
            assert!(!Token::current().is_cancelled());
            token.cancel();
            assert!(Token::current().is_cancelled());
        });
        assert!(!outer.is_cancelled());
        pirn::scope(|s| {
            let child = s.spawn(Token::current).join().unwrap();
            s.cancel();
            assert!(child.is_cancelled());
        });
        let alone = shield(Token::current);
        alone.cancel();
        assert!(!Token::current().is_cancelled());
        assert_eq!(check(), Ok(()));
    });
    // With only a deadline around: the runtime's.
    let runtime = runtime(1);
    let tokens = runtime.run(|| {
        let limited = timeout(LONG, Token::current).unwrap();
        [Token::current(), limited]
    });
    assert!(tokens.iter().all(|token| !token.is_cancelled()));
    runtime.token().cancel();
    assert!(tokens.iter().all(Token::is_cancelled));
}

/// When the first callback is called, all that is below the token is cancelled too. The callbacks
/// of the token come before those below, and each is called once.
// Proves: K-X-notified.
#[test]
fn callbacks_find_everything_cancelled() {
    let parent = Token::new();
    let child = parent.child();
    let grandchild = child.child();
    let calls = Arc::new(Mutex::new(Vec::new()));
    let tokens = [&parent, &child, &grandchild];
    let registrations = tokens.map(|token| {
        let calls = Arc::clone(&calls);
        let all = tokens.map(Token::clone);
        let depth = calls.lock().len();
        calls.lock().push((depth, false));
        token.on_cancel(move || {
            let cancelled = all.iter().all(Token::is_cancelled);
            calls.lock().push((depth, cancelled));
            // A second call returns at once.
            all[0].cancel();
        })
    });
    parent.cancel();
    assert_eq!(calls.lock()[3..], [(0, true), (1, true), (2, true)]);
    drop(registrations);
}

/// A callback deregisters another one of the same cancellation: that one is not called.
// Proves: K-X-notified.
#[test]
fn a_callback_may_take_back_a_later_one() {
    let (parent, later) = (Token::new(), Arc::new(Mutex::new(Vec::new())));
    let (tokens, called) = ([parent.clone(), parent.child()], Arc::new(Mutex::new(0)));
    let all = Arc::clone(&later);
    let _first = parent.on_cancel(move || all.lock().clear());
    for token in &tokens {
        let calls = Arc::clone(&called);
        let registration = token.on_cancel(move || *calls.lock() += 1);
        later.lock().push(registration);
    }
    parent.cancel();
    assert!(tokens[1].is_cancelled());
    assert_eq!(*called.lock(), 0, "callbacks that were taken back");
}
