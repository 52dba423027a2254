//! Parts of the command lines of workers of a job queue.

use std::env;
use std::ffi::OsStr;
use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Duration;

use anyhow::ensure;

use crate::seconds;

/// The least and the greatest claim. Arbitrary.
const CLAIMS: RangeInclusive<Duration> =
    Duration::from_millis(10)..=Duration::from_secs(86_400);

/// Reads the time after which a job of a worker that has died is given to another: a number of
/// seconds from 0.01 to 86400.
///
/// # Errors
/// If the text is no such number.
pub fn claim(text: &str) -> Result<Duration, String> {
    match seconds(text) {
        Ok(claim) if CLAIMS.contains(&claim) => Ok(claim),
        _ => Err("a number of seconds from 0.01 to 86400 is needed".to_owned()),
    }
}

/// Checks that there is a file that the command may be: a wrong name would make all jobs fail.
///
/// # Errors
/// If there is none.
pub fn find(command: &OsStr) -> anyhow::Result<()> {
    let is_there = if command.as_encoded_bytes().contains(&b'/') {
        Path::new(command).exists()
    } else {
        let path = env::var_os("PATH").unwrap_or_default();
        env::split_paths(&path).any(|folder| folder.join(command).exists())
    };
    ensure!(is_there, "no command '{}' in PATH", command.display());
    Ok(())
}
