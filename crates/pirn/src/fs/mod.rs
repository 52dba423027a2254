//! Files and directories, in the shapes of [`std::fs`].
//!
//! The system answers calls on files when the disk does, and there is no way to be told later. So
//! a fiber hands each of these calls to one of a few threads that may block, and parks until it
//! is answered; its worker goes on with others. What the system has in memory waits for no disk: on
//! Linux a read of up to 64 KiB is made in place, as far as that goes and the file system says so. At the
//! file's position [`read`](std::io::Read::read) then comes to what is in memory, be it less than was asked for: others may move the position,
//! and what came later would not lie behind it.
//! With the feature `io_uring` a read of that size *at a place* of a file
//! ([`FileExt`](std::os::unix::fs::FileExt)) is not handed over at all: Linux 6.1 and later fetch
//! what is missing by themselves while the fiber parks, 256 reads for each worker at most, if no
//! filter forbids it. `PIRN_IO_URING=0` turns that off.
//! On a plain thread the same functions call [`std::fs`] and nothing else.
//!
//! # What it costs
//!
//! A read that is made in place costs what it costs with `std`. To hand over a call costs two wakes of a
//! thread, some ten microseconds each; each write is handed over. So few large calls
//! are better than many small ones: [`read`], [`read_to_string`], [`write()`] and [`copy`] are one
//! call each, and so are [`read_to_end`](std::io::Read::read_to_end) and
//! [`write_all`](std::io::Write::write_all) of a [`File`]. Everything in between wants a
//! [`BufReader`](std::io::BufReader) or a [`BufWriter`](std::io::BufWriter) around it, even more
//! than with `std`. For a great number of small calls use `std::fs` inside
//! [`blocking`](crate::blocking()), which hands over once.
//!
//! # Blocking
//!
//! At most 64 of these calls are made at once, in the whole process; more wait their turn. They are
//! none of the 64 of [`blocking`](crate::blocking()). What can keep a reader waiting for ever, like a
//! pipe with a name, takes one of them away as long. A file that is dropped is closed in place,
//! by the fiber that drops it.
//!
//! # Cancellation
//!
//! Each function that returns an [`io::Result`](std::io::Result) is an interruption point before
//! its call is handed over, unless it says otherwise: the [`Interrupt`](crate::Interrupt) is inside the error, and nothing has
//! been done. Once handed over, a call is made to its end, and its result is returned: what is
//! written is written.
//!
//! What a `BufWriter` holds when its fiber is cancelled is lost if nobody flushes it under a
//! [`shield`](crate::cancel::shield): the flush of its drop is interrupted too, and says nothing.
//!
//! # Errors
//!
//! Those of `std`, unchanged.
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
mod open_options;
mod paths;
mod read_dir;
#[cfg(unix)]
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
pub use std::fs::{FileTimes, FileType, Metadata, Permissions};
