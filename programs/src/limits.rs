//! Limits on the command lines of the servers.

use std::time::Duration;

/// The limit of connections at once, unless the command line has another. Arbitrary.
pub const CONNECTIONS: usize = 10_000;

/// The greatest limit of connections: more than a process may have open.
const MOST: usize = 10_000_000;

/// Reads a limit of connections: a number from 1 to ten millions.
///
/// # Errors
/// If the text is no such number.
pub fn connections(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(connections) if (1..=MOST).contains(&connections) => Ok(connections),
        _ => Err(format!("a number from 1 to {MOST} is needed")),
    }
}

/// Reads a time limit: a number of seconds above 0, such as `30` or `0.3`, up to [`LONGEST`].
///
/// # Errors
/// If the text is no such number.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let limit = text.parse().ok().map(Duration::try_from_secs_f64);
    match limit {
        Some(Ok(limit)) if !limit.is_zero() && limit <= LONGEST => Ok(limit),
        _ => Err(NOT_SECONDS.to_owned()),
    }
}

/// Some thirty years. Arbitrary.
const LONGEST: Duration = Duration::from_secs(1_000_000_000);

const NOT_SECONDS: &str =
    "a number of seconds above 0 is needed, such as 30 or 0.3, and at most 1000000000";
