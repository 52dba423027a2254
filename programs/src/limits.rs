//! Limits on the command lines of the servers.

use std::time::Duration;

/// The limit of connections at once, unless the command line has another. Arbitrary.
pub const CONNECTIONS: usize = 10_000;

/// Reads a time limit: a number of seconds above 0, such as `30` or `0.3`.
///
/// # Errors
/// If the text is no such number.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| NOT_SECONDS.to_owned())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(limit) if !limit.is_zero() => Ok(limit),
        _ => Err(NOT_SECONDS.to_owned()),
    }
}

const NOT_SECONDS: &str = "a number of seconds above 0 is needed, such as 30 or 0.3";
