//! Ends the program when its terminal hangs up.
//!
//! A terminal that has hung up is always readable and never has data, and the library that reads
//! keys polls it in an endless loop. So a separate thread waits for the hang-up and ends the
//! process. SIGHUP is not enough: the system sends it only to processes of which this was the
//! controlling terminal.

#![expect(
    clippy::disallowed_methods,
    reason = "a program of plain threads, which looks at others' fibers"
)]

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::isatty;

use super::signals::Signals;

/// Starts the thread.
///
/// # Errors
/// The system's error: there is no terminal, or no thread can be started.
pub(super) fn watch(signals: &Arc<Signals>) -> io::Result<()> {
    let terminal = terminal()?;
    let signals = Arc::clone(signals);
    let end = move || {
        if await_hangup(&terminal) {
            // The loop between keys and answers may still end in order, as it does after a signal.
            thread::sleep(GRACE);
            signals.obey();
            process::exit(1);
        }
    };
    // The process ends without waiting for it.
    thread::Builder::new()
        .name("hangup".to_owned())
        .spawn(end)?;
    Ok(())
}

/// Returns the terminal for keys: standard input, or else the controlling one.
fn terminal() -> io::Result<OwnedFd> {
    let input = io::stdin();
    match isatty(&input) {
        true => input.as_fd().try_clone_to_owned(),
        false => Ok(File::open("/dev/tty")?.into()),
    }
}

/// Blocks until the terminal hangs up; returns false if that cannot be waited for.
fn await_hangup(terminal: &OwnedFd) -> bool {
    loop {
        // For no event: a hang-up is reported anyway, and keys are not. Some systems wake such a
        // wait too late or not at all, so it polls again.
        let mut polled = [PollFd::new(terminal, PollFlags::empty())];
        match poll(&mut polled, Some(&LOOK)) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => return !polled[0].revents().contains(PollFlags::NVAL),
            Err(_) => return false,
        }
    }
}

/// Far more than the loop takes, and short for a process without a terminal. Arbitrary.
const GRACE: Duration = Duration::from_millis(200);

/// Interval between two polls of the terminal. Arbitrary: short for a user, long for a processor.
const LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 500_000_000,
};
