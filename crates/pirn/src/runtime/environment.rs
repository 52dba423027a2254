//! The environment variables, read and checked when a runtime is built.

use std::env;
use std::io;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::events::LogMask;
use crate::observe::Deadlock;

/// The most workers of a runtime. Arbitrary: more than the cores of any likely machine.
pub(crate) const MOST_WORKERS: usize = 1024;

/// The settings from the environment.
#[derive(Debug, Default)]
pub(super) struct Environment {
    pub(super) workers: Option<usize>,
    pub(super) stack_size: Option<usize>,
    pub(super) seed: Option<u64>,
    pub(super) deadlock: Option<Deadlock>,
    pub(super) stats: Option<bool>,
    pub(super) verbose: Option<bool>,
    pub(super) trace: Option<PathBuf>,
    pub(super) log: Option<LogMask>,
    /// `Some(None)`: the check is off.
    pub(super) slow_fiber: Option<Option<Duration>>,
    pub(super) signals: Option<bool>,
    pub(super) assertions: Option<bool>,
    pub(super) inspect: Option<PathBuf>,
    pub(super) io_uring: Option<bool>,
}

impl Environment {
    pub(super) fn read() -> io::Result<Environment> {
        Ok(Environment {
            workers: number("PIRN_WORKERS")?
                .map(|n| check_workers("PIRN_WORKERS", n))
                .transpose()?,
            stack_size: size("PIRN_STACK_SIZE")?
                .map(|bytes| check_stack_size("PIRN_STACK_SIZE", bytes))
                .transpose()?,
            seed: number("PIRN_SEED")?,
            deadlock: deadlock("PIRN_DEADLOCK")?,
            stats: switch("PIRN_STATS")?,
            verbose: switch("PIRN_VERBOSE")?,
            trace: path("PIRN_TRACE")?,
            log: log("PIRN_LOG")?,
            slow_fiber: slow("PIRN_SLOW_FIBER")?,
            signals: switch("PIRN_STALL_SIGNAL")?,
            assertions: switch("PIRN_ASSERT")?,
            inspect: path("PIRN_INSPECT")?,
            io_uring: switch("PIRN_IO_URING")?,
        })
    }
}

/// Returns `workers` if a runtime can have that many; else an error with the name of the setting.
pub(super) fn check_workers(name: &str, workers: usize) -> io::Result<usize> {
    if (1..=MOST_WORKERS).contains(&workers) {
        return Ok(workers);
    }
    Err(invalid(format!(
        "{name} is {workers}; it must be from 1 to {MOST_WORKERS}"
    )))
}

/// Returns the number of workers of a deterministic runtime; an error if another number was
/// requested.
pub(super) fn check_deterministic(workers: Option<usize>) -> io::Result<usize> {
    match workers {
        None | Some(1) => Ok(1),
        Some(workers) => Err(invalid(format!(
            "workers is {workers}; a deterministic runtime has 1"
        ))),
    }
}

/// Returns `bytes` if fibers can run on a stack of that size; else an error with the name of the
/// setting.
pub(super) fn check_stack_size(name: &str, bytes: usize) -> io::Result<usize> {
    /// Smaller stacks cannot even report a panic; the same as `MIN_SIZE` in `context`.
    const LEAST: usize = 16 << 10;
    /// The same as for a single fiber (`MOST_STACK` in `spawn::builder`).
    const MOST: usize = 1 << 40;
    if (LEAST..=MOST).contains(&bytes) {
        return Ok(bytes);
    }
    Err(invalid(format!(
        "{name} is {bytes} bytes; it must be from {LEAST} to {MOST}"
    )))
}

/// Returns an error if thread names cannot begin with `name`.
pub(super) fn check_name(name: &str) -> io::Result<()> {
    if name.contains('\0') {
        return Err(invalid("name contains a zero byte".to_owned()));
    }
    Ok(())
}

/// Returns an error if no fiber could start.
pub(super) fn check_max_stacks(stacks: usize) -> io::Result<()> {
    if stacks == 0 {
        return Err(invalid("max_stacks is 0; no fiber could start".to_owned()));
    }
    Ok(())
}

/// Returns `threshold` if it is valid; else an error with the name of the setting.
pub(super) fn check_slow(name: &str, threshold: Duration) -> io::Result<Duration> {
    if threshold.is_zero() {
        return Err(invalid(format!("{name} is 0; it must be a time")));
    }
    Ok(threshold)
}

