//! A dump for whoever asks from outside.

use std::io::{self, Read, Write};

use super::dump::dump;
use crate::fiber::vigil;
use crate::{shim, sys};

/// Has the signal SIGQUIT, which Ctrl-\ sends from a terminal, write a [`dump`](super::dump()) to
/// the standard error stream, in place of ending the process. A call after the first changes
/// nothing.
///
/// A thread waits for the signal from then on.
///
/// # Errors
/// What the system says when it has no pipe or no thread, or refuses the handler.
pub fn dump_on_quit() -> io::Result<()> {
    let Some(mut signals) = sys::on_quit()? else {
        return Ok(());
    };
    let wait = move || {
        let mut one = [0];
        while vigil::rest(|| signals.read_exact(&mut one)).is_ok() {
            let mut text = Vec::new();
            // Writing to memory does not fail.
            let _ = dump(&mut text);
            let _ = io::stderr().write_all(&text);
        }
    };
    shim::thread::spawn("pirn-quit".to_owned(), wait).map(drop)
}
