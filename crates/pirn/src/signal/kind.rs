//! Signals by name and number.

use std::fmt;
use std::io;

use crate::sys::SIGNALS;

/// A signal, by its number.
///
/// # Examples
/// ```
/// use pirn::signal::Signal;
///
/// assert_eq!(Signal::TERM.to_string(), "SIGTERM");
/// assert_eq!(Signal::from_raw(Signal::TERM.as_raw()), Signal::TERM);
/// ```
#[doc(alias = "SignalKind")]
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Signal(i32);

macro_rules! signals {
    ($($(#[$doc:meta])* $name:ident = $number:ident,)*) => {
        impl Signal {
            $($(#[$doc])* pub const $name: Signal = Signal(libc::$number);)*
        }

        const NAMES: &[(i32, &str)] = &[$((libc::$number, stringify!($number)),)*];
    };
}

signals! {
    /// A timer of the process has expired.
    #[doc(alias = "SIGALRM")]
    #[doc(alias = "alarm")]
    ALRM = SIGALRM,
    /// A child process has ended, or stopped.
    #[doc(alias = "SIGCHLD")]
    #[doc(alias = "child")]
    CHLD = SIGCHLD,
    /// The process resumes after a stop.
    #[doc(alias = "SIGCONT")]
    CONT = SIGCONT,
    /// The terminal is gone; servers often take it as a request to reload their configuration.
    #[doc(alias = "SIGHUP")]
    #[doc(alias = "hangup")]
    HUP = SIGHUP,
    /// `Ctrl-C` in a terminal.
    #[doc(alias = "SIGINT")]
    #[doc(alias = "interrupt")]
    INT = SIGINT,
    /// A write to a pipe without readers.
    #[doc(alias = "SIGPIPE")]
    PIPE = SIGPIPE,
    /// `Ctrl-\` in a terminal.
    #[doc(alias = "SIGQUIT")]
    QUIT = SIGQUIT,
    /// The process is asked to end.
    #[doc(alias = "SIGTERM")]
    #[doc(alias = "terminate")]
    TERM = SIGTERM,
    /// `Ctrl-Z` in a terminal.
    #[doc(alias = "SIGTSTP")]
    TSTP = SIGTSTP,
    /// Meaning defined by the program.
    #[doc(alias = "SIGUSR1")]
    #[doc(alias = "user_defined1")]
    USR1 = SIGUSR1,
    /// Meaning defined by the program.
    #[doc(alias = "SIGUSR2")]
    #[doc(alias = "user_defined2")]
    USR2 = SIGUSR2,
    /// The terminal has another size.
    #[doc(alias = "SIGWINCH")]
    #[doc(alias = "window_change")]
    WINCH = SIGWINCH,
}

/// Signals that cannot be waited for, with the reason.
const REFUSED: &[(i32, &str, &str)] = &[
    (libc::SIGKILL, "SIGKILL", UNCATCHABLE),
    (libc::SIGSTOP, "SIGSTOP", UNCATCHABLE),
    (libc::SIGABRT, "SIGABRT", FAULT),
    (libc::SIGBUS, "SIGBUS", FAULT),
    (libc::SIGFPE, "SIGFPE", FAULT),
    (libc::SIGILL, "SIGILL", FAULT),
    (libc::SIGSEGV, "SIGSEGV", FAULT),
    (libc::SIGSYS, "SIGSYS", FAULT),
    (libc::SIGTRAP, "SIGTRAP", FAULT),
];

const UNCATCHABLE: &str = "no process can catch it";
const FAULT: &str = "the thread that caused it cannot continue";

impl Signal {
    /// Returns the signal with this number. The number is checked when the signal is used.
    ///
    /// # Examples
    /// ```
    /// use std::io::ErrorKind;
    ///
    /// use pirn::signal::{Signal, listen};
    ///
    /// let unknown = Signal::from_raw(9_999);
    /// assert_eq!(unknown.to_string(), "signal 9999");
    /// assert_eq!(listen(&[unknown]).unwrap_err().kind(), ErrorKind::InvalidInput);
    /// ```
    #[must_use]
    pub const fn from_raw(number: i32) -> Signal {
        Signal(number)
    }

    /// Returns the number.
    ///
    /// # Examples
    /// ```
    /// use pirn::signal::Signal;
    ///
    /// assert_eq!(Signal::HUP.as_raw(), 1);
    /// assert_eq!(Signal::INT.as_raw(), 2);
    /// ```
    #[doc(alias = "as_raw_value")]
    #[must_use]
    pub const fn as_raw(self) -> i32 {
        self.0
    }

    /// Returns the number if the signal can be waited for.
    pub(super) fn index(self) -> io::Result<usize> {
        let refused = REFUSED.iter().find(|(number, ..)| *number == self.0);
        let index = usize::try_from(self.0).ok();
        match (refused, index.filter(|index| (1..SIGNALS).contains(index))) {
            (Some((_, _, why)), _) => Err(self.refuse(why)),
            (None, None) => Err(self.refuse("there is no such signal")),
            (None, Some(index)) => Ok(index),
        }
    }

    fn refuse(self, why: &str) -> io::Error {
        let message = format!("{self} cannot be waited for: {why}");
        io::Error::new(io::ErrorKind::InvalidInput, message)
    }
}

/// Writes the name, or the number of a signal that has no name here.
impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let refused = REFUSED.iter().map(|(number, name, _)| (number, name));
        let known = NAMES.iter().map(|(number, name)| (number, name));
        match known.chain(refused).find(|(number, _)| **number == self.0) {
            Some((_, name)) => f.write_str(name),
            None => write!(f, "signal {}", self.0),
        }
    }
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
