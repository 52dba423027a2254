//! [`DirBuilder`]: options for creating a directory.

use std::fs;
use std::io;
use std::path::Path;

use crate::blocking::file_call;

/// Options for creating a directory, like [`std::fs::DirBuilder`].
///
/// # Examples
/// ```
/// use pirn::fs::{self, DirBuilder};
///
/// let name = format!("pirn-doc-dir-builder-{}", std::process::id());
/// let path = std::env::temp_dir().join(name);
/// DirBuilder::new().recursive(true).create(path.join("a/b"))?;
/// assert!(fs::metadata(path.join("a/b"))?.is_dir());
/// fs::remove_dir_all(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct DirBuilder(pub(super) fs::DirBuilder);

impl DirBuilder {
    /// Creates options with the defaults, like [`std::fs::DirBuilder::new`]: one directory is
    /// created, in an existing parent.
    ///
    /// # Examples
    /// ```
    /// use pirn::fs::{self, DirBuilder};
    ///
    /// let name = format!("pirn-doc-dir-new-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// DirBuilder::new().create(&path)?;
    /// assert!(DirBuilder::new().create(&path).is_err());
    /// fs::remove_dir(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[expect(clippy::new_without_default, reason = "the shape of std")]
    #[must_use]
    pub fn new() -> DirBuilder {
        DirBuilder(fs::DirBuilder::new())
    }

    /// Sets whether missing parents are created too; an existing directory is then no error.
    ///
    /// # Examples
    /// ```
    /// use pirn::fs::{self, DirBuilder};
    ///
    /// let name = format!("pirn-doc-dir-recursive-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// assert!(DirBuilder::new().create(path.join("a/b")).is_err());
    /// DirBuilder::new().recursive(true).create(path.join("a/b"))?;
    /// fs::remove_dir_all(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "MkdirAll")]
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
    ///
    /// # Examples
    /// ```
    /// use pirn::fs::{self, DirBuilder};
    ///
    /// let name = format!("pirn-doc-dir-create-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// DirBuilder::new().create(&path)?;
    /// assert!(fs::metadata(&path)?.is_dir());
    /// fs::remove_dir(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "mkdir")]
    #[track_caller]
    pub fn create(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref();
        file_call(|| self.0.create(path))
    }
}
