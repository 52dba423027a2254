//! [`File`]: an open file; its calls run on another thread.

// Owns: which calls on an open file are handed over, and which are short enough to be made in
// place. Does not own: any buffer; a read goes into the caller's.

use std::fmt::{self, Write as _};
use std::fs;
use std::io::{self, IoSlice, IoSliceMut, Read, Seek, SeekFrom, Write};
use std::time::SystemTime;

use super::{FileTimes, Metadata, Permissions};
use crate::base::choice::Operation;
use crate::blocking::{file_call, file_read, file_read_exact};
use crate::sys::may_be_cached;
use crate::wait::begin;

/// An open file for fibers and threads, like [`std::fs::File`]. Closed when it is dropped.
///
/// `Read`, `Write` and `Seek` work on `File` and on `&File`, and all of them share one position.
/// Each call that may wait for the disk is handed to another thread, so put a buffer around the
/// file; [the module](crate::fs) has the cost. `read_to_end`, `read_to_string`, `read_exact`,
/// `write_all` and `write!` are one call each. `flush` does nothing, because nothing is buffered. A
/// seek that does not need the file's length is made in place. While another fiber's call at the
/// position waits for the disk, a seek, or a read of up to 64 KiB at the position, may block its
/// worker: fibers that share a file read and write at offsets
/// ([`FileExt`](std::os::unix::fs::FileExt)).
///
/// [`lock`](File::lock) and its relatives exclude other processes, and other handles here.
///
/// # Examples
/// ```
/// use std::io::{Read, Seek, SeekFrom, Write};
///
/// use pirn::fs::{self, File};
///
/// let name = format!("pirn-doc-file-{}", std::process::id());
/// let path = std::env::temp_dir().join(name);
/// let mut text = String::new();
/// pirn::run(|| {
///     let mut file = File::create_new(&path)?;
///     file.write_all(b"some text")?;
///     file.seek(SeekFrom::Start(5))?;
///     file.read_to_string(&mut text)
/// })?;
/// assert_eq!(text, "text");
/// fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct File {
    file: fs::File,
    /// Whether reads are first tried in place.
    pub(super) in_place: bool,
}

impl File {
    /// Waits until all written data and metadata are on the disk, like [`std::fs::File::sync_all`].
    ///
    /// # Errors
    /// The errors of the `std` function, or the caller's interrupt.
    ///
    /// # Cancellation
    /// An interruption point before the call is made; see [the module](crate::fs).
    ///
    /// # Examples
    /// ```
    /// use std::io::Write;
    ///
    /// use pirn::fs::{self, File};
    ///
    /// let name = format!("pirn-doc-file-sync-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// let mut file = File::create(&path)?;
    /// file.write_all(b"some text")?;
    /// file.sync_all()?;
    /// fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "fsync")]
    #[track_caller]
    pub fn sync_all(&self) -> io::Result<()> {
        file_call(|| self.file.sync_all())
    }

    /// Waits until all written data are on the disk, like [`std::fs::File::sync_data`]. Unlike
    /// [`sync_all`](File::sync_all), leaves out metadata that reading the file does not need.
    ///
    /// # Errors
    /// The errors of the `std` function, or the caller's interrupt.
    ///
    /// # Cancellation
    /// An interruption point before the call is made; see [the module](crate::fs).
    ///
    /// # Examples
    /// ```
    /// use std::io::Write;
    ///
    /// use pirn::fs::{self, File};
    ///
    /// let name = format!("pirn-doc-file-sync-data-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// let mut file = File::create(&path)?;
    /// file.write_all(b"some text")?;
    /// file.sync_data()?;
    /// fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "fdatasync")]
    #[track_caller]
    pub fn sync_data(&self) -> io::Result<()> {
        file_call(|| self.file.sync_data())
    }

    /// Truncates the file to `size` bytes, or extends it with zeros, like
    /// [`std::fs::File::set_len`].
    ///
    /// # Errors
    /// The errors of the `std` function, or the caller's interrupt.
    ///
    /// # Cancellation
    /// An interruption point before the call is made; see [the module](crate::fs).
    ///
    /// # Examples
    /// ```
    /// use pirn::fs::{self, File};
    ///
    /// let name = format!("pirn-doc-file-set-len-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// let file = File::create(&path)?;
    /// file.set_len(4)?;
    /// assert_eq!(fs::read(&path)?, [0; 4]);
    /// fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "ftruncate")]
    #[track_caller]
    pub fn set_len(&self, size: u64) -> io::Result<()> {
        file_call(|| self.file.set_len(size))
    }

