//! A dump for whoever asks from outside.

use std::io::{self, Write};

use super::dump::dump;
use crate::shim::StaticLock;
use crate::signal::{Reaction, Signal, Watch, watch};

/// Has the signal SIGQUIT, which Ctrl-\ sends from a terminal, write a [`dump`](super::dump()) to
/// the standard error stream, in place of ending the process. A call after the first changes
/// nothing.
///
/// A thread waits for the signal from then on.
///
/// # Errors
/// What the system says when it has no pipe or no thread, or refuses the handler.
pub fn dump_on_quit() -> io::Result<()> {
    let mut arranged = ARRANGED.lock();
    if arranged.is_none() {
        *arranged = Some(watch(Signal::QUIT, Reaction::Call(tell))?);
    }
    Ok(())
}

/// Kept for good.
static ARRANGED: StaticLock<Option<Watch>> = StaticLock::new(None);

fn tell() {
    let mut text = Vec::new();
    // Writing to memory does not fail.
    let _ = dump(&mut text);
    let _ = io::stderr().write_all(&text);
}
