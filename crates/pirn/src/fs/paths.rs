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
///
/// # Examples
/// ```
/// use pirn::fs;
///
/// let name = format!("pirn-doc-read-{}", std::process::id());
/// let path = std::env::temp_dir().join(name);
/// fs::write(&path, b"some bytes")?;
/// assert_eq!(fs::read(&path)?, b"some bytes");
/// fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc(alias = "ReadFile")]
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
///
/// # Examples
/// ```
/// use pirn::fs;
///
/// let name = format!("pirn-doc-read-to-string-{}", std::process::id());
/// let path = std::env::temp_dir().join(name);
/// let text = pirn::run(|| {
///     fs::write(&path, "some text")?;
///     fs::read_to_string(&path)
/// })?;
/// assert_eq!(text, "some text");
/// fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc(alias = "ReadFile")]
#[track_caller]
pub fn read_to_string(path: impl AsRef<Path>) -> io::Result<String> {
    let path = path.as_ref();
    file_call(|| fs::read_to_string(path))
}

/// Writes `contents` to a file, replacing what was there, like [`std::fs::write`]. The file is
/// created if it does not exist.
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
/// let name = format!("pirn-doc-write-{}", std::process::id());
/// let path = std::env::temp_dir().join(name);
/// fs::write(&path, "one")?;
/// fs::write(&path, "two")?;
/// assert_eq!(fs::read(&path)?, b"two");
/// fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc(alias = "WriteFile")]
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
///
/// # Examples
/// ```
/// use pirn::fs;
///
/// let name = format!("pirn-doc-copy-{}", std::process::id());
/// let path = std::env::temp_dir().join(name);
/// let other = path.with_extension("copy");
/// fs::write(&path, "some text")?;
/// assert_eq!(fs::copy(&path, &other)?, 9);
/// assert_eq!(fs::read_to_string(&other)?, "some text");
/// fs::remove_file(&path)?;
/// fs::remove_file(&other)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc(alias = "cp")]
#[doc(alias = "CopyFile")]
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
///
/// # Examples
/// ```
/// use pirn::fs;
///
/// let name = format!("pirn-doc-rename-{}", std::process::id());
/// let path = std::env::temp_dir().join(name);
/// let other = path.with_extension("new");
/// fs::write(&path, "some text")?;
/// fs::rename(&path, &other)?;
/// assert!(!fs::exists(&path)?);
/// fs::remove_file(&other)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc(alias = "mv")]
#[doc(alias = "MoveFile")]
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
///
/// # Examples
/// ```
/// use pirn::fs;
///
/// let name = format!("pirn-doc-hard-link-{}", std::process::id());
/// let path = std::env::temp_dir().join(name);
/// let link = path.with_extension("link");
/// fs::write(&path, "some text")?;
/// fs::hard_link(&path, &link)?;
/// fs::remove_file(&path)?;
/// assert_eq!(fs::read_to_string(&link)?, "some text");
/// fs::remove_file(&link)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc(alias = "ln")]
#[doc(alias = "link")]
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
///
/// # Examples
/// ```
/// use pirn::fs;
///
/// # #[cfg(unix)] {
/// let name = format!("pirn-doc-read-link-{}", std::process::id());
/// let path = std::env::temp_dir().join(name);
/// std::os::unix::fs::symlink("target", &path)?;
/// assert_eq!(fs::read_link(&path)?.to_str(), Some("target"));
/// fs::remove_file(&path)?;
/// # }
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc(alias = "readlink")]
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
///
/// # Examples
/// ```
/// use pirn::fs;
///
/// let directory = fs::canonicalize(std::env::temp_dir())?;
/// assert!(directory.is_absolute());
/// assert_eq!(fs::canonicalize(directory.join("."))?, directory);
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc(alias = "realpath")]
#[doc(alias = "EvalSymlinks")]
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
///
/// # Examples
/// ```
/// use pirn::fs;
///
/// let name = format!("pirn-doc-metadata-{}", std::process::id());
/// let path = std::env::temp_dir().join(name);
/// fs::write(&path, "some text")?;
/// assert_eq!(fs::metadata(&path)?.len(), 9);
/// fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc(alias = "stat")]
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
///
/// # Examples
/// ```
/// use pirn::fs;
///
/// # #[cfg(unix)] {
/// let name = format!("pirn-doc-symlink-metadata-{}", std::process::id());
/// let path = std::env::temp_dir().join(name);
/// std::os::unix::fs::symlink("target", &path)?;
/// assert!(fs::symlink_metadata(&path)?.is_symlink());
/// fs::remove_file(&path)?;
/// # }
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc(alias = "lstat")]
#[track_caller]
pub fn symlink_metadata(path: impl AsRef<Path>) -> io::Result<Metadata> {
    let path = path.as_ref();
    file_call(|| fs::symlink_metadata(path))
}

