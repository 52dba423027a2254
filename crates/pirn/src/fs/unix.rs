//! Unix parts of files: descriptors, modes, reads and writes at an offset.

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::process::Stdio;

use super::{DirBuilder, File, OpenOptions};
use crate::blocking::{file_call, file_read, file_read_exact};

impl AsFd for File {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.as_std().as_fd()
    }
}

impl AsRawFd for File {
    fn as_raw_fd(&self) -> RawFd {
        self.as_std().as_raw_fd()
    }
}

impl IntoRawFd for File {
    fn into_raw_fd(self) -> RawFd {
        self.into_std().into_raw_fd()
    }
}

/// As for `std`'s type: the file owns the descriptor, and closes it when it is dropped.
///
/// # Examples
/// ```
/// use std::io::Write;
/// use std::os::fd::{FromRawFd, IntoRawFd};
///
/// let (reader, writer) = std::io::pipe()?;
/// // SAFETY: the descriptor is open, and this is its only owner.
/// let mut file = unsafe { pirn::fs::File::from_raw_fd(writer.into_raw_fd()) };
/// file.write_all(b"some text")?;
/// drop(file);
/// assert_eq!(std::io::read_to_string(reader)?, "some text");
/// # Ok::<(), std::io::Error>(())
/// ```
impl FromRawFd for File {
    unsafe fn from_raw_fd(descriptor: RawFd) -> File {
        // SAFETY: the caller passes an open descriptor and its ownership, which is all that `std`'s
        // type asks for.
        unsafe { fs::File::from_raw_fd(descriptor) }.into()
    }
}

impl From<File> for OwnedFd {
    fn from(file: File) -> OwnedFd {
        file.into_std().into()
    }
}

impl From<OwnedFd> for File {
    fn from(descriptor: OwnedFd) -> File {
        fs::File::from(descriptor).into()
    }
}

/// One call each; the position stays. Cost and cancellation are in [the module](crate::fs).
impl FileExt for File {
    #[track_caller]
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        file_read(
            self.as_std(),
            self.in_place,
            into,
            Some(offset),
            |file, rest, n| file.read_at(rest, offset + n as u64),
        )
    }

    #[track_caller]
    fn read_exact_at(&self, into: &mut [u8], offset: u64) -> io::Result<()> {
        file_read_exact(
            self.as_std(),
            self.in_place,
            into,
            Some(offset),
            |file, rest, n| file.read_exact_at(rest, offset + n as u64),
        )
    }

    #[track_caller]
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        file_call(|| self.as_std().write_at(bytes, offset))
    }

    #[track_caller]
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        file_call(|| self.as_std().write_all_at(bytes, offset))
    }
}

impl OpenOptionsExt for OpenOptions {
    fn mode(&mut self, mode: u32) -> &mut OpenOptions {
        self.0.mode(mode);
        self
    }

    fn custom_flags(&mut self, flags: i32) -> &mut OpenOptions {
        self.0.custom_flags(flags);
        self
    }
}

impl DirBuilderExt for DirBuilder {
    fn mode(&mut self, mode: u32) -> &mut DirBuilder {
        self.0.mode(mode);
        self
    }
}

/// Makes the file a standard stream of a child process.
impl From<File> for Stdio {
    fn from(file: File) -> Stdio {
        file.into_std().into()
    }
}
