//! The choice of an operation comes before its effect: another fiber can run between the operation
//! before it and the effect.
//!
//! Each body fails in one order only, in which the effect is not part of the turn of the operation
//! before it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pirn::cancel::Token;
use pirn::channel::{self, broadcast, watch};
use pirn::dispatcher::Dispatcher;
use pirn::runtime::Handle;
use pirn::scope::TaskGroup;
use pirn::sync::Pool;
use pirn_sim::{Strategy, Verdict, campaign};

/// Runs `fiber` with a function that lets `here` begin, beside `here`.
fn beside(fiber: impl FnOnce(&dyn Fn()) + Send + 'static, here: impl FnOnce()) {
    let (go, begun) = channel::bounded(1);
    let fiber = pirn::spawn(move || fiber(&|| go.send(()).unwrap()));
    begun.recv().unwrap();
    here();
    fiber.join().unwrap();
}

/// Asserts that each body fails in some order, by a panic.
fn each_fails(bodies: &[(&str, fn())]) {
    let passes = |body: fn()| {
        let campaign = campaign().seed(1).runs(2_000).strategy(Strategy::Random);
        let failure = campaign.find(body);
        !failure.is_some_and(|it| matches!(it.verdict(), Verdict::Panic(_)))
    };
    let passing = bodies.iter().filter(|(_, body)| passes(*body));
    let passing: Vec<_> = passing.map(|(name, _)| *name).collect();
    assert!(passing.is_empty(), "no order makes these fail: {passing:?}");
}

// Proves: U8.
#[test]
fn of_channels() {
    each_fails(&[
        ("WeakSender::upgrade", || {
            let (tx, _rx) = channel::bounded::<u8>(1);
            let weak = tx.downgrade();
            upgrades(move || weak.upgrade().is_some(), tx);
        }),
        ("WeakReceiver::upgrade", || {
            let (_tx, rx) = channel::bounded::<u8>(1);
            let weak = rx.downgrade();
            upgrades(move || weak.upgrade().is_some(), rx);
        }),
        ("broadcast::WeakSender::upgrade", || {
            let (tx, _rx) = broadcast::channel::<u8>(1);
            let weak = tx.downgrade();
            upgrades(move || weak.upgrade().is_some(), tx);
        }),
        ("broadcast::Receiver::resubscribe", || {
            let (tx, rx) = broadcast::channel(1);
            let resubscribe = move |go: &dyn Fn()| {
                go();
                rx.resubscribe().recv().unwrap();
            };
            beside(resubscribe, || {
                tx.send(1).unwrap();
                drop(tx);
            });
        }),
        ("a clone of a broadcast::Receiver", || {
            let (tx, rx) = broadcast::channel::<u8>(1);
            let clone = move |go: &dyn Fn()| {
                go();
                let _both = (rx.clone(), rx);
                pirn::park();
            };
            count_two(clone, || tx.receiver_count());
        }),
        ("a clone of a watch::Receiver", || {
            let (tx, rx) = watch::channel(0);
            let clone = move |go: &dyn Fn()| {
                go();
                let _both = (rx.clone(), rx);
                pirn::park();
            };
            count_two(clone, || tx.receiver_count());
        }),
    ]);
}

/// Asserts that `upgrade` still finds an end, beside the drop of the last one.
fn upgrades<T>(upgrade: impl FnOnce() -> bool + Send + 'static, last: T) {
    let begins = move |go: &dyn Fn()| {
        go();
        assert!(upgrade());
    };
    beside(begins, || drop(last));
}

/// Asserts that the count is 2 after `clone` has begun, which parks in the end.
fn count_two(clone: impl FnOnce(&dyn Fn()) + Send + 'static, count: impl Fn() -> usize) {
    let (go, begun) = channel::bounded(1);
    let fiber = pirn::spawn(move || clone(&|| go.send(()).unwrap()));
    begun.recv().unwrap();
    let counted = count();
    fiber.fiber().unpark();
    fiber.join().unwrap();
    assert_eq!(counted, 2);
}

