//! [`DirBuilder`]: how a directory is to be made.

use std::fs;
use std::io;
use std::path::Path;

use crate::blocking::file_call;

/// How a directory is to be made, as [`std::fs::DirBuilder`].
#[derive(Debug)]
pub struct DirBuilder(pub(super) fs::DirBuilder);

impl DirBuilder {
    /// One directory, whose parent is there.
    #[expect(clippy::new_without_default, reason = "the shape of std")]
    #[must_use]
    pub fn new() -> DirBuilder {
        DirBuilder(fs::DirBuilder::new())
    }

    /// Whether those above it are made too, and it may be there already.
    pub fn recursive(&mut self, recursive: bool) -> &mut DirBuilder {
        self.0.recursive(recursive);
        self
    }

    /// Makes the directory, as [`std::fs::DirBuilder::create`].
    ///
    /// # Errors
    /// As there, and the interrupt that the caller is under.
    ///
    /// # Cancellation
    /// An interruption point before the first is made; see [the module](crate::fs).
    #[track_caller]
    pub fn create(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref();
        file_call(|| self.0.create(path))
    }
}
