//! [`File`]: an open file, whose calls are handed over.
//!
//! Owns: which calls on an open file are handed over, and which are so short that they are made
//! in place. Does not own: any buffer; what is read goes to where the caller wants it.

use std::fmt::{self, Write as _};
use std::fs;
use std::io::{self, IoSlice, IoSliceMut, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::SystemTime;

use super::{FileTimes, Metadata, OpenOptions, Permissions};
use crate::blocking::{file_call, file_read, file_read_exact};
use crate::sys::may_be_cached;
use crate::wait::begin;

/// An open file, as [`std::fs::File`], for fibers and threads. Closed when it is dropped.
///
/// `Read`, `Write` and `Seek` work on `File` and on `&File`; the position in the file is one,
/// whoever moves it. Each call that may wait for the disk is handed to another thread: [the
/// module](crate::fs) says what that costs, and that one wants a buffer around it. `read_to_end`, `read_to_string`,
/// `read_exact`, `write_all` and `write!` are one call each. `flush` does nothing, as there is
/// nothing to be flushed, and a seek that needs not know the file's length is made in place.
///
/// To wait for another process's lock on a file, use [`into_std`](File::into_std) and
/// [`blocking`](crate::blocking()).
pub struct File {
    file: fs::File,
    /// Reads are tried in place.
    pub(super) in_place: bool,
}

impl File {
    /// Opens a file to be read, as [`std::fs::File::open`].
    ///
    /// # Errors
    /// As there, and the interrupt that the caller is under.
    ///
    /// # Cancellation
    /// An interruption point before the call is made; see [the module](crate::fs).
    #[track_caller]
    pub fn open(path: impl AsRef<Path>) -> io::Result<File> {
        OpenOptions::new().read(true).open(path)
    }

    /// Opens a file to be written, empty; it is made if it is not there. As
    /// [`std::fs::File::create`].
    ///
    /// # Errors
    /// As there, and the interrupt that the caller is under.
    ///
    /// # Cancellation
    /// An interruption point before the call is made; see [the module](crate::fs).
    #[track_caller]
    pub fn create(path: impl AsRef<Path>) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).open(path)
    }

    /// Makes a file that was not there, to be read and written, as
    /// [`std::fs::File::create_new`].
    ///
    /// # Errors
    /// As there (`AlreadyExists`), and the interrupt that the caller is under.
    ///
    /// # Cancellation
    /// An interruption point before the call is made; see [the module](crate::fs).
    #[track_caller]
    pub fn create_new(path: impl AsRef<Path>) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).open(path)
    }

    /// Options to open a file with: [`OpenOptions::new`].
    #[must_use]
    pub fn options() -> OpenOptions {
        OpenOptions::new()
    }

    /// Waits until everything that was written is on the disk, as [`std::fs::File::sync_all`].
    ///
    /// # Errors
    /// As there, and the interrupt that the caller is under.
    ///
    /// # Cancellation
    /// An interruption point before the call is made; see [the module](crate::fs).
    #[track_caller]
    pub fn sync_all(&self) -> io::Result<()> {
        file_call(|| self.file.sync_all())
    }

    /// Like [`sync_all`](File::sync_all), without what is not needed to read it again, as
    /// [`std::fs::File::sync_data`].
    ///
    /// # Errors
    /// As there, and the interrupt that the caller is under.
    ///
    /// # Cancellation
    /// An interruption point before the call is made; see [the module](crate::fs).
    #[track_caller]
    pub fn sync_data(&self) -> io::Result<()> {
        file_call(|| self.file.sync_data())
    }

    /// Cuts the file off at `size` bytes, or fills it up with zeros, as
    /// [`std::fs::File::set_len`].
    ///
    /// # Errors
    /// As there, and the interrupt that the caller is under.
    ///
    /// # Cancellation
    /// An interruption point before the call is made; see [the module](crate::fs).
    #[track_caller]
    pub fn set_len(&self, size: u64) -> io::Result<()> {
        file_call(|| self.file.set_len(size))
    }

    /// What the system knows of the file, as [`std::fs::File::metadata`].
    ///
    /// # Errors
    /// As there, and the interrupt that the caller is under.
    ///
    /// # Cancellation
    /// An interruption point before the call is made; see [the module](crate::fs).
    #[track_caller]
    pub fn metadata(&self) -> io::Result<Metadata> {
        file_call(|| self.file.metadata())
    }

    /// Changes who may do what with the file, as [`std::fs::File::set_permissions`].
    ///
    /// # Errors
    /// As there, and the interrupt that the caller is under.
    ///
    /// # Cancellation
    /// An interruption point before the call is made; see [the module](crate::fs).
    #[track_caller]
    pub fn set_permissions(&self, permissions: Permissions) -> io::Result<()> {
        file_call(|| self.file.set_permissions(permissions))
    }

    /// Changes the times that the system keeps of the file, as [`std::fs::File::set_times`].
    ///
    /// # Errors
    /// As there, and the interrupt that the caller is under.
    ///
    /// # Cancellation
    /// An interruption point before the call is made; see [the module](crate::fs).
    #[track_caller]
    pub fn set_times(&self, times: FileTimes) -> io::Result<()> {
        file_call(|| self.file.set_times(times))
    }

    /// Changes when the file was written last, as [`std::fs::File::set_modified`].
    ///
    /// # Errors
    /// As there, and the interrupt that the caller is under.
    ///
    /// # Cancellation
    /// An interruption point before the call is made; see [the module](crate::fs).
    #[track_caller]
    pub fn set_modified(&self, time: SystemTime) -> io::Result<()> {
        self.set_times(FileTimes::new().set_modified(time))
    }

    /// The same open file once more, with the same position, as [`std::fs::File::try_clone`].
    ///
    /// # Errors
    /// As there: the process has no descriptors left.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    pub fn try_clone(&self) -> io::Result<File> {
        self.file.try_clone().map(File::from)
    }

    /// The file as `std` has it, whose calls block the thread.
    #[must_use]
    pub fn into_std(self) -> fs::File {
        self.file
    }

    /// The file as `std` has it, for what is not here.
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

    /// Formats first, so that all of it is one call.
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
            // The system changes a number; nobody asks the disk.
            SeekFrom::Start(_) | SeekFrom::Current(_) => {
                begin()?;
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