/// Returns true if the path exists, like [`std::fs::exists`]; follows symbolic links.
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
/// let name = format!("pirn-doc-exists-{}", std::process::id());
/// let path = std::env::temp_dir().join(name);
/// assert!(!fs::exists(&path)?);
/// fs::write(&path, "")?;
/// assert!(fs::exists(&path)?);
/// fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc(alias = "try_exists")]
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
///
/// # Examples
/// ```
/// use pirn::fs;
///
/// let name = format!("pirn-doc-set-permissions-{}", std::process::id());
/// let path = std::env::temp_dir().join(name);
/// fs::write(&path, "some text")?;
/// let mut permissions = fs::metadata(&path)?.permissions();
/// permissions.set_readonly(true);
/// fs::set_permissions(&path, permissions)?;
/// assert!(fs::metadata(&path)?.permissions().readonly());
/// fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc(alias = "chmod")]
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
///
/// # Examples
/// ```
/// use pirn::fs;
///
/// let name = format!("pirn-doc-remove-file-{}", std::process::id());
/// let path = std::env::temp_dir().join(name);
/// fs::write(&path, "some text")?;
/// fs::remove_file(&path)?;
/// assert!(fs::remove_file(&path).is_err());
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc(alias = "unlink")]
#[doc(alias = "rm")]
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
///
/// # Examples
/// ```
/// use pirn::fs;
///
/// let name = format!("pirn-doc-create-dir-{}", std::process::id());
/// let path = std::env::temp_dir().join(name);
/// fs::create_dir(&path)?;
/// assert!(fs::metadata(&path)?.is_dir());
/// fs::remove_dir(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc(alias = "mkdir")]
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
///
/// # Examples
/// ```
/// use pirn::fs;
///
/// let name = format!("pirn-doc-create-dir-all-{}", std::process::id());
/// let path = std::env::temp_dir().join(name);
/// fs::create_dir_all(path.join("a/b"))?;
/// assert!(fs::metadata(path.join("a/b"))?.is_dir());
/// fs::remove_dir_all(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc(alias = "MkdirAll")]
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
///
/// # Examples
/// ```
/// use pirn::fs;
///
/// let name = format!("pirn-doc-remove-dir-{}", std::process::id());
/// let path = std::env::temp_dir().join(name);
/// fs::create_dir(&path)?;
/// fs::write(path.join("file"), "")?;
/// assert!(fs::remove_dir(&path).is_err());
/// fs::remove_file(path.join("file"))?;
/// fs::remove_dir(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc(alias = "rmdir")]
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
///
/// # Examples
/// ```
/// use pirn::fs;
///
/// let name = format!("pirn-doc-remove-dir-all-{}", std::process::id());
/// let path = std::env::temp_dir().join(name);
/// fs::create_dir(&path)?;
/// fs::write(path.join("file"), "")?;
/// fs::remove_dir_all(&path)?;
/// assert!(!fs::exists(&path)?);
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc(alias = "RemoveAll")]
#[track_caller]
pub fn remove_dir_all(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    file_call(|| fs::remove_dir_all(path))
}
