//! Functions on paths: one call each, run on another thread.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Metadata, Permissions};
use crate::blocking::file_call;

/// Reads a whole file, like [`std::fs::read`].
///
/// # Errors
/// The errors of the `std` function, or the caller's interrupt.
///
/// # Cancellation
/// An interruption point before the call is made; see [the module](crate::fs).
#[track_caller]
pub fn read(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let path = path.as_ref();
    file_call(|| fs::read(path))
}

/// Reads a whole file of text, like [`std::fs::read_to_string`].
///
/// # Errors
/// The errors of the `std` function (`InvalidData` if it is not UTF-8), or the caller's interrupt.
///
/// # Cancellation
/// An interruption point before the call is made; see [the module](crate::fs).
#[track_caller]
pub fn read_to_string(path: impl AsRef<Path>) -> io::Result<String> {
    let path = path.as_ref();
    file_call(|| fs::read_to_string(path))
}

/// Writes `contents` to a file, replacing its contents, like [`std::fs::write`]. The file is
/// created if it does not exist.
///
/// # Errors
/// The errors of the `std` function, or the caller's interrupt.
///
/// # Cancellation
/// An interruption point before the call is made; see [the module](crate::fs).
#[track_caller]
pub fn write(path: impl AsRef<Path>, contents: impl AsRef<[u8]>) -> io::Result<()> {
    let (path, contents) = (path.as_ref(), contents.as_ref());
    file_call(|| fs::write(path, contents))
}

/// Copies a file with its permissions, like [`std::fs::copy`], and returns its length. The system
/// does the copying where it can.
///
/// The copy is one call, however long it takes: a deadline does not end it. Copy between two
/// [`File`](super::File)s with [`io::copy`] for a copy that can be interrupted.
///
/// # Errors
/// The errors of the `std` function, or the caller's interrupt.
///
/// # Cancellation
/// An interruption point before the call is made; see [the module](crate::fs).
#[track_caller]
pub fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<u64> {
    let (from, to) = (from.as_ref(), to.as_ref());
    file_call(|| fs::copy(from, to))
}

/// Renames a file, like [`std::fs::rename`]. A file at the new path is replaced.
///
/// # Errors
/// The errors of the `std` function, or the caller's interrupt.
///
/// # Cancellation
/// An interruption point before the call is made; see [the module](crate::fs).
#[track_caller]
pub fn rename(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
    let (from, to) = (from.as_ref(), to.as_ref());
    file_call(|| fs::rename(from, to))
}

/// Creates a hard link, like [`std::fs::hard_link`].
///
/// # Errors
/// The errors of the `std` function, or the caller's interrupt.
///
/// # Cancellation
/// An interruption point before the call is made; see [the module](crate::fs).
#[track_caller]
pub fn hard_link(original: impl AsRef<Path>, link: impl AsRef<Path>) -> io::Result<()> {
    let (original, link) = (original.as_ref(), link.as_ref());
    file_call(|| fs::hard_link(original, link))
}

/// Returns the target of a symbolic link, like [`std::fs::read_link`].
///
/// # Errors
/// The errors of the `std` function, or the caller's interrupt.
///
/// # Cancellation
/// An interruption point before the call is made; see [the module](crate::fs).
#[track_caller]
pub fn read_link(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    let path = path.as_ref();
    file_call(|| fs::read_link(path))
}

/// Returns the absolute path with all symbolic links resolved, like [`std::fs::canonicalize`].
///
/// # Errors
/// The errors of the `std` function, or the caller's interrupt.
///
/// # Cancellation
/// An interruption point before the call is made; see [the module](crate::fs).
#[track_caller]
pub fn canonicalize(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    let path = path.as_ref();
    file_call(|| fs::canonicalize(path))
}

/// Returns the metadata of a file, like [`std::fs::metadata`]; follows symbolic links.
///
/// # Errors
/// The errors of the `std` function, or the caller's interrupt.
///
/// # Cancellation
/// An interruption point before the call is made; see [the module](crate::fs).
#[track_caller]
pub fn metadata(path: impl AsRef<Path>) -> io::Result<Metadata> {
    let path = path.as_ref();
    file_call(|| fs::metadata(path))
}

/// Returns the metadata of a file without following symbolic links, like
/// [`std::fs::symlink_metadata`].
///
/// # Errors
/// The errors of the `std` function, or the caller's interrupt.
///
/// # Cancellation
/// An interruption point before the call is made; see [the module](crate::fs).
#[track_caller]
pub fn symlink_metadata(path: impl AsRef<Path>) -> io::Result<Metadata> {
    let path = path.as_ref();
    file_call(|| fs::symlink_metadata(path))
}

/// Returns true if the path exists, like [`std::fs::exists`].
///
/// # Errors
/// The errors of the `std` function, or the caller's interrupt.
///
/// # Cancellation
/// An interruption point before the call is made; see [the module](crate::fs).
#[track_caller]
pub fn exists(path: impl AsRef<Path>) -> io::Result<bool> {
    let path = path.as_ref();
    file_call(|| fs::exists(path))
}

/// Changes the permissions of a file, like [`std::fs::set_permissions`].
///
/// # Errors
/// The errors of the `std` function, or the caller's interrupt.
///
/// # Cancellation
/// An interruption point before the call is made; see [the module](crate::fs).
#[track_caller]
pub fn set_permissions(
    path: impl AsRef<Path>,
    permissions: Permissions,
) -> io::Result<()> {
    let path = path.as_ref();
    file_call(|| fs::set_permissions(path, permissions))
}

/// Removes a file, like [`std::fs::remove_file`].
///
/// # Errors
/// The errors of the `std` function, or the caller's interrupt.
///
/// # Cancellation
/// An interruption point before the call is made; see [the module](crate::fs).
#[track_caller]
pub fn remove_file(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    file_call(|| fs::remove_file(path))
}

/// Creates a directory, like [`std::fs::create_dir`].
///
/// # Errors
/// The errors of the `std` function, or the caller's interrupt.
///
/// # Cancellation
/// An interruption point before the call is made; see [the module](crate::fs).
#[track_caller]
pub fn create_dir(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    file_call(|| fs::create_dir(path))
}

/// Creates a directory and its missing parents, like [`std::fs::create_dir_all`].
///
/// # Errors
/// The errors of the `std` function, or the caller's interrupt.
///
/// # Cancellation
/// An interruption point before the first directory is created; see [the module](crate::fs).
#[track_caller]
pub fn create_dir_all(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    file_call(|| fs::create_dir_all(path))
}

/// Removes an empty directory, like [`std::fs::remove_dir`].
///
/// # Errors
/// The errors of the `std` function, or the caller's interrupt.
///
/// # Cancellation
/// An interruption point before the call is made; see [the module](crate::fs).
#[track_caller]
pub fn remove_dir(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    file_call(|| fs::remove_dir(path))
}

/// Removes a directory with all its contents, like [`std::fs::remove_dir_all`].
///
/// # Errors
/// The errors of the `std` function, or the caller's interrupt.
///
/// # Cancellation
/// An interruption point before anything is removed; see [the module](crate::fs).
#[track_caller]
pub fn remove_dir_all(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    file_call(|| fs::remove_dir_all(path))
}