// Proves: U8.
#[test]
fn of_tokens_and_groups() {
    each_fails(&[
        ("Token::on_cancel", || {
            let token = Token::new();
            let other = token.clone();
            let register = move |go: &dyn Fn()| {
                let called = Arc::new(AtomicBool::new(false));
                let calls = Arc::clone(&called);
                go();
                let _registration =
                    token.on_cancel(move || calls.store(true, Ordering::SeqCst));
                assert!(!called.load(Ordering::SeqCst));
            };
            beside(register, || other.cancel());
        }),
        ("the end of a Registration", || {
            let token = Token::new();
            let other = token.clone();
            let forget = move |go: &dyn Fn()| {
                let called = Arc::new(AtomicBool::new(false));
                let calls = Arc::clone(&called);
                let registration =
                    token.on_cancel(move || calls.store(true, Ordering::SeqCst));
                go();
                drop(registration);
                assert!(!called.load(Ordering::SeqCst));
            };
            beside(forget, || other.cancel());
        }),
        ("TaskGroup::spawn", || {
            let group = Arc::new(TaskGroup::new());
            let other = Arc::clone(&group);
            let spawn = move |go: &dyn Fn()| {
                go();
                assert!(group.spawn(|| ()).is_ok());
            };
            beside(spawn, || other.cancel());
        }),
        ("TaskGroup::join_next", || {
            let group = Arc::new(TaskGroup::new());
            group.spawn(|| ()).unwrap();
            group.wait().unwrap();
            let other = Arc::clone(&group);
            let join = move |go: &dyn Fn()| {
                go();
                assert!(group.join_next().unwrap().is_some());
            };
            beside(join, || _ = other.join_next().unwrap());
        }),
        ("TaskGroup::wait_timeout", || {
            let group = Arc::new(TaskGroup::new());
            let other = Arc::clone(&group);
            let wait = move |go: &dyn Fn()| {
                go();
                assert_eq!(group.wait_timeout(Duration::ZERO), Ok(true));
            };
            beside(wait, || _ = other.spawn(pirn::yield_now).unwrap());
        }),
    ]);
}

// Proves: U8.
#[test]
fn of_pools_and_dispatchers() {
    each_fails(&[
        ("Pool::idle", || {
            let pool = Arc::new(Pool::new(1, || 0));
            let other = Arc::clone(&pool);
            let count = move |go: &dyn Fn()| {
                go();
                assert_eq!(pool.idle(), 0);
            };
            beside(count, || drop(other.get().unwrap()));
        }),
        ("the return of a pooled object", || {
            let pool = Arc::new(Pool::new(1, || 0));
            let other = Arc::clone(&pool);
            let give_back = move |go: &dyn Fn()| {
                let lent = pool.get().unwrap();
                go();
                drop(lent);
            };
            beside(give_back, || assert_eq!(other.idle(), 1));
        }),
        ("a spawn on a limited dispatcher", || {
            in_order(&Handle::current().dispatcher().limited(1));
        }),
        ("a spawn on a dispatcher with a bounded queue", || {
            in_order(&Handle::current().dispatcher().limited(1).queue_limit(9));
        }),
    ]);
}

/// Asserts that a fiber which another one spawns first starts first, while both wait for the turn
/// that the caller has.
fn in_order(one: &Dispatcher) {
    let order = Arc::new(std::sync::Mutex::new(String::new()));
    let log = |name| {
        let order = Arc::clone(&order);
        move || order.lock().unwrap().push(name)
    };
    let (first, second) = (log('a'), log('b'));
    let other = one.clone();
    let all = one.run(move || {
        let spawns = other.clone();
        let (go, begun) = channel::bounded(1);
        let fiber = pirn::spawn(move || {
            go.send(()).unwrap();
            spawns.spawn(first)
        });
        begun.recv().unwrap();
        let second = other.spawn(second);
        [fiber.join().unwrap(), second]
    });
    for fiber in all {
        fiber.join().unwrap();
    }
    assert_eq!(*order.lock().unwrap(), "ab");
}
