//! [`DirBuilder`]: options for creating a directory.

use std::fs;
use std::io;
use std::path::Path;

use crate::blocking::file_call;

/// Options for creating a directory, like [`std::fs::DirBuilder`].
#[derive(Debug)]
pub struct DirBuilder(pub(super) fs::DirBuilder);

impl DirBuilder {
    /// Returns the default: creates one directory in an existing parent.
    #[expect(clippy::new_without_default, reason = "the shape of std")]
    #[must_use]
    pub fn new() -> DirBuilder {
        DirBuilder(fs::DirBuilder::new())
    }

    /// Sets whether missing parents are created too; an existing directory is then no error.
    pub fn recursive(&mut self, recursive: bool) -> &mut DirBuilder {
        self.0.recursive(recursive);
        self
    }

    /// Creates the directory, like [`std::fs::DirBuilder::create`].
    ///
    /// # Errors
    /// The errors of the `std` function, or the caller's interrupt.
    ///
    /// # Cancellation
    /// An interruption point before the first directory is created; see [the module](crate::fs).
    #[track_caller]
    pub fn create(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref();
        file_call(|| self.0.create(path))
    }
}
