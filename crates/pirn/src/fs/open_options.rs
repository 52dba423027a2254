//! [`OpenOptions`]: how a file is to be opened.

use std::fs;
use std::io;
use std::path::Path;

use super::File;
use crate::blocking::file_call;

/// How a file is to be opened, as [`std::fs::OpenOptions`], of which it can also be made.
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
    /// Nothing is allowed yet: as [`std::fs::OpenOptions::new`].
    #[expect(clippy::new_without_default, reason = "the shape of std")]
    #[must_use]
    pub fn new() -> OpenOptions {
        OpenOptions(fs::OpenOptions::new())
    }

    /// Whether it is to be read.
    pub fn read(&mut self, read: bool) -> &mut OpenOptions {
        self.0.read(read);
        self
    }

    /// Whether it is to be written.
    pub fn write(&mut self, write: bool) -> &mut OpenOptions {
        self.0.write(write);
        self
    }

    /// Whether it is to be written at its end only, wherever that is by then.
    pub fn append(&mut self, append: bool) -> &mut OpenOptions {
        self.0.append(append);
        self
    }

    /// Whether what is in it goes.
    pub fn truncate(&mut self, truncate: bool) -> &mut OpenOptions {
        self.0.truncate(truncate);
        self
    }

    /// Whether it is made if it is not there.
    pub fn create(&mut self, create: bool) -> &mut OpenOptions {
        self.0.create(create);
        self
    }

    /// Whether it is made, and to be there already is an error.
    pub fn create_new(&mut self, create_new: bool) -> &mut OpenOptions {
        self.0.create_new(create_new);
        self
    }

    /// Opens the file, as [`std::fs::OpenOptions::open`].
    ///
    /// # Errors
    /// As there, and the interrupt that the caller is under.
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
