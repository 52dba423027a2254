//! [`read_dir`]: what is in a directory.
//!
//! Owns: entries that have been read and not been asked for yet; so many are read in one call
//! that handing over hardly counts. Does not own: how the system reads directories.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{FileType, Metadata};
use crate::blocking::file_call;

/// Entries that are read in one call. Arbitrary: a few kilobytes, as much as the system says at
/// once.
const BATCH: usize = 128;

/// Begins to read a directory, as [`std::fs::read_dir`].
///
/// # Errors
/// As there, and the interrupt that the caller is under.
///
/// # Cancellation
/// An interruption point before the call is made; see [the module](crate::fs).
#[track_caller]
pub fn read_dir(path: impl AsRef<Path>) -> io::Result<ReadDir> {
    let path = path.as_ref();
    let source = file_call(|| fs::read_dir(path))?;
    Ok(ReadDir {
        source: Some(source),
        read: VecDeque::new(),
    })
}

/// The entries of a directory, in no order, as [`std::fs::ReadDir`]. Many are read in one call.
///
/// # Cancellation
/// `next` is an interruption point where it has to read. An interrupt is yielded once, as an
/// error; after it there is nothing more.
pub struct ReadDir {
    /// None once there is nothing more.
    source: Option<fs::ReadDir>,
    read: VecDeque<io::Result<DirEntry>>,
}

impl ReadDir {
    /// Reads on, into the empty queue.
    #[track_caller]
    fn fill(&mut self) -> io::Result<()> {
        let ReadDir { source, read } = self;
        let Some(entries) = source else {
            return Ok(());
        };
        let ended = file_call(|| {
            read.extend(entries.take(BATCH).map(|entry| entry.map(DirEntry::of)));
            Ok(read.len() < BATCH)
        });
        if ended.as_ref().is_ok_and(|ended| !ended) {
            return Ok(());
        }
        *source = None;
        ended.map(drop)
    }
}

impl Iterator for ReadDir {
    type Item = io::Result<DirEntry>;

    #[track_caller]
    fn next(&mut self) -> Option<io::Result<DirEntry>> {
        if self.read.is_empty()
            && let Err(error) = self.fill()
        {
            return Some(Err(error));
        }
        self.read.pop_front()
    }
}

impl fmt::Debug for ReadDir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadDir").finish_non_exhaustive()
    }
}

/// One entry of a directory, as [`std::fs::DirEntry`].
pub struct DirEntry {
    entry: fs::DirEntry,
    /// What most systems say with the name.
    kind: Option<FileType>,
}

impl DirEntry {
    /// On a thread that may block.
    fn of(entry: fs::DirEntry) -> DirEntry {
        let kind = entry.file_type().ok();
        DirEntry { entry, kind }
    }

    /// The directory's path with the entry's name.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.entry.path()
    }

    /// The name alone.
    #[must_use]
    pub fn file_name(&self) -> OsString {
        self.entry.file_name()
    }

    /// Whether it is a file, a directory or something else; symbolic links are not followed.
    ///
    /// # Errors
    /// Like [`std::fs::DirEntry::file_type`], and the interrupt that the caller is under, if the
    /// system has not said it with the name.
    ///
    /// # Cancellation
    /// An interruption point if the system has not said it with the name.
    #[track_caller]
    pub fn file_type(&self) -> io::Result<FileType> {
        match self.kind {
            Some(kind) => Ok(kind),
            None => file_call(|| self.entry.file_type()),
        }
    }

    /// What the system knows of it, as [`std::fs::DirEntry::metadata`]; symbolic links are not
    /// followed.
    ///
    /// # Errors
    /// As there, and the interrupt that the caller is under.
    ///
    /// # Cancellation
    /// An interruption point before the call is made; see [the module](crate::fs).
    #[track_caller]
    pub fn metadata(&self) -> io::Result<Metadata> {
        file_call(|| self.entry.metadata())
    }
}

impl fmt::Debug for DirEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.entry.fmt(f)
    }
}
