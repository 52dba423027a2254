//! Properties of a program, as macros that a campaign evaluates.

use std::fmt;

use super::is_simulated;
use crate::base::choice::{Property, Rule};
use crate::sched::deterministic::control;

/// Says that a condition holds whenever this line runs: if it does not in a simulated run, that run
/// fails, also if the program goes on. Not evaluated elsewhere.
///
/// `always!(condition, "name")`, or with a message as in `format!`:
/// `always!(condition, "name", "{} of {}", a, b)`. A name is the same in all runs.
///
/// # Examples
/// ```
/// let (used, limit) = (3, 4);
/// pirn::sim::always!(used <= limit, "within the limit");
/// pirn::sim::always!(used <= limit, "within the limit", "{used} of {limit} are used");
/// ```
#[macro_export]
#[doc(hidden)]
macro_rules! sim_always {
    ($condition:expr, $name:literal $(,)?) => {
        $crate::sim::record($crate::sim::Rule::Always, $name, || $condition, || {
            ::std::string::String::new()
        })
    };
    ($condition:expr, $name:literal, $($message:tt)+) => {
        $crate::sim::record($crate::sim::Rule::Always, $name, || $condition, || {
            $crate::sim::describe(::std::format_args!($($message)+))
        })
    };
}

/// Says that a condition holds at least once in a campaign: if this line runs, but the condition
/// holds in none of the runs, the campaign fails, since it has not tested what it should. Not
/// evaluated elsewhere.
///
/// # Examples
/// ```
/// let waiting = 2;
/// pirn::sim::sometimes!(waiting > 1, "several fibers wait");
/// ```
#[macro_export]
#[doc(hidden)]
macro_rules! sim_sometimes {
    ($condition:expr, $name:literal $(,)?) => {
        $crate::sim::record(
            $crate::sim::Rule::Sometimes,
            $name,
            || $condition,
            || ::std::string::String::new(),
        )
    };
}

/// Says that this line runs in a campaign: `Campaign::reaches` of the crate `pirn-sim` takes the
/// name. Has no effect elsewhere.
///
/// # Examples
/// ```
/// pirn::sim::reachable!("the queue is full");
/// ```
#[macro_export]
#[doc(hidden)]
macro_rules! sim_reachable {
    ($name:literal $(,)?) => {
        $crate::sim::sometimes!(true, $name)
    };
}

/// Records in the present run whether a condition holds.
#[doc(hidden)]
#[inline]
#[track_caller]
pub fn record(
    rule: Rule,
    name: &'static str,
    holds: impl FnOnce() -> bool,
    message: impl FnOnce() -> String,
) {
    if is_simulated() {
        let holds = holds();
        let is_worth = rule == Rule::Always && !holds;
        control::note(Property {
            rule,
            name,
            holds,
            at: std::panic::Location::caller(),
            message: if is_worth { message() } else { String::new() },
        });
    }
}

/// Returns a message as text.
#[doc(hidden)]
pub fn describe(message: fmt::Arguments<'_>) -> String {
    message.to_string()
}
