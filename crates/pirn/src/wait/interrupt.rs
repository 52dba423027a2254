//! Interrupts: why an interruptible call returned without having done its work.

use std::error::Error;
use std::fmt;
use std::io;

/// The reason why a call returned before it could do its work. A token of the caller's code, or the
/// calling fiber itself, was cancelled, or a deadline of the code around the call has passed.
///
/// An interrupted call did nothing. A send or a spawn returns the value or the closure; a call that
/// takes a handle, a receiver or a future by value drops it. Interrupts stay: every later
/// interruptible call reports them too. A cancellation of the fiber itself stays until it ends. A
/// cancellation of a [`Token`](crate::cancel::Token), and a deadline, stay until the code under
/// them is left ([`Token::enter`](crate::cancel::Token::enter), a [`scope`](crate::scope()),
/// [`with_deadline`](crate::cancel::with_deadline), [`timeout`](crate::timeout)). If both apply,
/// the cancellation is reported.
///
/// The only exception is a wait for an end that has already come, which returns `Ok`: of a fiber
/// ([`JoinHandle::join`](crate::JoinHandle::join) and the like), of the children of a scope
/// ([`Scope::wait`](crate::scope::Scope::wait)), of the fibers of a group
/// ([`TaskGroup::wait`](crate::scope::TaskGroup::wait)), of the fibers of a runtime
/// ([`Handle::wait_idle`](crate::runtime::Handle::wait_idle)).
///
/// # Examples
/// ```
/// use std::time::Duration;
///
/// use pirn::Interrupt;
/// use pirn::cancel::Token;
///
/// let token = Token::new();
/// token.cancel();
/// let slept = token.enter(|| pirn::sleep(Duration::from_secs(60)));
/// assert_eq!(slept, Err(Interrupt::Cancelled));
/// ```
#[doc(alias = "Canceled")]
#[doc(alias = "DeadlineExceeded")]
#[non_exhaustive]
#[derive(Debug, Copy, Clone, PartialEq, Eq, Hash)]
pub enum Interrupt {
    /// A token of the caller's code, or the fiber itself, has been cancelled.
    Cancelled,
    /// A deadline of the surrounding code has passed.
    TimedOut,
}

impl Interrupt {
    /// Returns the interrupt in an error or its sources, also inside an [`io::Error`]; `None` if
    /// there is none.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use std::io;
    ///
    /// use pirn::Interrupt;
    ///
    /// let error = io::Error::from(Interrupt::TimedOut);
    /// assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    /// assert_eq!(Interrupt::of(&error), Some(Interrupt::TimedOut));
    /// assert_eq!(Interrupt::of(&io::Error::from(io::ErrorKind::TimedOut)), None);
    /// ```
    pub fn of(error: &(dyn Error + 'static)) -> Option<Interrupt> {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(found) = error.downcast_ref::<Interrupt>() {
                return Some(*found);
            }
            let inside = error
                .downcast_ref::<io::Error>()
                .and_then(io::Error::get_ref);
            next = match inside {
                Some(inside) => Some(inside),
                None => error.source(),
            };
        }
        None
    }
}

impl fmt::Display for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Interrupt::Cancelled => "cancelled",
            Interrupt::TimedOut => "a deadline of the surrounding code has passed",
        })
    }
}

impl Error for Interrupt {}

impl Interrupt {
    /// Returns the kind of an error of I/O for this reason.
    pub(crate) fn kind(self) -> io::ErrorKind {
        match self {
            Interrupt::Cancelled => io::ErrorKind::Other,
            Interrupt::TimedOut => io::ErrorKind::TimedOut,
        }
    }
}

/// Kind `TimedOut` for a deadline, else `Other`; never `Interrupted`, which many loops of `std`
/// retry without end.
impl From<Interrupt> for io::Error {
    fn from(interrupt: Interrupt) -> io::Error {
        io::Error::new(interrupt.kind(), interrupt)
    }
}
