//! Child processes, in the shapes of [`std::process`].
//!
//! Waiting for the end of a child, reading its output and writing its input park the calling fiber
//! and hold no thread. On a plain thread they block the thread. Inside the
//! [poll](crate::future#inside-a-poll) of a future on a fiber, a call that has to wait panics.
//!
//! # Examples
//! ```
//! use std::io::Write;
//!
//! use pirn::process::{Command, Stdio};
//!
//! # fn main() -> std::io::Result<()> {
//! let sorted = pirn::run(|| {
//!     let mut sort = Command::new("sort");
//!     let mut child = sort.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
//!     child.stdin.take().expect("a pipe").write_all(b"pear\napple\n")?;
//!     child.wait_with_output()
//! })?;
//! assert!(sorted.status.success());
//! assert_eq!(sorted.stdout, b"apple\npear\n");
//! # Ok(())
//! # }
//! ```
//!
//! # Cancellation
//!
//! Every call here that waits is an interruption point, through [`io::Error`](std::io::Error). A
//! child keeps running when the wait for it is interrupted. It also does when its handle is
//! dropped, unless [`kill_on_drop`](Command::kill_on_drop) was set. [`kill`](Child::kill) ends it:
//!
//! ```
//! use std::time::Duration;
//!
//! use pirn::process::Command;
//!
//! # fn main() -> std::io::Result<()> {
//! let mut child = Command::new("sleep").arg("60").spawn()?;
//! if pirn::timeout(Duration::from_millis(10), || child.wait()).is_err() {
//!     child.kill()?;
//! }
//! assert!(!child.wait()?.success());
//! # Ok(())
//! # }
//! ```

mod child;
mod command;
mod orphans;
mod pipe;
mod unix;

pub use child::Child;
pub use command::Command;
pub use pipe::{ChildStderr, ChildStdin, ChildStdout};
pub use std::process::{ExitStatus, Output, Stdio};
