//! What interrupts a call: each source starts one in a place of its own.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::{Arc, mpsc};
use std::task::{Context, Waker};
use std::thread;
use std::time::{Duration, Instant};

use pirn::cancel::{Token, shield, with_deadline};
use pirn::scope::TaskGroup;
use pirn::spawn::park_interruptible;
use pirn::sync::Event;
use pirn::{Interrupt, Runtime, future, scope, timeout, try_scope};

/// A call that reports its beginning and its end.
pub(crate) type Watched = Box<dyn FnOnce() + Send>;

/// Interrupts a call that has begun.
pub(crate) type Stop = Box<dyn FnOnce()>;

/// Starts the call; returns what interrupts it, if nothing does by itself.
pub(crate) type Start = fn(&Runtime, Watched) -> Stop;

/// After it, a limit ends the calls. All of them begin before.
const SOON: Duration = Duration::from_millis(300);

fn by_itself() -> Stop {
    Box::new(|| ())
}

pub(crate) const CANCELLED: &[(&str, Start)] = &[
    ("cancel", |runtime, call| {
        let fiber = runtime.spawn(call);
        Box::new(move || fiber.cancel())
    }),
    ("token of the runtime", |runtime, call| {
        runtime.spawn(call).detach();
        let handle = runtime.handle();
        Box::new(move || handle.token().cancel())
    }),
    ("entered token", |runtime, call| {
        let token = Token::new();
        let entered = token.clone();
        runtime.spawn(move || entered.enter(call)).detach();
        Box::new(move || token.cancel())
    }),
    ("parent of the outer token", |runtime, call| {
        let token = Token::new();
        let outer = token.child().child();
        let inner = move || outer.enter(|| Token::new().enter(call));
        runtime.spawn(inner).detach();
        Box::new(move || token.cancel())
    }),
    ("token that was cancelled before", |runtime, call| {
        let token = Token::new();
        token.cancel();
        runtime.spawn(move || token.enter(call)).detach();
        by_itself()
    }),
    ("scope", |runtime, call| {
        let (tx, rx) = mpsc::channel();
        let inside = move || {
            scope(|s| {
                tx.send(s.token().clone()).unwrap();
                call();
            });
        };
        runtime.spawn(inside).detach();
        Box::new(move || rx.recv().unwrap().cancel())
    }),
    ("outer scope", |runtime, call| {
        let (tx, rx) = mpsc::channel();
        let inside = move || {
            scope(|s| {
                tx.send(s.token().clone()).unwrap();
                s.spawn(|| scope(|s| drop(s.spawn(|| scope(|_| call())))));
            });
        };
        runtime.spawn(inside).detach();
        Box::new(move || rx.recv().unwrap().cancel())
    }),
    ("error of a sibling", |runtime, call| {
        let fails = Arc::new(Event::manual());
        let until = Arc::clone(&fails);
        let inside = move || {
            let ended = try_scope(|s| {
                s.spawn(|| {
                    call();
                    Ok(())
                });
                s.spawn(|| {
                    shield(|| until.wait())?;
                    Err::<(), _>(Interrupt::TimedOut)
                });
                Ok(())
            });
            assert_eq!(ended, Err(Interrupt::TimedOut), "the first error");
        };
        runtime.spawn(inside).detach();
        Box::new(move || fails.set())
    }),
    ("panic of a sibling", |runtime, call| {
        let fails = Arc::new(Event::manual());
        let until = Arc::clone(&fails);
        let inside = move || {
            let ended = catch_unwind(AssertUnwindSafe(|| {
                scope(|s| {
                    s.spawn(call);
                    s.spawn(|| {
                        shield(|| until.wait()).unwrap();
                        resume_unwind(Box::new("on purpose"));
                    });
                });
            }));
            assert!(ended.is_err(), "the panic of the child");
        };
        runtime.spawn(inside).detach();
        Box::new(move || fails.set())
    }),
    ("group", |runtime, call| {
        let group = TaskGroup::new();
        runtime.enter(|| group.spawn(call)).unwrap();
        Box::new(move || group.cancel())
    }),
    ("the other half of a join", |runtime, call| {
        let halves = || pirn::join(|| _ = park_interruptible(), call);
        let fiber = runtime.spawn(|| _ = halves());
        Box::new(move || fiber.cancel())
    }),
    ("future that is dropped", |runtime, call| {
        let mut fiber = Box::pin(runtime.enter(|| future::fiber(call)));
        let mut context = Context::from_waker(Waker::noop());
        let first = runtime.enter(|| Pin::as_mut(&mut fiber).poll(&mut context));
        assert!(first.is_pending());
        Box::new(move || drop(fiber))
    }),
    ("run from a plain thread", |runtime, call| {
        let (token, handle) = (Token::new(), runtime.handle());
        let entered = token.clone();
        thread::spawn(move || entered.enter(|| handle.run(call)));
        Box::new(move || token.cancel())
    }),
    ("plain thread under a token", |runtime, call| {
        let (token, handle) = (Token::new(), runtime.handle());
        let entered = token.clone();
        thread::spawn(move || handle.enter(|| entered.enter(call)));
        Box::new(move || token.cancel())
    }),
];

pub(crate) const TIMED_OUT: &[(&str, Start)] = &[
    ("timeout", |runtime, call| {
        let limited = || assert!(timeout(SOON, call).is_err());
        runtime.spawn(limited).detach();
        by_itself()
    }),
    ("outer timeout that is nearer", |runtime, call| {
        let limited = || assert!(timeout(SOON, || timeout(2 * SOON, call)).is_err());
        runtime.spawn(limited).detach();
        by_itself()
    }),
    ("deadline", |runtime, call| {
        let deadline = Instant::now() + SOON;
        runtime
            .spawn(move || with_deadline(deadline, call))
            .detach();
        by_itself()
    }),
    ("deadline that has passed", |runtime, call| {
        let past = Instant::now();
        runtime.spawn(move || with_deadline(past, call)).detach();
        by_itself()
    }),
    ("timeout in a child", |runtime, call| {
        let limited = || scope(|s| drop(s.spawn(|| timeout(SOON, call))));
        runtime.spawn(limited).detach();
        by_itself()
    }),
    ("timeout on a plain thread", |runtime, call| {
        let handle = runtime.handle();
        thread::spawn(move || handle.enter(|| timeout(SOON, call)));
        by_itself()
    }),
];

/// These end with their runtime.
pub(crate) const ENDED: &[(&str, Start)] = &[
    ("shutdown", |runtime, call| {
        runtime.spawn(call).detach();
        by_itself()
    }),
    ("shutdown below a group", |runtime, call| {
        let group = TaskGroup::new();
        runtime.enter(|| group.spawn(call)).unwrap();
        Box::new(move || drop(group))
    }),
    ("shutdown below a deadline", |runtime, call| {
        let limited = || timeout(Duration::from_secs(3600), call);
        runtime.spawn(|| _ = limited()).detach();
        by_itself()
    }),
];
