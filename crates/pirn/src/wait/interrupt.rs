//! Interrupts: why an interruptible call came back without having done its work.

use std::error::Error;
use std::fmt;
use std::io;

/// Why a call came back before it could do its work: a token that the caller is under, or the
/// calling fiber itself, was cancelled, or a deadline of the code around the call has passed.
///
/// An interrupted call did nothing and gives back what it was given. Interrupts are sticky:
/// every later interruptible call reports them too. A cancellation of the fiber itself stays until
/// it ends; that of a [`Token`](crate::cancel::Token), and a deadline, until the code is left that
/// they hold for ([`Token::enter`](crate::cancel::Token::enter), a [`scope`](crate::scope()),
/// [`with_deadline`](crate::cancel::with_deadline), [`timeout`](crate::timeout)). Where both
/// hold, the cancellation is reported.
///
/// Only a wait for an end that has come already returns `Ok` all the same: of a fiber
/// ([`JoinHandle::join`](crate::JoinHandle::join) and its kin), of the children of a scope
/// ([`Scope::wait`](crate::scope::Scope::wait)), of the fibers of a group
/// ([`TaskGroup::wait`](crate::scope::TaskGroup::wait)), of the fibers of a runtime
/// ([`Handle::wait_idle`](crate::runtime::Handle::wait_idle)).
#[non_exhaustive]
#[derive(Debug, Copy, Clone, PartialEq, Eq, Hash)]
pub enum Interrupt {
    /// A token that the caller is under, or the fiber itself, has been cancelled.
    Cancelled,
    /// A deadline of the surrounding code has passed.
    TimedOut,
}

impl Interrupt {
    /// Finds an interrupt in an error or in anything that it was caused by, inside
    /// [`io::Error`] included.
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

/// Of kind `TimedOut` for a deadline, else `Other`; never of kind `Interrupted`, which many
/// loops of `std` retry without end.
impl From<Interrupt> for io::Error {
    fn from(interrupt: Interrupt) -> io::Error {
        let kind = match interrupt {
            Interrupt::Cancelled => io::ErrorKind::Other,
            Interrupt::TimedOut => io::ErrorKind::TimedOut,
        };
        io::Error::new(kind, interrupt)
    }
}
