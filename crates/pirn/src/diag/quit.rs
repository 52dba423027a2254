//! A dump on a signal from outside.

use std::io;

use super::dump::dump;
use crate::shim::StaticLock;
use crate::signal::{Reaction, Signal, Watch, watch};
use crate::sys;

/// Installs a SIGQUIT handler that writes a [`dump`](super::dump()) to standard error instead of
/// ending the process. Ctrl-\ in a terminal sends that signal. Further calls change nothing.
///
/// A thread waits for the signal from then on. If standard error takes nothing for a second, the
/// rest of the dump is lost.
///
/// # Errors
/// The operating system's error, for a pipe, a thread or the handler.
///
/// # Cancellation
/// Not an interruption point; never suspends.
///
/// # Examples
/// ```no_run
/// use std::time::Duration;
///
/// pirn::diag::dump_on_quit()?;
/// // From now on, Ctrl-\ shows all fibers.
/// let slept = pirn::run(|| pirn::sleep(Duration::from_secs(3_600)));
/// assert_eq!(slept, Ok(()));
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc(alias = "SIGQUIT")]
pub fn dump_on_quit() -> io::Result<()> {
    let mut arranged = ARRANGED.lock();
    if arranged.is_none() {
        *arranged = Some(watch(Signal::QUIT, Reaction::Call(report))?);
    }
    Ok(())
}

/// Never dropped.
static ARRANGED: StaticLock<Option<Watch>> = StaticLock::new(None);

fn report() {
    let mut text = Vec::new();
    // Writing to memory does not fail.
    let _ = dump(&mut text);
    sys::report_whole(&text);
}
