//! Standard input and output, and copying between streams.
//!
//! [`stdin`], [`stdout`] and [`stderr`] park the calling fiber where those of `std` block its
//! thread. [`copy()`] and [`copy_bidirectional`] work with any `Read` and `Write`. Another thread makes
//! each read and write of a standard stream, so inside the [poll](crate::future#inside-a-poll) of a
//! future on a fiber each of them panics.
//!
//! # Examples
//! ```
//! use std::io::Write;
//!
//! let mut text: &[u8] = b"some text\n";
//! let len = pirn::run(|| {
//!     let mut stdout = pirn::io::stdout();
//!     let len = pirn::io::copy(&mut text, &mut stdout)?;
//!     stdout.flush()?;
//!     std::io::Result::Ok(len)
//! })?;
//! assert_eq!(len, 10);
//! # Ok::<(), std::io::Error>(())
//! ```

mod copy;
mod half_close;
mod stdio;

pub use copy::{copy, copy_bidirectional};
pub use half_close::HalfClose;
pub use stdio::{Stderr, Stdin, Stdout, stderr, stdin, stdout};
