//! Which signal.

use std::fmt;
use std::io;

use crate::sys::SIGNALS;

/// A signal, by its number.
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
    /// A timer of the process has run out.
    ALRM = SIGALRM,
    /// A child process has ended, or stopped.
    CHLD = SIGCHLD,
    /// The process goes on after a stop.
    CONT = SIGCONT,
    /// The terminal is gone; of a server it often asks to read its configuration again.
    HUP = SIGHUP,
    /// `Ctrl-C` in a terminal.
    INT = SIGINT,
    /// A write to a pipe that nobody reads.
    PIPE = SIGPIPE,
    /// `Ctrl-\` in a terminal.
    QUIT = SIGQUIT,
    /// The process is asked to end.
    TERM = SIGTERM,
    /// `Ctrl-Z` in a terminal.
    TSTP = SIGTSTP,
    /// For the program to give a meaning to.
    USR1 = SIGUSR1,
    /// For the program to give a meaning to.
    USR2 = SIGUSR2,
    /// The terminal has another size.
    WINCH = SIGWINCH,
}

/// Those that cannot be waited for, and why.
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

const UNCATCHABLE: &str = "the system lets nobody catch it";
const FAULT: &str = "the thread that caused it cannot go on";

impl Signal {
    /// The signal with this number, if there is one: that is asked when it is used.
    #[must_use]
    pub const fn from_raw(number: i32) -> Signal {
        Signal(number)
    }

    /// Its number.
    #[must_use]
    pub const fn as_raw(self) -> i32 {
        self.0
    }

    /// The number of a signal that can be waited for.
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

/// Its name, or its number if it has none here.
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
