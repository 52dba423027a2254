//! Files and directories, in the shapes of [`std::fs`].
//!
//! A call on a file lasts until the disk answers, and the system offers no notification. So a fiber
//! hands each of these calls to one of a few threads that may block, and parks until the call
//! returns. Its worker runs other fibers meanwhile. On a plain thread the same functions call
//! [`std::fs`] directly.
//!
//! Data in memory needs no disk. On Linux a read of up to 64 KiB is made in place, as far as the
//! data are in memory and the file system supports it. At the file's position,
//! [`read`](std::io::Read::read) then returns only the part in memory, which may be less than was
//! asked for. The rest might not follow on, since other users may move the position.
//!
//! With the feature `io_uring` a read of that size *at an offset*
//! ([`FileExt`](std::os::unix::fs::FileExt)) is not handed over at all. Linux 6.1 and later fetch
//! the missing part while the fiber parks, at most 256 reads for each worker, if no seccomp filter
//! forbids it. `PIRN_IO_URING=0` turns that off.
//!
//! # Cost
//!
//! A read made in place costs as much as with `std`. Handing over a call costs two wake-ups of a
//! thread, about 40 µs each (case `wake` in `bench/results/core.tsv` of the repository). Each write
//! is handed over, so few large calls are better than many small ones. [`read`],
//! [`read_to_string`], [`write()`] and [`copy`] are one call each, and so are
//! [`read_to_end`](std::io::Read::read_to_end) and [`write_all`](std::io::Write::write_all) of a
//! [`File`]. For other access put a [`BufReader`](std::io::BufReader) or a
//! [`BufWriter`](std::io::BufWriter) around the file, even more than with `std`. For a great number
//! of small calls use `std::fs` inside [`blocking`](crate::blocking()), which hands over once.
//!
//! # Blocking
//!
//! At most 64 of these calls run at once in the whole process; more wait their turn. They do not
//! count towards the 64 of [`blocking`](crate::blocking()). A read that can block indefinitely,
//! like that of a named pipe, occupies one of the 64 threads. A wait for the [lock](File::lock) of
//! a file occupies one of those of [`blocking`](crate::blocking()) instead. Dropping a file closes
//! it in place, on the dropping fiber's worker.
//!
//! # Cancellation
//!
//! Each function that returns an [`io::Result`](std::io::Result) is an interruption point before
//! its call is handed over, unless it says otherwise. The [`Interrupt`](crate::Interrupt) is inside
//! the error, and nothing has been done. A call that has been handed over runs to its end, and its
//! result is returned.
//!
//! The contents of a `BufWriter` are lost if its fiber is cancelled before they are flushed under a
//! [`shield`](crate::cancel::shield). The flush on drop is interrupted too and reports nothing.
//!
//! # Panics
//!
//! Inside the [poll](crate::future#inside-a-poll) of a future on a fiber, a call panics if it may
//! have to be handed over, whether its data are in memory or not.
//!
//! # Errors
//!
//! These types are `std`'s, unchanged.
//!
//! # Examples
//! ```
//! use std::io::{BufRead, BufReader, BufWriter, Write};
//!
//! # fn main() -> std::io::Result<()> {
//! let path = std::env::temp_dir().join(format!("pirn-doc-{}", std::process::id()));
//! let lines = pirn::run(|| {
//!     let mut file = BufWriter::new(pirn::fs::File::create(&path)?);
//!     for n in 0..1000 {
//!         writeln!(file, "{n}")?;
//!     }
//!     file.into_inner()?.sync_all()?;
//!     let file = BufReader::new(pirn::fs::File::open(&path)?);
//!     let lines = file.lines().count();
//!     pirn::fs::remove_file(&path)?;
//!     std::io::Result::Ok(lines)
//! })?;
//! assert_eq!(lines, 1000);
//! # Ok(())
//! # }
//! ```

mod dir_builder;
mod file;
mod lock;
mod open_options;
mod paths;
mod read_dir;
#[cfg(unix)]
#[expect(unsafe_code, reason = "a file takes over a raw descriptor")]
mod unix;

pub use dir_builder::DirBuilder;
pub use file::File;
pub use open_options::OpenOptions;
pub use paths::{
    canonicalize, copy, create_dir, create_dir_all, exists, hard_link, metadata, read,
    read_link, read_to_string, remove_dir, remove_dir_all, remove_file, rename,
    set_permissions, symlink_metadata, write,
};
pub use read_dir::{DirEntry, ReadDir, read_dir};
pub use std::fs::{FileTimes, FileType, Metadata, Permissions, TryLockError};
