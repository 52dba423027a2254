//! Why a join returns no result.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::io;

use crate::fiber::panic_payload::Panic;
use crate::shim::Lock;
use crate::wait::Interrupt;

/// The payload of a fiber's panic, as `std::thread::JoinHandle::join` returns it. This wrapper can
/// be shared between threads, so that errors that carry it can be too.
///
/// # Examples
/// ```
/// use pirn::spawn::JoinError;
///
/// let fiber = pirn::spawn(|| -> u32 { panic!("on purpose") });
/// match fiber.join() {
///     Err(JoinError::Panicked(payload)) => {
///         assert_eq!(payload.message().as_deref(), Some("on purpose"));
///     }
///     other => panic!("{other:?}"),
/// }
/// ```
pub struct Payload(Lock<Panic>);

impl Payload {
    pub(crate) fn new(panic: Panic) -> Payload {
        Payload(Lock::new(panic))
    }

    /// Returns the payload, as `std::panic::resume_unwind` takes it.
    ///
    /// # Examples
    /// ```
    /// use pirn::spawn::JoinError;
    ///
    /// let fiber = pirn::spawn(|| -> u32 { std::panic::panic_any(7_u32) });
    /// let Err(JoinError::Panicked(payload)) = fiber.join() else {
    ///     panic!("the fiber has not panicked");
    /// };
    /// assert_eq!(payload.into_inner().downcast_ref::<u32>(), Some(&7));
    /// ```
    #[must_use]
    pub fn into_inner(self) -> Box<dyn Any + Send> {
        self.0.into_inner()
    }

    /// Returns the panic's message, if it was raised with one.
    ///
    /// # Examples
    /// ```
    /// use pirn::spawn::JoinError;
    ///
    /// let fiber = pirn::spawn(|| -> u32 { panic!("row {}", 7) });
    /// let Err(JoinError::Panicked(payload)) = fiber.join() else {
    ///     panic!("the fiber has not panicked");
    /// };
    /// assert_eq!(payload.message(), Some(String::from("row 7")));
    /// ```
    #[must_use]
    pub fn message(&self) -> Option<String> {
        let panic = self.0.lock();
        match panic.downcast_ref::<&'static str>() {
            Some(text) => Some((*text).to_owned()),
            None => panic.downcast_ref::<String>().cloned(),
        }
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Payload").field(&self.message()).finish()
    }
}

/// An error returned from a join: the reason why there is no result.
///
/// It is neither `Clone` nor `PartialEq`: the payload of a panic, a `Box<dyn Any>`, is neither.
///
/// # Examples
/// ```
/// let fiber = pirn::spawn(|| -> u32 { panic!("on purpose") });
/// let error = fiber.join().unwrap_err();
/// assert!(error.is_panic());
/// assert_eq!(error.to_string(), "the fiber panicked: on purpose");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum JoinError {
    /// The fiber panicked.
    Panicked(Payload),
    /// The fiber was cancelled, or its runtime shut down, before it started.
    NotRun,
    /// The outcome has been taken before: the handle was polled, as a future, until it was ready.
    Taken,
    /// The joining fiber was interrupted; the other one continues.
    Interrupted(Interrupt),
}

impl JoinError {
    /// Returns true if the fiber panicked.
    ///
    /// # Examples
    /// ```
    /// use pirn::spawn::JoinError;
    ///
    /// let fiber = pirn::spawn(|| -> u32 { panic!("on purpose") });
    /// assert!(fiber.join().unwrap_err().is_panic());
    /// assert!(!JoinError::NotRun.is_panic());
    /// ```
    #[must_use]
    pub fn is_panic(&self) -> bool {
        matches!(self, JoinError::Panicked(_))
    }

    /// Returns the payload of the panic.
    ///
    /// # Panics
    /// If the fiber did not panic, with this error's text. [`try_into_panic`](Self::try_into_panic)
    /// returns the error instead, and [`is_panic`](Self::is_panic) distinguishes the two.
    ///
    /// # Examples
    /// ```
    /// let fiber = pirn::spawn(|| -> u32 { panic!("on purpose") });
    /// let payload = fiber.join().unwrap_err().into_panic();
    /// assert_eq!(payload.downcast_ref::<&str>(), Some(&"on purpose"));
    /// ```
    #[track_caller]
    #[must_use]
    pub fn into_panic(self) -> Box<dyn Any + Send> {
        match self.try_into_panic() {
            Ok(payload) => payload,
            Err(other) => panic!("no panic to take the payload of: {other}"),
        }
    }

    /// Returns the payload of the panic, if the fiber panicked.
    ///
    /// # Errors
    /// Returns this error if it is not a panic.
    ///
    /// # Examples
    /// ```
    /// use pirn::spawn::JoinError;
    ///
    /// let fiber = pirn::spawn(|| -> u32 { panic!("on purpose") });
    /// let payload = fiber.join().unwrap_err().try_into_panic().unwrap();
    /// assert_eq!(payload.downcast_ref::<&str>(), Some(&"on purpose"));
    /// assert!(matches!(JoinError::NotRun.try_into_panic(), Err(JoinError::NotRun)));
    /// ```
    pub fn try_into_panic(self) -> Result<Box<dyn Any + Send>, JoinError> {
        match self {
            JoinError::Panicked(payload) => Ok(payload.into_inner()),
            other => Err(other),
        }
    }

    /// Resumes the panic of the joined fiber in the caller.
    ///
    /// # Panics
    /// Always: with the fiber's own payload, or with this error's text if it did not panic.
    ///
    /// # Examples
    /// ```should_panic
    /// let fiber = pirn::spawn(|| -> u32 { panic!("on purpose") });
    /// let value = fiber.join().unwrap_or_else(|error| error.resume());
    /// println!("{value}"); // not reached
    /// ```
    #[doc(alias = "resume_unwind")]
    #[track_caller]
    pub fn resume(self) -> ! {
        match self {
            JoinError::Panicked(payload) => {
                std::panic::resume_unwind(payload.into_inner())
            }
            other => panic!("{other}"),
        }
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JoinError::Panicked(payload) => match payload.message() {
                Some(message) => write!(f, "the fiber panicked: {message}"),
                None => f.write_str("the fiber panicked"),
            },
            JoinError::NotRun => f.write_str(
                "the fiber never started: it was cancelled, or its runtime shut down",
            ),
            JoinError::Taken => f.write_str(
                "the fiber's outcome has been taken: its handle was polled until it yielded",
            ),
            JoinError::Interrupted(interrupt) => {
                write!(f, "waiting was interrupted: {interrupt}")
            }
        }
    }
}

impl Error for JoinError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            JoinError::Interrupted(interrupt) => Some(interrupt),
            JoinError::Panicked(_) | JoinError::NotRun | JoinError::Taken => None,
        }
    }
}

/// Kind `Other`, or that of the [`Interrupt`]. A panic is not resumed.
impl From<JoinError> for io::Error {
    fn from(error: JoinError) -> io::Error {
        let kind = match &error {
            JoinError::Interrupted(interrupt) => interrupt.kind(),
            JoinError::Panicked(_) | JoinError::NotRun | JoinError::Taken => {
                io::ErrorKind::Other
            }
        };
        io::Error::new(kind, error)
    }
}