    /// Returns the file's metadata, like [`std::fs::File::metadata`].
    ///
    /// # Errors
    /// The errors of the `std` function, or the caller's interrupt.
    ///
    /// # Cancellation
    /// An interruption point before the call is made; see [the module](crate::fs).
    ///
    /// # Examples
    /// ```
    /// use pirn::fs::{self, File};
    ///
    /// let name = format!("pirn-doc-file-metadata-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// fs::write(&path, "some text")?;
    /// assert_eq!(File::open(&path)?.metadata()?.len(), 9);
    /// fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "fstat")]
    #[track_caller]
    pub fn metadata(&self) -> io::Result<Metadata> {
        file_call(|| self.file.metadata())
    }

    /// Changes the file's permissions, like [`std::fs::File::set_permissions`].
    ///
    /// # Errors
    /// The errors of the `std` function, or the caller's interrupt.
    ///
    /// # Cancellation
    /// An interruption point before the call is made; see [the module](crate::fs).
    ///
    /// # Examples
    /// ```
    /// use pirn::fs::{self, File};
    ///
    /// let name = format!("pirn-doc-file-permissions-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// let file = File::create(&path)?;
    /// let mut permissions = file.metadata()?.permissions();
    /// permissions.set_readonly(true);
    /// file.set_permissions(permissions)?;
    /// assert!(file.metadata()?.permissions().readonly());
    /// fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "fchmod")]
    #[track_caller]
    pub fn set_permissions(&self, permissions: Permissions) -> io::Result<()> {
        file_call(|| self.file.set_permissions(permissions))
    }

    /// Changes the file's timestamps, like [`std::fs::File::set_times`].
    ///
    /// # Errors
    /// The errors of the `std` function, or the caller's interrupt.
    ///
    /// # Cancellation
    /// An interruption point before the call is made; see [the module](crate::fs).
    ///
    /// # Examples
    /// ```
    /// use std::time::{Duration, SystemTime};
    ///
    /// use pirn::fs::{self, File, FileTimes};
    ///
    /// let name = format!("pirn-doc-file-times-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// let file = File::create(&path)?;
    /// let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    /// file.set_times(FileTimes::new().set_modified(time))?;
    /// assert_eq!(file.metadata()?.modified()?, time);
    /// fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "futimens")]
    #[track_caller]
    pub fn set_times(&self, times: FileTimes) -> io::Result<()> {
        file_call(|| self.file.set_times(times))
    }

    /// Changes the file's modification time, like [`std::fs::File::set_modified`].
    ///
    /// # Errors
    /// The errors of the `std` function, or the caller's interrupt.
    ///
    /// # Cancellation
    /// An interruption point before the call is made; see [the module](crate::fs).
    ///
    /// # Examples
    /// ```
    /// use std::time::{Duration, SystemTime};
    ///
    /// use pirn::fs::{self, File};
    ///
    /// let name = format!("pirn-doc-file-modified-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// let file = File::create(&path)?;
    /// let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    /// file.set_modified(time)?;
    /// assert_eq!(file.metadata()?.modified()?, time);
    /// fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn set_modified(&self, time: SystemTime) -> io::Result<()> {
        self.set_times(FileTimes::new().set_modified(time))
    }

    /// Returns another handle to the same open file, with the same position, like
    /// [`std::fs::File::try_clone`].
    ///
    /// # Errors
    /// The errors of the `std` function: the process has no descriptors left, for instance.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use std::io::Write;
    ///
    /// use pirn::fs::{self, File};
    ///
    /// let name = format!("pirn-doc-file-clone-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// let mut file = File::create(&path)?;
    /// file.try_clone()?.write_all(b"one,")?;
    /// file.write_all(b"two")?;
    /// assert_eq!(fs::read(&path)?, b"one,two");
    /// fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "dup")]
    pub fn try_clone(&self) -> io::Result<File> {
        self.file.try_clone().map(File::from)
    }

    /// Returns the file as `std`'s type, with calls that block the thread.
    ///
    /// # Examples
    /// ```
    /// use std::io::Write;
    ///
    /// use pirn::fs::{self, File};
    ///
    /// let name = format!("pirn-doc-file-into-std-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// let mut file: std::fs::File = File::create(&path)?.into_std();
    /// pirn::blocking(|| file.write_all(b"some text"))?;
    /// assert_eq!(fs::read(&path)?, b"some text");
    /// fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn into_std(self) -> fs::File {
        self.file
    }

    /// Returns the file as `std`'s type, for functions that are not here.
    ///
    /// # Examples
    /// ```
    /// use pirn::fs::{self, File};
    ///
    /// let name = format!("pirn-doc-file-as-std-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// let file = File::create(&path)?;
    /// assert!(file.as_std().metadata()?.is_file());
    /// fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn as_std(&self) -> &fs::File {
        &self.file
    }
}

