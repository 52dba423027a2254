//! [`read_dir`]: the entries of a directory.

// Owns: entries that have been read and not yet been yielded. One call reads so many that the cost
// of handing it over to a thread hardly counts. Does not own: how the system reads directories.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::path::{Path, PathBuf};

use super::{FileType, Metadata};
use crate::blocking::file_call;

/// The number of entries read in one call. Arbitrary: a few kilobytes, as much as one system call
/// returns.
const BATCH: usize = 128;

/// Opens a directory for reading, like [`std::fs::read_dir`].
///
/// # Errors
/// The errors of the `std` function, or the caller's interrupt.
///
/// # Cancellation
/// An interruption point before the call is made; see [the module](crate::fs).
///
/// # Examples
/// ```
/// use pirn::fs;
///
/// let name = format!("pirn-doc-list-{}", std::process::id());
/// let path = std::env::temp_dir().join(name);
/// fs::create_dir(&path)?;
/// fs::write(path.join("one"), "")?;
/// fs::write(path.join("two"), "")?;
/// assert_eq!(fs::read_dir(&path)?.count(), 2);
/// fs::remove_dir_all(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc(alias = "ls")]
#[doc(alias = "readdir")]
#[track_caller]
pub fn read_dir(path: impl AsRef<Path>) -> io::Result<ReadDir> {
    let path = path.as_ref();
    let source = file_call(|| fs::read_dir(path))?;
    Ok(ReadDir {
        source: Some(source),
        read: VecDeque::new(),
    })
}

/// An iterator over the entries of a directory, in no order, like [`std::fs::ReadDir`]; made by
/// [`read_dir`]. One call reads many entries.
///
/// # Cancellation
/// `next` is an interruption point where it has to read. An interrupt is yielded once, as an error,
/// and ends the iterator.
///
/// # Examples
/// ```
/// use pirn::fs;
///
/// let name = format!("pirn-doc-entries-{}", std::process::id());
/// let path = std::env::temp_dir().join(name);
/// fs::create_dir(&path)?;
/// fs::write(path.join("file"), "")?;
/// for entry in fs::read_dir(&path)? {
///     assert_eq!(entry?.file_name(), "file");
/// }
/// fs::remove_dir_all(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct ReadDir {
    /// None after the last entry.
    source: Option<fs::ReadDir>,
    read: VecDeque<io::Result<DirEntry>>,
}

impl ReadDir {
    /// Reads the next batch into the empty queue.
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

// UNWIND: an entry leaves the queue whole. Errors alone keep the traits from being derived.
impl UnwindSafe for ReadDir {}
impl RefUnwindSafe for ReadDir {}

impl fmt::Debug for ReadDir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadDir").finish_non_exhaustive()
    }
}

/// An entry of a directory, like [`std::fs::DirEntry`]; yielded by [`ReadDir`].
///
/// # Examples
/// ```
/// use pirn::fs;
///
/// let name = format!("pirn-doc-entry-{}", std::process::id());
/// let path = std::env::temp_dir().join(name);
/// fs::create_dir_all(path.join("inner"))?;
/// let entry = fs::read_dir(&path)?.next().expect("an entry")?;
/// assert_eq!(entry.path(), path.join("inner"));
/// assert!(entry.file_type()?.is_dir());
/// fs::remove_dir_all(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct DirEntry {
    entry: fs::DirEntry,
    /// The file type, which most systems return with the name.
    kind: Option<FileType>,
}

impl DirEntry {
    /// Runs on a thread that may block.
    fn of(entry: fs::DirEntry) -> DirEntry {
        let kind = entry.file_type().ok();
        DirEntry { entry, kind }
    }

    /// Returns the directory's path joined with the entry's name.
    ///
    /// # Examples
    /// ```
    /// use pirn::fs;
    ///
    /// let name = format!("pirn-doc-entry-path-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// fs::create_dir_all(path.join("inner"))?;
    /// let entry = fs::read_dir(&path)?.next().expect("an entry")?;
    /// assert_eq!(entry.path(), path.join("inner"));
    /// fs::remove_dir_all(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.entry.path()
    }

    /// Returns the entry's name without the directory.
    ///
    /// # Examples
    /// ```
    /// use pirn::fs;
    ///
    /// let name = format!("pirn-doc-entry-name-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// fs::create_dir_all(path.join("inner"))?;
    /// let entry = fs::read_dir(&path)?.next().expect("an entry")?;
    /// assert_eq!(entry.file_name(), "inner");
    /// fs::remove_dir_all(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn file_name(&self) -> OsString {
        self.entry.file_name()
    }

    /// Returns the file type, without following symbolic links.
    ///
    /// # Errors
    /// Like [`std::fs::DirEntry::file_type`], or the caller's interrupt, if the system has not
    /// returned the type with the name.
    ///
    /// # Cancellation
    /// An interruption point if the system has not returned the type with the name.
    ///
    /// # Examples
    /// ```
    /// use pirn::fs;
    ///
    /// let name = format!("pirn-doc-entry-type-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// fs::create_dir_all(path.join("inner"))?;
    /// let entry = fs::read_dir(&path)?.next().expect("an entry")?;
    /// assert!(entry.file_type()?.is_dir());
    /// fs::remove_dir_all(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn file_type(&self) -> io::Result<FileType> {
        match self.kind {
            Some(kind) => Ok(kind),
            None => file_call(|| self.entry.file_type()),
        }
    }

    /// Returns the metadata, like [`std::fs::DirEntry::metadata`], without following symbolic
    /// links.
    ///
    /// # Errors
    /// The errors of the `std` function, or the caller's interrupt.
    ///
    /// # Cancellation
    /// An interruption point before the call is made; see [the module](crate::fs).
    ///
    /// # Examples
    /// ```
    /// use pirn::fs;
    ///
    /// let name = format!("pirn-doc-entry-metadata-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// fs::create_dir(&path)?;
    /// fs::write(path.join("file"), "some text")?;
    /// let entry = fs::read_dir(&path)?.next().expect("an entry")?;
    /// assert_eq!(entry.metadata()?.len(), 9);
    /// fs::remove_dir_all(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
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
