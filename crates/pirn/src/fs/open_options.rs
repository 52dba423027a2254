//! Opening a file: [`OpenOptions`], and the constructors of [`File`].

use std::fs;
use std::io;
use std::path::Path;

use super::File;
use crate::blocking::file_call;

/// Options for opening a file, like [`std::fs::OpenOptions`], from which they can be converted.
///
/// # Examples
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
#[doc(alias = "OpenFile")]
#[derive(Debug, Clone)]
pub struct OpenOptions(pub(super) fs::OpenOptions);

impl OpenOptions {
    /// Creates options with everything unset, like [`std::fs::OpenOptions::new`].
    ///
    /// # Examples
    /// ```
    /// use pirn::fs::{self, OpenOptions};
    ///
    /// let name = format!("pirn-doc-options-new-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// fs::write(&path, "some text")?;
    /// let file = OpenOptions::new().read(true).open(&path)?;
    /// assert_eq!(file.metadata()?.len(), 9);
    /// fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[expect(clippy::new_without_default, reason = "the shape of std")]
    #[must_use]
    pub fn new() -> OpenOptions {
        OpenOptions(fs::OpenOptions::new())
    }

    /// Sets whether the file is opened for reading.
    ///
    /// # Examples
    /// ```
    /// use std::io::Read;
    ///
    /// use pirn::fs::{self, OpenOptions};
    ///
    /// let name = format!("pirn-doc-options-read-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// fs::write(&path, "some text")?;
    /// let mut text = String::new();
    /// OpenOptions::new().read(true).open(&path)?.read_to_string(&mut text)?;
    /// assert_eq!(text, "some text");
    /// fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "O_RDONLY")]
    pub fn read(&mut self, read: bool) -> &mut OpenOptions {
        self.0.read(read);
        self
    }

    /// Sets whether the file is opened for writing.
    ///
    /// # Examples
    /// ```
    /// use std::io::Write;
    ///
    /// use pirn::fs::{self, OpenOptions};
    ///
    /// let name = format!("pirn-doc-options-write-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// fs::write(&path, "some text")?;
    /// OpenOptions::new().write(true).open(&path)?.write_all(b"more")?;
    /// assert_eq!(fs::read(&path)?, b"more text");
    /// fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "O_WRONLY")]
    pub fn write(&mut self, write: bool) -> &mut OpenOptions {
        self.0.write(write);
        self
    }

    /// Sets whether each write goes to the current end of the file.
    ///
    /// # Examples
    /// ```
    /// use std::io::Write;
    ///
    /// use pirn::fs::{self, OpenOptions};
    ///
    /// let name = format!("pirn-doc-options-append-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// fs::write(&path, "one,")?;
    /// OpenOptions::new().append(true).open(&path)?.write_all(b"two")?;
    /// assert_eq!(fs::read(&path)?, b"one,two");
    /// fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "O_APPEND")]
    pub fn append(&mut self, append: bool) -> &mut OpenOptions {
        self.0.append(append);
        self
    }

    /// Sets whether the file is truncated to length 0. It must be opened for writing.
    ///
    /// # Examples
    /// ```
    /// use pirn::fs::{self, OpenOptions};
    ///
    /// let name = format!("pirn-doc-options-truncate-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// fs::write(&path, "some text")?;
    /// let file = OpenOptions::new().write(true).truncate(true).open(&path)?;
    /// assert_eq!(file.metadata()?.len(), 0);
    /// fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "O_TRUNC")]
    pub fn truncate(&mut self, truncate: bool) -> &mut OpenOptions {
        self.0.truncate(truncate);
        self
    }

    /// Sets whether the file is created if it does not exist. It must be opened for writing or
    /// appending.
    ///
    /// # Examples
    /// ```
    /// use pirn::fs::{self, OpenOptions};
    ///
    /// let name = format!("pirn-doc-options-create-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// assert!(OpenOptions::new().append(true).open(&path).is_err());
    /// OpenOptions::new().append(true).create(true).open(&path)?;
    /// assert!(fs::exists(&path)?);
    /// fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "O_CREAT")]
    pub fn create(&mut self, create: bool) -> &mut OpenOptions {
        self.0.create(create);
        self
    }

