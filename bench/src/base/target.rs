//! The directory of built and fetched files.

use std::env;
use std::path::PathBuf;

/// Returns the target directory that contains this program.
pub fn target_directory() -> PathBuf {
    let here = env::current_exe().expect("a running program has a path");
    // TARGET/PROFILE/PROGRAM
    here.ancestors()
        .nth(2)
        .expect("programs lie in TARGET/PROFILE")
        .to_owned()
}
