//! This program in the place of the compiler: it adds flags for the crates of the workspace alone.
//!
//! With `RUSTFLAGS`, which cargo passes for every crate, a build with another `--cfg` compiles all
//! dependencies again, in a directory of its own. With a wrapper for the workspace's crates it
//! shares them with the ordinary build. Cargo keeps the crates of two wrappers apart by the paths
//! of the wrappers, so each build has a link to this program under its own name.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use crate::repo;

/// The environment variable with the flags, separated by spaces.
pub(crate) const FLAGS: &str = "PIRN_RUSTC_FLAGS";

/// Returns the path of the wrapper with this name, which it creates.
///
/// # Errors
/// When it cannot be created.
pub(crate) fn wrapper(name: &str) -> Result<PathBuf, String> {
    let folder = repo::target(Some("wrappers"));
    let path = folder.join(name);
    let create = || {
        fs::create_dir_all(&folder)?;
        // Another process may run the present link, or create one.
        let new = folder.join(format!("{name}.{}", std::process::id()));
        let this = env::current_exe()?;
        fs::hard_link(&this, &new).or_else(|_| fs::copy(&this, &new).map(drop))?;
        fs::rename(&new, &path)?;
        // The links are the same file: then it is left where it was.
        fs::remove_file(&new).or(Ok(()))
    };
    create().map_err(|e: std::io::Error| format!("{}: {e}", path.display()))?;
    Ok(path)
}

/// Runs the compiler, if cargo has started this program as a wrapper.
pub(crate) fn as_wrapper() -> Option<ExitCode> {
    let flags = env::var(FLAGS).ok()?;
    let mut args = env::args_os().skip(1);
    let mut compiler = Command::new(args.next()?);
    compiler.args(args).args(flags.split_whitespace());
    match compiler.status() {
        Ok(ended) => {
            let code = ended.code().and_then(|code| u8::try_from(code).ok());
            Some(ExitCode::from(code.unwrap_or(1)))
        }
        Err(e) => {
            // A variable of the caller's has that name, or cargo has another compiler.
            eprintln!(
                "{FLAGS} is set, and the compiler {compiler:?} does not start: {e}"
            );
            Some(ExitCode::FAILURE)
        }
    }
}
