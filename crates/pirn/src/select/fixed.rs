//! The select over arms that are written in the code: the macro, and the functions that its
//! expansion calls.

use std::ptr;

use crate::base::choice::Operation;
use crate::wait::choice::{self, Choice, Order};
use crate::wait::{Interrupt, point};

/// The result of a select.
#[derive(Debug)]
pub enum Out<A, B> {
    /// The result without a case: an interrupt, or that no case was ready.
    This(A),
    /// The result of the cases.
    Next(B),
}

/// Waits until a case is ready, and completes it.
#[track_caller]
pub fn choose(cases: &[&dyn choice::Case], biased: bool) -> Result<usize, Interrupt> {
    match choice::choose(cases, order(biased), None)? {
        Choice::Case(index) => Ok(index),
        Choice::TimedOut => unreachable!("a wait without a time limit"),
    }
}

/// Completes a case if one is ready now.
pub fn choose_now(cases: &[&dyn choice::Case], biased: bool) -> Option<usize> {
    point(Operation::TrySelect, 0);
    choice::choose_now(cases, order(biased))
}

/// Returns the index of `case` in `cases`.
pub fn index_of(case: &dyn choice::Case, cases: &[&dyn choice::Case]) -> usize {
    let place = cases.iter().position(|other| ptr::addr_eq(*other, case));
    place.expect("one of the arms")
}

/// Panics: no arm has this index.
#[cold]
pub fn no_arm() -> ! {
    unreachable!("a case that was not there has won")
}

fn order(biased: bool) -> Order {
    if biased { Order::First } else { Order::Random }
}

