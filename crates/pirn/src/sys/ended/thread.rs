//! Any Unix: a thread that waits for the child, and then closes one end of a pipe.

use std::io;
use std::os::fd::OwnedFd;

use crate::shim;
use crate::sys::calls;

/// Returns a descriptor that becomes readable when the child with this number has ended.
///
/// # Errors
/// The error of the system: no descriptor or thread is left.
pub(crate) fn ended(child: u32) -> io::Result<OwnedFd> {
    let (reader, writer) = io::pipe()?;
    let wait = move || {
        wait_for(child);
        drop(writer);
    };
    shim::thread::spawn(format!("pirn-child-{child}"), wait)?;
    Ok(reader.into())
}

/// Blocks until the child has ended, or no such child exists; its status stays.
fn wait_for(child: u32) {
    let is_interrupted = |error: io::Error| error.kind() == io::ErrorKind::Interrupted;
    while calls::waitid(child).is_err_and(is_interrupted) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::process::{Command, Stdio};

    /// The descriptor becomes readable at the end, and the status is still there.
    // Proves: N7-X-child.
    #[test]
    fn a_thread_waits_for_the_child() {
        let mut cat = Command::new("cat");
        let mut child = cat.stdin(Stdio::piped()).spawn().expect("cat");
        let ended = ended(child.id()).expect("a descriptor");
        assert!(child.try_wait().expect("a child").is_none());
        drop(child.stdin.take());
        let mut pipe = io::PipeReader::from(ended);
        assert_eq!(pipe.read(&mut [0]).expect("a pipe"), 0);
        assert!(child.wait().expect("a child").success());
    }
}