/// Reads a switch: 1 or 0.
fn switch(name: &str) -> io::Result<Option<bool>> {
    match text(name)?.as_deref().map(str::trim) {
        None => Ok(None),
        Some("0") => Ok(Some(false)),
        Some("1") => Ok(Some(true)),
        Some(other) => Err(invalid(format!("{name} is '{other}'; it must be 0 or 1"))),
    }
}

fn path(name: &str) -> io::Result<Option<PathBuf>> {
    match env::var_os(name) {
        Some(path) if path.is_empty() => {
            Err(invalid(format!("{name} is ''; it must be a path")))
        }
        path => Ok(path.map(PathBuf::from)),
    }
}

fn log(name: &str) -> io::Result<Option<LogMask>> {
    let Some(text) = text(name)? else {
        return Ok(None);
    };
    match text.parse() {
        Ok(mask) => Ok(Some(mask)),
        Err(why) => Err(invalid(format!("{name} is '{text}': {why}"))),
    }
}

/// Reads a number of milliseconds, or `off`.
fn slow(name: &str) -> io::Result<Option<Option<Duration>>> {
    match text(name)?.as_deref().map(str::trim) {
        Some("off") => Ok(Some(None)),
        _ => number(name)?
            .map(|ms| check_slow(name, Duration::from_millis(ms)).map(Some))
            .transpose(),
    }
}

fn number<N: FromStr>(name: &str) -> io::Result<Option<N>> {
    let Some(text) = text(name)? else {
        return Ok(None);
    };
    match text.trim().parse() {
        Ok(n) => Ok(Some(n)),
        Err(_) => Err(invalid(format!("{name} is '{text}'; it must be a number"))),
    }
}

fn deadlock(name: &str) -> io::Result<Option<Deadlock>> {
    let Some(text) = text(name)? else {
        return Ok(None);
    };
    match text.trim() {
        "report" => Ok(Some(Deadlock::Report)),
        "abort" => Ok(Some(Deadlock::Abort)),
        "off" => Ok(Some(Deadlock::Off)),
        _ => Err(invalid(format!(
            "{name} is '{text}'; it must be 'report', 'abort' or 'off'"
        ))),
    }
}

/// Reads a number of bytes, with K, M or G for powers of 1024.
fn size(name: &str) -> io::Result<Option<usize>> {
    let Some(text) = text(name)? else {
        return Ok(None);
    };
    let wrong = || {
        invalid(format!(
            "{name} is '{text}'; it must be a number of bytes, as in 65536 or 64K"
        ))
    };
    let trimmed = text.trim();
    let (digits, unit) = match trimmed.char_indices().last() {
        Some((at, 'k' | 'K')) => (&trimmed[..at], 1 << 10),
        Some((at, 'm' | 'M')) => (&trimmed[..at], 1 << 20),
        Some((at, 'g' | 'G')) => (&trimmed[..at], 1 << 30),
        _ => (trimmed, 1),
    };
    let n: usize = digits.parse().map_err(|_| wrong())?;
    n.checked_mul(unit).map(Some).ok_or_else(wrong)
}

fn text(name: &str) -> io::Result<Option<String>> {
    match env::var(name) {
        Ok(text) => Ok(Some(text)),
        Err(env::VarError::NotPresent) => Ok(None),
        Err(env::VarError::NotUnicode(_)) => {
            Err(invalid(format!("{name} is not valid Unicode")))
        }
    }
}

/// The crate `pirn-hooks` is linked.
static HOOKS_LINKED: AtomicBool = AtomicBool::new(false);

/// Called by `pirn-hooks` before `main`.
#[cfg_attr(
    not(all(target_os = "linux", not(pirn_modelled))),
    expect(dead_code, reason = "the crate exists only there")
)]
pub(crate) fn set_hooks_linked() {
    HOOKS_LINKED.store(true, Ordering::Relaxed);
}

/// Checks that calls of libc can park, if they are to. `free`: fibers may migrate.
pub(super) fn check_hooks(wanted: bool, free: bool) -> io::Result<()> {
    if wanted && !HOOKS_LINKED.load(Ordering::Relaxed) {
        return Err(invalid(
            "`hooks(true)` without the crate `pirn-hooks`: add it to the dependencies, and \
             `use pirn_hooks as _;` to the program (Linux only)"
                .to_owned(),
        ));
    }
    if wanted && free {
        return Err(invalid(
            "hooks is true and free_migration is set; code between two calls of libc may \
             rely on its thread: build the runtime without one of the two"
                .to_owned(),
        ));
    }
    Ok(())
}

fn invalid(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}
