//! [`OpenOptions`]: options for opening a file.

use std::fs;
use std::io;
use std::path::Path;

use super::File;
use crate::blocking::file_call;

/// Options for opening a file, like [`std::fs::OpenOptions`], from which they can be converted.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// let log = std::env::temp_dir().join(format!("pirn-doc-log-{}", std::process::id()));
/// let open = || pirn::fs::OpenOptions::new().append(true).create(true).open(&log);
/// pirn::run(|| {
///     use std::io::Write;
///     writeln!(open()?, "one more line")?;
///     writeln!(open()?, "and another")?;
///     assert_eq!(pirn::fs::metadata(&log)?.len(), 26);
///     pirn::fs::remove_file(&log)
/// })
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct OpenOptions(pub(super) fs::OpenOptions);

impl OpenOptions {
    /// Returns options with everything unset, like [`std::fs::OpenOptions::new`].
    #[expect(clippy::new_without_default, reason = "the shape of std")]
    #[must_use]
    pub fn new() -> OpenOptions {
        OpenOptions(fs::OpenOptions::new())
    }

    /// Sets whether the file is opened for reading.
    pub fn read(&mut self, read: bool) -> &mut OpenOptions {
        self.0.read(read);
        self
    }

    /// Sets whether the file is opened for writing.
    pub fn write(&mut self, write: bool) -> &mut OpenOptions {
        self.0.write(write);
        self
    }

    /// Sets whether each write goes to the current end of the file.
    pub fn append(&mut self, append: bool) -> &mut OpenOptions {
        self.0.append(append);
        self
    }

    /// Sets whether the file is truncated.
    pub fn truncate(&mut self, truncate: bool) -> &mut OpenOptions {
        self.0.truncate(truncate);
        self
    }

    /// Sets whether the file is created if it does not exist.
    pub fn create(&mut self, create: bool) -> &mut OpenOptions {
        self.0.create(create);
        self
    }

    /// Sets whether the file is created; an existing file is then an error.
    pub fn create_new(&mut self, create_new: bool) -> &mut OpenOptions {
        self.0.create_new(create_new);
        self
    }

    /// Opens the file, like [`std::fs::OpenOptions::open`].
    ///
    /// # Errors
    /// The errors of the `std` function, or the caller's interrupt.
    ///
    /// # Cancellation
    /// An interruption point before the call is made; see [the module](crate::fs).
    #[track_caller]
    pub fn open(&self, path: impl AsRef<Path>) -> io::Result<File> {
        let path = path.as_ref();
        file_call(|| self.0.open(path)).map(File::from)
    }
}

impl From<fs::OpenOptions> for OpenOptions {
    fn from(options: fs::OpenOptions) -> OpenOptions {
        OpenOptions(options)
    }
}
