//! Parts of the command lines of workers of a job queue.

use std::env;
use std::ffi::OsStr;
use std::ops::RangeInclusive;
use std::os::unix::fs::PermissionsExt as _;
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

/// Returns the address of a server without the user and the password before it.
#[must_use]
pub fn address(server: &str) -> &str {
    server.rsplit('@').next().unwrap_or_default()
}

/// Checks that there is a file that the command may be: a wrong name would make all jobs fail.
///
/// # Errors
/// If there is none.
pub fn find(command: &OsStr) -> anyhow::Result<()> {
    let (name, path) = (command.display(), env::var_os("PATH"));
    if command.as_encoded_bytes().contains(&b'/') {
        let is_there = can_run(Path::new(command));
        ensure!(is_there, "'{name}' is no file that can be run");
    } else if let Some(path) = path {
        let is_there =
            env::split_paths(&path).any(|folder| can_run(&folder.join(command)));
        ensure!(is_there, "no command '{name}' in PATH");
    }
    Ok(())
}

fn can_run(path: &Path) -> bool {
    let found = path.metadata();
    found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
