//! Files: what may be read, what the result is called, how it comes into being.
//!
//! * [`Input`]: a file opened for reading, with what is known about it.
//! * [`Output`]: a temporary file in the target's directory that takes the target's name
//!   only when it is complete. Everything else removes it: an error, a panic, a signal.
//! * [`names`]: gzip's rules for suffixes.
//! * [`cleanup`]: the one place that knows which temporary file is being written.
//! * [`inherited`]: closed standard streams and ignored signals, as the process got them.
//!
//! The room knows nothing of compression and prints nothing.

#[expect(clippy::disallowed_methods, reason = "one thread, for signals alone")]
pub mod cleanup;
pub mod inherited;
pub mod names;

mod input;
mod output;

pub use input::{Input, InputKind, kind};
pub use output::{Output, Replace};
