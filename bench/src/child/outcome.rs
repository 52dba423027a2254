//! The answer of a child.

use std::io::Write;

/// The reason why a peer has no such case.
#[derive(Debug)]
pub struct Skip(pub &'static str);

/// Either all samples were printed, or the peer has no such case.
pub type Outcome = Result<(), Skip>;

/// Ends the process without running destructors: fibers may still wait or compute.
pub fn end() -> ! {
    leave(0)
}

/// Ends the process with failure, from any thread.
pub fn fail(what: &str) -> ! {
    eprintln!("{what}");
    leave(1)
}

fn leave(status: i32) -> ! {
    let _ = std::io::stdout().flush();
    // SAFETY: ends the process without running anything of it; nothing is left to write.
    unsafe { libc::_exit(status) }
}
