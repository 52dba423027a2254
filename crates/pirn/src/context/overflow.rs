//! The report of a stack overflow: the fiber, where it was spawned, the size of its stack. Then it
//! aborts, as std does for threads.
//!
//! Everything here runs inside a signal handler, on the small alternate stack: no allocation,
//! no lock, a fixed buffer, one `write`.

use std::fmt::{self, Write};
use std::sync::OnceLock;

use super::os;
use super::stacks::region;

/// Writes the name of `owner`, as in `fiber 'conn' (spawned at src/main.rs:10)`, without a full
/// stop or a line break. Runs inside a signal handler.
type Describe = fn(owner: *const (), out: &mut SignalWriter);

static DESCRIBE: OnceLock<Describe> = OnceLock::new();

/// Installs the report of overflows of fiber stacks; other faults go to the previous handler.
/// `describe` is called with the owner of the stack that overflowed (`Stack::set_owner`), never
/// null. Only the first call counts.
pub(crate) fn install_overflow_handler(describe: Describe) {
    // ORDERING: `OnceLock` publishes; the handler is installed after.
    if DESCRIBE.set(describe).is_ok() {
        os::on_fault(report_overflow);
    }
}

/// Text of bounded length, written without allocation; excess text is cut off.
#[derive(Debug)]
pub(crate) struct SignalWriter {
    text: [u8; SignalWriter::CAPACITY],
    len: usize,
}

impl SignalWriter {
    /// Bytes. Arbitrary: enough for a name and a path.
    const CAPACITY: usize = 512;

    pub(crate) fn new() -> SignalWriter {
        SignalWriter {
            text: [0; SignalWriter::CAPACITY],
            len: 0,
        }
    }

    pub(super) fn text(&self) -> &[u8] {
        &self.text[..self.len]
    }

    /// Ends the line, even if text has been cut off, and writes it to standard error by one system
    /// call. A failure is ignored.
    pub(crate) fn finish_line(mut self) {
        self.len = self.len.min(SignalWriter::CAPACITY - 1);
        let _ = self.write_str("\n");
        os::write_stderr(self.text());
    }
}

impl Write for SignalWriter {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = &mut self.text[self.len..];
        let len = text.len().min(room.len());
        room[..len].copy_from_slice(&text.as_bytes()[..len]);
        self.len += len;
        if len == text.len() {
            Ok(())
        } else {
            Err(fmt::Error)
        }
    }
}

/// Reports and aborts if `address` lies in the guard of a stack that is in use.
fn report_overflow(address: usize) {
    let Some(overflow) = region::overflow_at(address) else {
        return;
    };
    let mut out = SignalWriter::new();
    // Excess text is cut off, so results need no check.
    let _ = out.write_str("\n");
    match DESCRIBE.get() {
        Some(describe) if !overflow.owner.is_null() => describe(overflow.owner, &mut out),
        _ => drop(out.write_str("a fiber")),
    }
    let _ = write!(
        out,
        " overflowed its {} KiB stack; raise Builder::stack_size or PIRN_STACK_SIZE",
        overflow.size / 1024
    );
    out.finish_line();
    // The C library's `abort` and nothing else, which is allowed in a handler.
    std::process::abort();
}