impl From<fs::File> for File {
    fn from(file: fs::File) -> File {
        let in_place = may_be_cached(&file);
        File { file, in_place }
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.file.fmt(f)
    }
}

impl Read for &File {
    #[track_caller]
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        file_read(
            &self.file,
            self.in_place,
            into,
            None,
            |mut file, rest, _| file.read(rest),
        )
    }

    #[track_caller]
    fn read_vectored(&mut self, into: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        file_call(|| (&self.file).read_vectored(into))
    }

    #[track_caller]
    fn read_exact(&mut self, into: &mut [u8]) -> io::Result<()> {
        file_read_exact(
            &self.file,
            self.in_place,
            into,
            None,
            |mut file, rest, _| file.read_exact(rest),
        )
    }

    #[track_caller]
    fn read_to_end(&mut self, into: &mut Vec<u8>) -> io::Result<usize> {
        file_call(|| (&self.file).read_to_end(into))
    }

    #[track_caller]
    fn read_to_string(&mut self, into: &mut String) -> io::Result<usize> {
        file_call(|| (&self.file).read_to_string(into))
    }
}

impl Write for &File {
    #[track_caller]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        file_call(|| (&self.file).write(bytes))
    }

    #[track_caller]
    fn write_vectored(&mut self, bytes: &[IoSlice<'_>]) -> io::Result<usize> {
        file_call(|| (&self.file).write_vectored(bytes))
    }

    #[track_caller]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        file_call(|| (&self.file).write_all(bytes))
    }

    /// Formats first, so that all output is one call.
    #[track_caller]
    fn write_fmt(&mut self, arguments: fmt::Arguments<'_>) -> io::Result<()> {
        if let Some(text) = arguments.as_str() {
            return self.write_all(text.as_bytes());
        }
        let mut text = String::new();
        match text.write_fmt(arguments) {
            Ok(()) => self.write_all(text.as_bytes()),
            Err(error) => Err(io::Error::other(error)),
        }
    }

    /// Nothing is buffered here.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for &File {
    #[track_caller]
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match to {
            // The system changes a number; no disk access.
            SeekFrom::Start(_) | SeekFrom::Current(_) => {
                begin(Operation::Io, 0)?;
                (&self.file).seek(to)
            }
            SeekFrom::End(_) => file_call(|| (&self.file).seek(to)),
        }
    }
}

impl Read for File {
    #[track_caller]
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        (&*self).read(into)
    }

    #[track_caller]
    fn read_vectored(&mut self, into: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        (&*self).read_vectored(into)
    }

    #[track_caller]
    fn read_exact(&mut self, into: &mut [u8]) -> io::Result<()> {
        (&*self).read_exact(into)
    }

    #[track_caller]
    fn read_to_end(&mut self, into: &mut Vec<u8>) -> io::Result<usize> {
        (&*self).read_to_end(into)
    }

    #[track_caller]
    fn read_to_string(&mut self, into: &mut String) -> io::Result<usize> {
        (&*self).read_to_string(into)
    }
}

impl Write for File {
    #[track_caller]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self).write(bytes)
    }

    #[track_caller]
    fn write_vectored(&mut self, bytes: &[IoSlice<'_>]) -> io::Result<usize> {
        (&*self).write_vectored(bytes)
    }

    #[track_caller]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        (&*self).write_all(bytes)
    }

    #[track_caller]
    fn write_fmt(&mut self, arguments: fmt::Arguments<'_>) -> io::Result<()> {
        (&*self).write_fmt(arguments)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for File {
    #[track_caller]
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        (&*self).seek(to)
    }
}