    /// Sets whether the file is created; an existing file is then an error.
    ///
    /// # Examples
    /// ```
    /// use std::io::ErrorKind;
    ///
    /// use pirn::fs::{self, OpenOptions};
    ///
    /// let name = format!("pirn-doc-options-create-new-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// fs::write(&path, "some text")?;
    /// let opened = OpenOptions::new().write(true).create_new(true).open(&path);
    /// assert_eq!(opened.unwrap_err().kind(), ErrorKind::AlreadyExists);
    /// fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "O_EXCL")]
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
    ///
    /// # Examples
    /// ```
    /// use pirn::fs::{self, OpenOptions};
    ///
    /// let name = format!("pirn-doc-options-open-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// let file = OpenOptions::new().write(true).create(true).open(&path)?;
    /// assert_eq!(file.metadata()?.len(), 0);
    /// fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn open(&self, path: impl AsRef<Path>) -> io::Result<File> {
        let path = path.as_ref();
        file_call(|| self.0.open(path)).map(File::from)
    }
}

impl File {
    /// Opens a file for reading, like [`std::fs::File::open`].
    ///
    /// # Errors
    /// The errors of the `std` function, or the caller's interrupt.
    ///
    /// # Cancellation
    /// An interruption point before the call is made; see [the module](crate::fs).
    ///
    /// # Examples
    /// ```
    /// use std::io::Read;
    ///
    /// use pirn::fs::{self, File};
    ///
    /// let name = format!("pirn-doc-file-open-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// fs::write(&path, "some text")?;
    /// let mut text = String::new();
    /// File::open(&path)?.read_to_string(&mut text)?;
    /// assert_eq!(text, "some text");
    /// fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn open(path: impl AsRef<Path>) -> io::Result<File> {
        OpenOptions::new().read(true).open(path)
    }

    /// Opens a file for writing, like [`std::fs::File::create`]: it is created if missing, else
    /// truncated.
    ///
    /// # Errors
    /// The errors of the `std` function, or the caller's interrupt.
    ///
    /// # Cancellation
    /// An interruption point before the call is made; see [the module](crate::fs).
    ///
    /// # Examples
    /// ```
    /// use std::io::Write;
    ///
    /// use pirn::fs::{self, File};
    ///
    /// let name = format!("pirn-doc-file-create-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// File::create(&path)?.write_all(b"some text")?;
    /// assert_eq!(fs::read(&path)?, b"some text");
    /// fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn create(path: impl AsRef<Path>) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).open(path)
    }

    /// Creates a new file for reading and writing, like [`std::fs::File::create_new`].
    ///
    /// # Errors
    /// The errors of the `std` function (`AlreadyExists`), or the caller's interrupt.
    ///
    /// # Cancellation
    /// An interruption point before the call is made; see [the module](crate::fs).
    ///
    /// # Examples
    /// ```
    /// use std::io::ErrorKind;
    ///
    /// use pirn::fs::{self, File};
    ///
    /// let name = format!("pirn-doc-file-create-new-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// File::create_new(&path)?;
    /// assert_eq!(File::create_new(&path).unwrap_err().kind(), ErrorKind::AlreadyExists);
    /// fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn create_new(path: impl AsRef<Path>) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).open(path)
    }

    /// Returns options for opening a file, like [`OpenOptions::new`].
    ///
    /// # Examples
    /// ```
    /// use pirn::fs::{self, File};
    ///
    /// let name = format!("pirn-doc-file-options-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// let file = File::options().append(true).create(true).open(&path)?;
    /// assert_eq!(file.metadata()?.len(), 0);
    /// fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "OpenFile")]
    #[must_use]
    pub fn options() -> OpenOptions {
        OpenOptions::new()
    }
}

impl From<fs::OpenOptions> for OpenOptions {
    fn from(options: fs::OpenOptions) -> OpenOptions {
        OpenOptions(options)
    }
}
