//! Files to read.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// An open file with its metadata.
#[derive(Debug)]
pub struct Input {
    /// The name under which it was opened.
    pub path: PathBuf,
    /// The open file.
    pub file: File,
    /// Its metadata when it was opened.
    pub facts: Metadata,
}

/// The kind of file under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// A regular file.
    Regular,
    /// A directory.
    Directory,
    /// A device, socket or pipe.
    Other,
}

/// Returns the kind of a name before it is opened: opening a pipe without a writer would hang.
///
/// # Errors
///
/// Those of `stat`; with `follow` false also `ELOOP` for a symbolic link, as with `O_NOFOLLOW`.
pub fn kind(path: &Path, follow: bool) -> io::Result<InputKind> {
    let facts = match follow {
        true => fs::metadata(path)?,
        false => fs::symlink_metadata(path)?,
    };
    if facts.is_symlink() {
        return Err(rustix::io::Errno::LOOP.into());
    }
    Ok(match () {
        () if facts.is_dir() => InputKind::Directory,
        () if facts.is_file() => InputKind::Regular,
        () => InputKind::Other,
    })
}

impl Input {
    /// Opens a file for reading.
    ///
    /// # Errors
    ///
    /// Those of `open` and `fstat`.
    pub fn open(path: &Path, follow: bool) -> io::Result<Input> {
        let mut flags = OFlags::NOCTTY;
        if !follow {
            flags |= OFlags::NOFOLLOW;
        }
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(flags.bits().cast_signed())
            .open(path)?;
        let facts = file.metadata()?;
        Ok(Input {
            path: path.to_owned(),
            file,
            facts,
        })
    }

    /// Returns the reason why gzip skips this file; `None` if gzip does not. `-f` overrides the
    /// sticky bit and links only.
    pub fn reason_to_leave(&self, force: bool) -> Option<String> {
        let mode = self.facts.mode();
        let links = self.facts.nlink().saturating_sub(1);
        if mode & SET_USER_ID != 0 {
            Some("is set-user-ID on execution -- ignored".into())
        } else if mode & SET_GROUP_ID != 0 {
            Some("is set-group-ID on execution -- ignored".into())
        } else if force {
            None
        } else if mode & STICKY != 0 {
            Some("has the sticky bit set -- file ignored".into())
        } else if links > 0 {
            let s = if links == 1 { "" } else { "s" };
            Some(format!("has {links} other link{s} -- file ignored"))
        } else {
            None
        }
    }

    /// Returns true if the file had `read` bytes when it was opened, and still has.
    ///
    /// # Errors
    ///
    /// Those of `fstat`.
    pub fn unchanged(&self, read: u64) -> io::Result<bool> {
        Ok(read == self.facts.len() && self.file.metadata()?.len() == read)
    }

    /// Removes the name, if it still refers to this file; `false` if it does not.
    ///
    /// # Errors
    ///
    /// Those of `lstat` and `unlink`.
    pub fn remove(&self, follow: bool) -> io::Result<bool> {
        let now = match follow {
            true => fs::metadata(&self.path)?,
            false => fs::symlink_metadata(&self.path)?,
        };
        if (now.dev(), now.ino()) != (self.facts.dev(), self.facts.ino()) {
            return Ok(false);
        }
        fs::remove_file(&self.path)?;
        Ok(true)
    }
}

const SET_USER_ID: u32 = 0o4000;
const SET_GROUP_ID: u32 = 0o2000;
const STICKY: u32 = 0o1000;