/// Waits until one of its arms is ready, and runs that arm.
///
/// | arm | ready when | binds |
/// |---|---|---|
/// | `recv(rx) -> r => …` | there is a value, or `rx` is closed and drained | `Result<T, RecvError>` |
/// | `send(tx, value) -> r => …` | there is room or a receiver, or `tx` is closed | `Result<(), SendError<T>>` |
/// | `join(handle) => …` | the fiber has ended; then `handle.join()` does not wait | |
/// | `after(duration) => …` | `duration` has passed | |
/// | `at(instant) => …` | `instant` has passed | |
/// | `parked() => …` | the caller has been unparked | |
/// | `case(c) -> r => …` | the case `c` is ready | the result of its `take` |
/// | `cancelled(i) => …` | the caller is interrupted | [`Interrupt`] |
/// | `default => …` | no other arm is ready now | |
///
/// If several arms are ready, one is chosen at random, each with the same probability. With
/// `biased;` before the first arm, the first ready one is chosen. The arms that are not chosen have
/// no effect. Channels, values and durations are all evaluated once, from top to bottom, before the
/// select waits. The value of a `send` that is not chosen is dropped.
///
/// An arm ends with a comma, or with its block. The arms are those of a `match`: `break`,
/// `continue`, `return` and `?` have the meaning that they have around the select.
///
/// # Panics
/// Without `default`, inside the [poll](crate::future#inside-a-poll) of a future on a fiber, if it
/// has to wait.
///
/// # Cancellation
/// Without `default`, an interruption point. Parks a fiber, blocks a plain thread. An interrupt
/// goes to the `cancelled` arm. If there is none, the first `recv` or `send` arm gets it as its
/// error. With neither, the select does not compile. With `default` it never waits and is never
/// interrupted.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use pirn::channel::{RecvError, bounded};
///
/// let (tx, rx) = bounded(1);
/// let (done, finished) = bounded::<()>(0);
/// pirn::scope(|s| {
///     s.spawn(move || {
///         (0..3).for_each(|i| tx.send(i).unwrap());
///         drop(done);
///     });
///     let mut sum = 0;
///     loop {
///         pirn::select! {
///             recv(rx) -> value => match value {
///                 Ok(value) => sum += value,
///                 Err(RecvError::Disconnected) => break,
///                 Err(error) => panic!("{error}"),
///             },
///             after(Duration::from_secs(60)) => panic!("nothing for a minute"),
///         }
///     }
///     assert_eq!(sum, 3);
///     pirn::select! {
///         recv(finished) -> end => assert_eq!(end, Err(RecvError::Disconnected)),
///         default => panic!("the sender has gone"),
///     }
/// });
/// ```
#[doc(alias = "select_biased")]
#[macro_export]
macro_rules! select {
    // A head, then the arm's body. State: bias, cases so far, the arm that gets an interrupt, the
    // arm `cancelled`, the arm `default`.
    (@head $bias:tt $cases:tt [] $can:tt $def:tt recv($rx:expr) -> $p:pat => $($rest:tt)+) => {
        $crate::select!(@body $bias $cases [case] $can $def
            { case ($p) { let rx = &$rx; let case = &mut rx.recv_case(); } } $($rest)+)
    };
    (@head $bias:tt $cases:tt $first:tt $can:tt $def:tt recv($rx:expr) -> $p:pat => $($rest:tt)+) => {
        $crate::select!(@body $bias $cases $first $can $def
            { case ($p) { let rx = &$rx; let case = &mut rx.recv_case(); } } $($rest)+)
    };
    (@head $bias:tt $cases:tt [] $can:tt $def:tt send($tx:expr, $v:expr) -> $p:pat => $($rest:tt)+) => {
        $crate::select!(@body $bias $cases [case] $can $def
            { case ($p) { let tx = &$tx; let case = &mut tx.send_case($v); } } $($rest)+)
    };
    (@head $bias:tt $cases:tt $first:tt $can:tt $def:tt send($tx:expr, $v:expr) -> $p:pat => $($rest:tt)+) => {
        $crate::select!(@body $bias $cases $first $can $def
            { case ($p) { let tx = &$tx; let case = &mut tx.send_case($v); } } $($rest)+)
    };
    (@head $bias:tt $cases:tt $first:tt $can:tt $def:tt join($handle:expr) => $($rest:tt)+) => {
        $crate::select!(@body $bias $cases $first $can $def
            { case (()) { let handle = &$handle; let case = &mut handle.join_case(); } } $($rest)+)
    };
    (@head $bias:tt $cases:tt $first:tt $can:tt $def:tt after($limit:expr) => $($rest:tt)+) => {
        $crate::select!(@body $bias $cases $first $can $def
            { case (()) { let case = &mut $crate::time::after_case($limit); } } $($rest)+)
    };
    (@head $bias:tt $cases:tt $first:tt $can:tt $def:tt at($at:expr) => $($rest:tt)+) => {
        $crate::select!(@body $bias $cases $first $can $def
            { case (()) { let case = &mut $crate::time::at($at); } } $($rest)+)
    };
    (@head $bias:tt $cases:tt $first:tt $can:tt $def:tt parked() => $($rest:tt)+) => {
        $crate::select!(@body $bias $cases $first $can $def
            { case (()) { let case = &mut $crate::select::parked(); } } $($rest)+)
    };
    (@head $bias:tt $cases:tt $first:tt $can:tt $def:tt case($c:expr) -> $p:pat => $($rest:tt)+) => {
        $crate::select!(@body $bias $cases $first $can $def
            { case ($p) { let case = &mut $c; } } $($rest)+)
    };
    (@head $bias:tt $cases:tt $first:tt [] $def:tt cancelled($i:pat) => $($rest:tt)+) => {
        $crate::select!(@body $bias $cases $first $def cancelled ($i) $($rest)+)
    };
    (@head $bias:tt $cases:tt $first:tt $can:tt [] default => $($rest:tt)+) => {
        $crate::select!(@body $bias $cases $first $can default $($rest)+)
    };
    (@head $bias:tt $cases:tt $first:tt $can:tt $def:tt) => {
        $crate::select!(@build $bias $cases $first $can $def)
    };
    (@head $bias:tt $cases:tt $first:tt $can:tt $def:tt $($rest:tt)+) => {
        ::core::compile_error!(::core::concat!(
            "not an arm of a select (one is `recv(rx) -> value => …`; `send` and `case` need a \
             `-> pattern` too), or a second `cancelled` or `default`: ",
            ::core::stringify!($($rest)+)
        ))
    };

    // The body; then continues with the next arm.
    (@body $bias:tt $cases:tt $first:tt $def:tt cancelled $i:tt $body:block $(, $($rest:tt)*)?) => {
        $crate::select!(@head $bias $cases $first [$i $body] $def $($($rest)*)?)
    };
    (@body $bias:tt $cases:tt $first:tt $def:tt cancelled $i:tt $body:block $($rest:tt)*) => {
        $crate::select!(@head $bias $cases $first [$i $body] $def $($rest)*)
    };
    (@body $bias:tt $cases:tt $first:tt $def:tt cancelled $i:tt $body:expr $(, $($rest:tt)*)?) => {
        $crate::select!(@head $bias $cases $first [$i $body] $def $($($rest)*)?)
    };
    (@body $bias:tt $cases:tt $first:tt $can:tt default $body:block $(, $($rest:tt)*)?) => {
        $crate::select!(@head $bias $cases $first $can [$body] $($($rest)*)?)
    };
    (@body $bias:tt $cases:tt $first:tt $can:tt default $body:block $($rest:tt)*) => {
        $crate::select!(@head $bias $cases $first $can [$body] $($rest)*)
    };
    (@body $bias:tt $cases:tt $first:tt $can:tt default $body:expr $(, $($rest:tt)*)?) => {
        $crate::select!(@head $bias $cases $first $can [$body] $($($rest)*)?)
    };
    (@body $bias:tt [$($cases:tt)*] $first:tt $can:tt $def:tt { $($new:tt)* } $body:block $(, $($rest:tt)*)?) => {
        $crate::select!(@head $bias [$($cases)* { $($new)* $body }] $first $can $def $($($rest)*)?)
    };
    (@body $bias:tt [$($cases:tt)*] $first:tt $can:tt $def:tt { $($new:tt)* } $body:block $($rest:tt)*) => {
        $crate::select!(@head $bias [$($cases)* { $($new)* $body }] $first $can $def $($rest)*)
    };
    (@body $bias:tt [$($cases:tt)*] $first:tt $can:tt $def:tt { $($new:tt)* } $body:expr $(, $($rest:tt)*)?) => {
        $crate::select!(@head $bias [$($cases)* { $($new)* $body }] $first $can $def $($($rest)*)?)
    };

    // All arms are known.
    (@build $bias:tt [$({ $case:ident ($p:pat) { $($setup:tt)* } $body:expr })*] $first:tt [] [$default:expr]) => {
        match {
            #[allow(unused_imports, reason = "a select of nothing but `default`")]
            use $crate::select::Case as _;
            $($($setup)*)*
            match $crate::select::choose_now(&[$($case.shared()),*], $bias) {
                ::core::option::Option::Some(won) => {
                    $crate::select::Out::Next($crate::select!(@take won $($case)*))
                }
                ::core::option::Option::None => $crate::select::Out::This(()),
            }
        } {
            $crate::select::Out::This(()) => $default,
            $crate::select::Out::Next(out) => $crate::select!(@run out $({ ($p) $body })*),
        }
    };
    (@build $bias:tt $cases:tt $first:tt [$i:tt $cancelled:expr] [$default:expr]) => {
        ::core::compile_error!(
            "a select with `default` does not wait, so it is never interrupted: leave `cancelled` out"
        )
    };
    (@build $bias:tt [$({ $case:ident ($p:pat) { $($setup:tt)* } $body:expr })*] $first:tt [($i:pat) $cancelled:expr] []) => {
        match {
            #[allow(unused_imports, reason = "a select of nothing but `cancelled`")]
            use $crate::select::Case as _;
            $($($setup)*)*
            match $crate::select::choose(&[$($case.shared()),*], $bias) {
                ::core::result::Result::Ok(won) => {
                    $crate::select::Out::Next($crate::select!(@take won $($case)*))
                }
                ::core::result::Result::Err(interrupt) => {
                    $crate::select::Out::This(interrupt)
                }
            }
        } {
            $crate::select::Out::This($i) => $cancelled,
            $crate::select::Out::Next(out) => $crate::select!(@run out $({ ($p) $body })*),
        }
    };
    (@build $bias:tt [$({ $case:ident ($p:pat) { $($setup:tt)* } $body:expr })*] [$first:ident] [] []) => {
        match {
            use $crate::select::Case as _;
            $($($setup)*)*
            match $crate::select::choose(&[$($case.shared()),*], $bias) {
                ::core::result::Result::Ok(won) => $crate::select!(@take won $($case)*),
                ::core::result::Result::Err(interrupt) => {
                    $first.interrupt(interrupt);
                    let won = $crate::select::index_of(
                        $first.shared(),
                        &[$($case.shared()),*],
                    );
                    $crate::select!(@take won $($case)*)
                }
            }
        } {
            out => $crate::select!(@run out $({ ($p) $body })*),
        }
    };
    (@build $bias:tt $cases:tt [] [] []) => {
        ::core::compile_error!(
            "this select has no arm for an interrupt: add `cancelled(interrupt) => …`"
        )
    };

    // The result of the winning case, in its place among the others, which have none.
    (@take $won:ident) => { () };
    (@take $won:ident $case:ident $($others:ident)*) => {
        (
            if $won == 0 {
                ::core::option::Option::Some($case.take())
            } else {
                ::core::option::Option::None
            },
            {
                #[allow(unused_variables, reason = "the last arm asks no further")]
                let won = ::core::primitive::usize::wrapping_sub($won, 1);
                $crate::select!(@take won $($others)*)
            },
        )
    };

    // The arm of the winning case.
    (@run $out:ident) => {{
        let () = $out;
        $crate::select::no_arm()
    }};
    (@run $out:ident { ($p:pat) $body:expr } $($others:tt)*) => {{
        let (this, others) = $out;
        match this {
            ::core::option::Option::Some($p) => $body,
            ::core::option::Option::None => $crate::select!(@run others $($others)*),
        }
    }};

    (@ $($rest:tt)*) => {
        ::core::compile_error!(::core::concat!(
            "not an arm of a select: ", ::core::stringify!($($rest)*)
        ))
    };
    (biased; $($arms:tt)+) => { $crate::select!(@head true [] [] [] [] $($arms)+) };
    ($($arms:tt)+) => { $crate::select!(@head false [] [] [] [] $($arms)+) };
}
