//! Files under temporary names, which are removed on drop unless they have got their final names.

use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use pirn::cancel;
use pirn::fs::{self, File};

/// A new file with a unique name among the downloads of all processes.
#[derive(Debug)]
pub(crate) struct Temporary {
    file: File,
    path: PathBuf,
    is_named: bool,
}

impl Temporary {
    /// Creates the file in `directory`; never opens an existing one.
    pub(crate) fn create(directory: &Path) -> anyhow::Result<Temporary> {
        let random = RandomState::new();
        for attempt in 0..ATTEMPTS {
            let name = format!("fetch-{:016x}.part", random.hash_one(attempt));
            let path = directory.join(name);
            match File::create_new(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                created => {
                    let file = created
                        .with_context(|| format!("cannot create {}", path.display()))?;
                    let is_named = false;
                    return Ok(Temporary {
                        file,
                        path,
                        is_named,
                    });
                }
            }
        }
        let directory = directory.display();
        anyhow::bail!(
            "cannot create a temporary file in {directory}: all names are taken"
        )
    }

    /// Returns the file.
    pub(crate) fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Gives the file its final name, replacing an existing file.
    pub(crate) fn rename(mut self, path: &Path) -> anyhow::Result<()> {
        fs::rename(&self.path, path)
            .with_context(|| format!("cannot create {}", path.display()))?;
        self.is_named = true;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.is_named {
            // The earlier failure is the one to report. A cancelled download removes its file too.
            let _ = cancel::shield(|| fs::remove_file(&self.path));
        }
    }
}

/// Maximum number of tried names. Each has 64 random bits: a second one is hardly ever needed.
const ATTEMPTS: u32 = 16;
