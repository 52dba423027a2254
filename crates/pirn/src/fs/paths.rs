//! What is done to a path: one call each, handed over.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Metadata, Permissions};
use crate::blocking::file_call;

/// Reads a whole file, as [`std::fs::read`].
///
/// # Errors
/// As there, and the interrupt that the caller is under.
///
/// # Cancellation
/// An interruption point before the call is made; see [the module](crate::fs).
#[track_caller]
pub fn read(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let path = path.as_ref();
    file_call(|| fs::read(path))
}

/// Reads a whole file of text, as [`std::fs::read_to_string`].
///
/// # Errors
/// As there (`InvalidData` if it is no UTF-8), and the interrupt that the caller is under.
///
/// # Cancellation
/// An interruption point before the call is made; see [the module](crate::fs).
#[track_caller]
pub fn read_to_string(path: impl AsRef<Path>) -> io::Result<String> {
    let path = path.as_ref();
    file_call(|| fs::read_to_string(path))
}

/// Makes `contents` all that is in a file, as [`std::fs::write`]. The file is made if it is not
/// there.
///
/// # Errors
/// As there, and the interrupt that the caller is under.
///
/// # Cancellation
/// An interruption point before the call is made; see [the module](crate::fs).
#[track_caller]
pub fn write(path: impl AsRef<Path>, contents: impl AsRef<[u8]>) -> io::Result<()> {
    let (path, contents) = (path.as_ref(), contents.as_ref());
    file_call(|| fs::write(path, contents))
}

/// Copies a file with its permissions, as [`std::fs::copy`], and returns its length. The system
/// copies it, if it can.
///
/// However long it takes, it is one call: a deadline does not end it. To be able to end it, copy
/// between two [`File`](super::File)s with [`io::copy`].
///
/// # Errors
/// As there, and the interrupt that the caller is under.
///
/// # Cancellation
/// An interruption point before the call is made; see [the module](crate::fs).
#[track_caller]
pub fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<u64> {
    let (from, to) = (from.as_ref(), to.as_ref());
    file_call(|| fs::copy(from, to))
}

/// Gives a file another name, as [`std::fs::rename`]. One that has that name is replaced.
///
/// # Errors
/// As there, and the interrupt that the caller is under.
///
/// # Cancellation
/// An interruption point before the call is made; see [the module](crate::fs).
#[track_caller]
pub fn rename(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
    let (from, to) = (from.as_ref(), to.as_ref());
    file_call(|| fs::rename(from, to))
}

/// Gives a file one more name, as [`std::fs::hard_link`].
///
/// # Errors
/// As there, and the interrupt that the caller is under.
///
/// # Cancellation
/// An interruption point before the call is made; see [the module](crate::fs).
#[track_caller]
pub fn hard_link(original: impl AsRef<Path>, link: impl AsRef<Path>) -> io::Result<()> {
    let (original, link) = (original.as_ref(), link.as_ref());
    file_call(|| fs::hard_link(original, link))
}

/// Where a symbolic link leads, as [`std::fs::read_link`].
///
/// # Errors
/// As there, and the interrupt that the caller is under.
///
/// # Cancellation
/// An interruption point before the call is made; see [the module](crate::fs).
#[track_caller]
pub fn read_link(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    let path = path.as_ref();
    file_call(|| fs::read_link(path))
}

/// The path from the root without links in it, as [`std::fs::canonicalize`].
///
/// # Errors
/// As there, and the interrupt that the caller is under.
///
/// # Cancellation
/// An interruption point before the call is made; see [the module](crate::fs).
#[track_caller]
pub fn canonicalize(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    let path = path.as_ref();
    file_call(|| fs::canonicalize(path))
}

/// What the system knows of a file, as [`std::fs::metadata`]; of a symbolic link: of what it
/// leads to.
///
/// # Errors
/// As there, and the interrupt that the caller is under.
///
/// # Cancellation
/// An interruption point before the call is made; see [the module](crate::fs).
#[track_caller]
pub fn metadata(path: impl AsRef<Path>) -> io::Result<Metadata> {
    let path = path.as_ref();
    file_call(|| fs::metadata(path))
}

/// Like [`metadata`], of the symbolic link itself, as [`std::fs::symlink_metadata`].
///
/// # Errors
/// As there, and the interrupt that the caller is under.
///
/// # Cancellation
/// An interruption point before the call is made; see [the module](crate::fs).
#[track_caller]
pub fn symlink_metadata(path: impl AsRef<Path>) -> io::Result<Metadata> {
    let path = path.as_ref();
    file_call(|| fs::symlink_metadata(path))
}

/// Whether there is something at the path, as [`std::fs::exists`].
///
/// # Errors
/// As there, and the interrupt that the caller is under.
///
/// # Cancellation
/// An interruption point before the call is made; see [the module](crate::fs).
#[track_caller]
pub fn exists(path: impl AsRef<Path>) -> io::Result<bool> {
    let path = path.as_ref();
    file_call(|| fs::exists(path))
}

/// Changes who may do what with a file, as [`std::fs::set_permissions`].
///
/// # Errors
/// As there, and the interrupt that the caller is under.
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

/// Removes a file, as [`std::fs::remove_file`].
///
/// # Errors
/// As there, and the interrupt that the caller is under.
///
/// # Cancellation
/// An interruption point before the call is made; see [the module](crate::fs).
#[track_caller]
pub fn remove_file(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    file_call(|| fs::remove_file(path))
}

/// Makes a directory, as [`std::fs::create_dir`].
///
/// # Errors
/// As there, and the interrupt that the caller is under.
///
/// # Cancellation
/// An interruption point before the call is made; see [the module](crate::fs).
#[track_caller]
pub fn create_dir(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    file_call(|| fs::create_dir(path))
}

/// Makes a directory and those above it that are missing, as [`std::fs::create_dir_all`].
///
/// # Errors
/// As there, and the interrupt that the caller is under.
///
/// # Cancellation
/// An interruption point before the first is made; see [the module](crate::fs).
#[track_caller]
pub fn create_dir_all(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    file_call(|| fs::create_dir_all(path))
}

/// Removes an empty directory, as [`std::fs::remove_dir`].
///
/// # Errors
/// As there, and the interrupt that the caller is under.
///
/// # Cancellation
/// An interruption point before the call is made; see [the module](crate::fs).
#[track_caller]
pub fn remove_dir(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    file_call(|| fs::remove_dir(path))
}

/// Removes a directory with all that is in it, as [`std::fs::remove_dir_all`].
///
/// # Errors
/// As there, and the interrupt that the caller is under.
///
/// # Cancellation
/// An interruption point before anything is removed; see [the module](crate::fs).
#[track_caller]
pub fn remove_dir_all(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    file_call(|| fs::remove_dir_all(path))
}
