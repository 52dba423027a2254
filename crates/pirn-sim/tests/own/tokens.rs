//! Tokens: what they cancel, what they leave alone, and their callbacks.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pirn::cancel::{self, Token};
use pirn::channel::{self, RecvError};
use pirn::sync::Event;
use pirn::{Interrupt, scope, time};

use crate::{MOMENT, check};

/// All waits under a token end, those under its children included, and no others.
// Proves: U30-tokens.
#[test]
fn a_token_ends_all_waits_under_it() {
    check(|| {
        let token = Token::new();
        let (child, other) = (token.child(), Token::new());
        let (tx, rx) = channel::bounded::<()>(0);
        scope(|s| {
            let wait = |token: &Token| {
                let (token, rx) = (token.clone(), rx.clone());
                s.spawn(move || token.enter(|| rx.recv()))
            };
            let under = [wait(&token), wait(&child), wait(&token.child())];
            let beside = wait(&other);
            token.cancel();
            for waiter in under {
                let end = Err(RecvError::Interrupted(Interrupt::Cancelled));
                assert_eq!(waiter.join().unwrap(), end);
            }
            assert!(child.is_cancelled() && !other.is_cancelled());
            assert!(!beside.is_finished());
            drop(tx);
            assert_eq!(beside.join().unwrap(), Err(RecvError::Disconnected));
        });
    });
}

/// A token that has been left has no effect any more.
// Proves: U30-tokens.
#[test]
fn a_token_that_was_left_interrupts_nothing() {
    check(|| {
        let (token, go) = (Token::new(), Event::manual());
        scope(|s| {
            s.spawn(|| {
                token.cancel();
                go.set();
            });
            let first = token.enter(|| time::sleep(MOMENT));
            assert!(first.is_ok() || first == Err(Interrupt::Cancelled));
            assert_eq!(cancel::reason(), None);
            assert_eq!(go.wait(), Ok(()));
            assert_eq!(token.enter(|| go.wait()), Err(Interrupt::Cancelled));
            assert_eq!(time::sleep(MOMENT), Ok(()));
        });
    });
}

/// An inner token applies in addition to the outer one.
// Proves: U30-tokens.
#[test]
fn either_of_two_tokens_cancels() {
    check(|| {
        let (outer, inner) = (Token::new(), Token::new());
        let first = AtomicUsize::new(0);
        scope(|s| {
            for (n, token) in [(1, &outer), (2, &inner)] {
                let first = &first;
                s.spawn(move || {
                    pirn_sim::point();
                    let _ = first.compare_exchange(
                        0,
                        n,
                        Ordering::Relaxed,
                        Ordering::Relaxed,
                    );
                    token.cancel();
                });
            }
            let ends = outer.enter(|| {
                let inside = inner.enter(|| time::sleep(MOMENT));
                assert_eq!(inside, Err(Interrupt::Cancelled));
                time::sleep(MOMENT)
            });
            assert_eq!(ends, Err(Interrupt::Cancelled));
            assert_eq!(time::sleep(MOMENT), Ok(()));
        });
        assert_ne!(first.into_inner(), 0);
    });
}

/// A callback is called once, by the cancellation, unless its registration has ended before.
// Proves: U30-tokens.
#[test]
fn a_callback_is_called_once_or_never() {
    check(|| {
        let token = Token::new();
        let calls = Arc::new([const { AtomicUsize::new(0) }; 2]);
        let register = |at: usize| {
            let calls = Arc::clone(&calls);
            token.on_cancel(move || _ = calls[at].fetch_add(1, Ordering::Relaxed))
        };
        let ended = register(1);
        let ended_before = scope(|s| {
            s.spawn(|| token.cancel());
            s.spawn(|| token.cancel());
            let ends = s.spawn(|| {
                pirn_sim::point();
                drop(ended);
                !token.is_cancelled()
            });
            // Before the cancellation, or after it.
            pirn_sim::point();
            let kept = register(0);
            token.wait();
            drop(kept);
            ends.join().unwrap()
        });
        let calls = calls.each_ref().map(|calls| calls.load(Ordering::Relaxed));
        assert!(
            calls[0] == 1 && calls[1] <= usize::from(!ended_before),
            "{calls:?}"
        );
    });
}

/// A fiber registers with tokens while they are cancelled.
// Proves: U30-tokens.
#[test]
fn a_wait_under_a_cancelled_token_does_not_begin() {
    check(|| {
        let token = Token::new();
        let parked = AtomicUsize::new(0);
        scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    token.enter(|| {
                        // The check registers the fiber, or the wait does.
                        let checked = cancel::check();
                        parked.fetch_add(1, Ordering::Relaxed);
                        let waited = pirn::spawn::park_interruptible();
                        assert_eq!(waited, Err(Interrupt::Cancelled));
                        assert!(checked.is_ok() || cancel::check().is_err());
                    });
                });
            }
            token.cancel();
        });
        assert_eq!(parked.into_inner(), 2);
    });
}
