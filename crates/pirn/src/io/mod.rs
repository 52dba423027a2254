//! Standard input and output, and copying between streams.
//!
//! [`stdin`], [`stdout`] and [`stderr`] park the calling fiber where those of `std` block its
//! thread. [`copy()`] and [`copy_bidirectional`] work with any `Read` and `Write`.

mod copy;
mod half_close;
mod stdio;

pub use copy::{copy, copy_bidirectional};
pub use half_close::HalfClose;
pub use stdio::{Stderr, Stdin, Stdout, stderr, stdin, stdout};
