//! Standard input and output, and copying from one thing to another.
//!
//! [`stdin`], [`stdout`] and [`stderr`] park the calling fiber where those of `std` block its
//! thread. [`copy()`] and [`copy_bidirectional`] work with everything that reads and writes.

mod copy;
mod half_close;
mod stdio;

pub use copy::{copy, copy_bidirectional};
pub use half_close::HalfClose;
pub use stdio::{Stderr, Stdin, Stdout, stderr, stdin, stdout};
