//! A file that appears under its name only when it is complete.
//!
//! The data goes to `.pgz-<pid>-<n>.tmp` in the target's directory, readable by its owner
//! alone. [`Output::commit`] gives it the input's mode, times and, where permitted, owner,
//! and renames it. Dropping an output that was not committed removes the file.

use std::ffi::OsStr;
use std::fs::{self, File, FileTimes, Metadata, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use super::cleanup;

/// A file being written.
#[derive(Debug)]
pub struct Output {
    temporary: PathBuf,
    target: PathBuf,
    file: File,
    durable: bool,
    committed: bool,
}

/// Permission to replace an existing target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replace {
    /// The commit replaces it.
    Allowed,
    /// The commit keeps it and fails with `AlreadyExists`.
    Refused,
}

/// The result of setting the mode of a complete file.
#[derive(Debug)]
pub struct ModeSet(pub io::Result<()>);

/// Returns true for the name of a temporary file of this program, of any process.
pub fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str);
    let middle = name.and_then(|name| name.strip_prefix(".pgz-")?.strip_suffix(".tmp"));
    let numbers = middle.and_then(|middle| middle.split_once('-'));
    let is_number =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    numbers.is_some_and(|(id, number)| is_number(id) && is_number(number))
}

impl Output {
    /// Creates the temporary file for `target`. With `durable`, a commit returns when data
    /// and name are on the disk.
    ///
    /// # Errors
    ///
    /// Those of `open`.
    pub fn create(target: &Path, durable: bool) -> io::Result<Output> {
        let mut number = 0;
        loop {
            let name = format!(".pgz-{}-{number}.tmp", std::process::id());
            let temporary = target.with_file_name(name);
            let opened = cleanup::create(&temporary, || {
                OpenOptions::new()
                    .write(true)
                    .create_new(true)
                    .mode(0o600)
                    .open(&temporary)
            });
            match opened {
                Ok(file) => {
                    return Ok(Output {
                        temporary,
                        target: target.to_owned(),
                        file,
                        durable,
                        committed: false,
                    });
                }
                // Left behind by a killed process with the same id.
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists && number < 100 => {
                    number += 1;
                }
                Err(e) => return Err(e),
            }
        }
    }

    /// Gives the file its metadata and its name. `time` replaces the modification time. Some file
    /// systems have no modes, so a failure to set one is not an error: it is in the returned
    /// [`ModeSet`], and the file keeps the mode 0600.
    ///
    /// # Errors
    ///
    /// Those of `rename`, `close` and, if durable, `fsync`. The file is then removed, unless it has
    /// its name and the `fsync` of its directory failed. Failures to set the times or the owner are
    /// ignored.
    pub fn commit(
        mut self,
        facts: &Metadata,
        time: Option<SystemTime>,
        replace: Replace,
    ) -> io::Result<ModeSet> {
        // The owner first: a change of owner clears mode bits.
        let owner = fchown(&self.file, Some(facts.uid()), Some(facts.gid()));
        let mut mode = facts.mode() & 0o777;
        if owner.is_err() && fchown(&self.file, None, Some(facts.gid())).is_err() {
            // The file stays in the process's own group, to which the input's group bits do not
            // apply.
            mode &= !0o070;
        }
        let mode = ModeSet(self.file.set_permissions(Permissions::from_mode(mode)));
        let mut times = FileTimes::new();
        if let Ok(accessed) = facts.accessed() {
            times = times.set_accessed(accessed);
        }
        if let Some(modified) = time.or_else(|| facts.modified().ok()) {
            times = times.set_modified(modified);
        }
        let _ = self.file.set_times(times);
        if self.durable {
            self.file.sync_all()?;
        }
        close(self.file.try_clone()?)?;
        cleanup::settle(|| self.rename(replace))?;
        self.committed = true;
        if self.durable {
            self.sync_name()?;
        }
        Ok(mode)
    }

    /// Waits until the target's directory entry is on the disk, where the system can do that.
    fn sync_name(&self) -> io::Result<()> {
        let directory = match self.target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        match File::open(directory)?.sync_all() {
            Err(error) if error.kind() != io::ErrorKind::InvalidInput => Err(error),
            _ => Ok(()),
        }
    }

    fn rename(&self, replace: Replace) -> io::Result<()> {
        if replace == Replace::Allowed {
            return fs::rename(&self.temporary, &self.target);
        }
        let flags = RenameFlags::NOREPLACE;
        match renameat_with(CWD, &self.temporary, CWD, &self.target, flags) {
            // A file system that cannot refuse by itself.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                if fs::symlink_metadata(&self.target).is_ok() {
                    return Err(io::ErrorKind::AlreadyExists.into());
                }
                fs::rename(&self.temporary, &self.target)
            }
            done => Ok(done?),
        }
    }
}

/// Closes a descriptor. At each `close`, also of a duplicate, network file systems write data back,
/// and report a full disk or an exceeded quota.
///
/// # Errors
///
/// Those of `close`.
pub fn close(file: File) -> io::Result<()> {
    Ok(nix::unistd::close(file)?)
}

impl Write for Output {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.file.write(buf)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if !self.committed {
            let _ = cleanup::settle(|| fs::remove_file(&self.temporary));
        }
    }
}
