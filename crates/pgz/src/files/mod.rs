//! Files: permitted inputs, names of results, and their creation.
//!
//! * [`Input`]: a file opened for reading, with its metadata.
//! * [`Output`]: a temporary file in the target's directory that takes the target's name
//!   only when it is complete. An error, a panic or a signal removes it.
//! * [`names`]: gzip's rules for suffixes.
//! * [`cleanup`]: the registry of the temporary file that is being written.
//! * [`inherited`]: closed standard streams and ignored signals that the process inherited.
//!
//! The module knows nothing of compression and prints nothing.

#[expect(clippy::disallowed_methods, reason = "one thread, for signals alone")]
pub mod cleanup;
pub mod inherited;
pub mod names;

mod input;
mod output;

pub use input::{Input, InputKind, kind};
pub use output::{ModeSet, Output, Replace, close, is_temporary};
