//! Where built and fetched things go.

use std::env;
use std::path::PathBuf;

/// The target directory that this program lies in.
pub fn target_directory() -> PathBuf {
    let here = env::current_exe().expect("a running program has a path");
    // TARGET/PROFILE/PROGRAM
    here.ancestors()
        .nth(2)
        .expect("programs lie in TARGET/PROFILE")
        .to_owned()
}
