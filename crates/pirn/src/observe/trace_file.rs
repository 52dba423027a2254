//! The file of a trace: opened when the runtime is built, so that an unwritable path is an error
//! then, and written once, at the end.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::trace::write_trace;
use crate::sched::pool::shared::Pool;
use crate::sys;

/// An open, empty file.
#[derive(Debug)]
pub(crate) struct TraceFile {
    path: PathBuf,
    file: File,
}

impl TraceFile {
    /// Creates the file, or truncates it.
    ///
    /// # Errors
    /// The operating system's error; the message names the path and the setting that gave it.
    pub(crate) fn create(setting: &str, path: &Path) -> io::Result<TraceFile> {
        match File::create(path) {
            Ok(file) => Ok(TraceFile {
                path: path.to_owned(),
                file,
            }),
            Err(error) => {
                let said = format!("{setting} is '{}': {error}", path.display());
                Err(io::Error::new(error.kind(), said))
            }
        }
    }

    /// Writes the trace of `pool`. A failure is reported on standard error, and only the trace is
    /// lost.
    pub(super) fn write(&self, pool: &Pool) {
        let mut out = BufWriter::new(&self.file);
        let written = write_trace(pool, &mut out).and_then(|()| out.flush());
        if let Err(error) = written {
            // The rest of the buffer is not retried.
            let _ = out.into_parts();
            let path = self.path.display();
            let text =
                format!("pirn: the trace could not be written to {path}: {error}\n");
            sys::report_whole(text.as_bytes());
        }
    }
}
