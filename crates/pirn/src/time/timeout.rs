//! A limit on how long a piece of code may wait.

use std::error::Error;
use std::fmt;
use std::io;
use std::time::Duration;

use crate::wait::{Interrupt, deadline, deadline_in};

/// The error of [`timeout`]: its deadline interrupted a wait.
///
/// # Examples
/// ```
/// use std::{io, time::Duration};
/// use pirn::{sync::Event, timeout};
///
/// let never = Event::manual();
/// let elapsed = timeout(Duration::from_millis(1), || never.wait()).unwrap_err();
/// assert_eq!(io::Error::from(elapsed).kind(), io::ErrorKind::TimedOut);
/// ```
#[derive(Copy, Clone, PartialEq, Eq, Hash)]
pub struct Elapsed(());

/// Runs `f` under a deadline `duration` from now, and returns its result.
///
/// When the deadline passes, the present wait of `f`, if it is an interruption point, reports
/// [`Interrupt::TimedOut`]. So does every later one in `f`.
///
/// Computing is not interrupted: if `f` meets no interruption point after the deadline, its result
/// is returned, however late. [`cancel::check`](crate::cancel::check) and
/// [`spawn::checkpoint`](crate::spawn::checkpoint) are interruption points that do not wait. In
/// virtual time ([`runtime::test`](crate::runtime::test)) calling them does not advance the clock,
/// so no deadline passes. The fibers of a scope inside `f` run under the deadline too; other fibers
/// that it spawns do not. If the clock cannot express the deadline, there is none.
///
/// # Errors
/// [`Elapsed`] if this deadline was reported to any call in `f`. The result of `f` is then dropped;
/// [`with_deadline`](crate::cancel::with_deadline) keeps it. If an enclosing deadline is as near or
/// nearer, it is reported instead of this one, and the result of `f` is returned.
///
/// # Panics
/// With the panic of `f`.
///
/// # Cancellation
/// Not an interruption point itself; suspends only if `f` does.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use pirn::{channel, time};
///
/// let (tx, rx) = channel::bounded::<u32>(1);
/// let limit = Duration::from_millis(2);
/// assert!(time::timeout(limit, || rx.recv()).is_err());
///
/// tx.send(7).unwrap();
/// assert_eq!(time::timeout(limit, || rx.recv()), Ok(Ok(7)));
/// ```
#[doc(alias = "WithTimeout")]
pub fn timeout<T>(duration: Duration, f: impl FnOnce() -> T) -> Result<T, Elapsed> {
    let Some(at) = deadline_in(duration) else {
        return Ok(f());
    };
    match deadline::under(at, f) {
        (value, false) => Ok(value),
        (_, true) => Err(Elapsed(())),
    }
}

impl fmt::Debug for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Elapsed")
    }
}

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the time limit has passed")
    }
}

impl Error for Elapsed {}

impl From<Elapsed> for Interrupt {
    fn from(_: Elapsed) -> Interrupt {
        Interrupt::TimedOut
    }
}

/// Of kind `TimedOut`.
impl From<Elapsed> for io::Error {
    fn from(elapsed: Elapsed) -> io::Error {
        io::Error::new(io::ErrorKind::TimedOut, elapsed)
    }
}
