//! A child's standard error, kept for the reason when it fails.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::process::{self, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use super::target_directory;

/// An unnamed file, so that children of other parents do not write to it.
#[derive(Debug)]
pub struct Complaint {
    file: File,
}

impl Complaint {
    /// Returns an empty one, and the descriptor for the child.
    ///
    /// # Errors
    /// When no file can be created in the target directory, or no descriptor is left.
    pub fn new() -> io::Result<(Complaint, Stdio)> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("child-errors-{}-{count}", process::id());
        let path = target_directory().join(name);
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)?;
        fs::remove_file(&path)?;
        let end = Stdio::from(file.try_clone()?);
        Ok((Complaint { file }, end))
    }

    /// Returns the first line that is a message, after a colon; nothing if there is none.
    pub fn first_line(&self) -> String {
        let mut said = vec![0; 4096];
        let length = self.file.read_at(&mut said, 0).unwrap_or(0);
        let said = String::from_utf8_lossy(&said[..length]);
        let boring = |line: &&str| line.is_empty() || line.starts_with("thread '");
        let line = said
            .lines()
            .find(|line| !boring(line))
            .map(|line| format!(": {line}"));
        line.unwrap_or_default()
    }
}
