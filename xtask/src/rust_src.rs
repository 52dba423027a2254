//! Rust's library sources for the pinned toolchain, which ThreadSanitizer needs: `std` must
//! be instrumented too.
//!
//! Searched in this order: the toolchain's own `rust-src` component; the result of an earlier call;
//! the Debian package of the same version, which `xtask/rust-src.sh` unpacks.

use std::path::{Path, PathBuf};

use crate::{command, repo};

/// Returns the directory `library` of Rust's sources.
///
/// # Errors
/// When they are not available here; the error describes how to get them.
pub(crate) fn library() -> Result<PathBuf, String> {
    let mut rustc = command::program("rustc");
    let sysroot = command::output(rustc.args(["--print", "sysroot"]))?;
    let component = Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library");
    let home = repo::target(Some("rust-src"));
    let unpacked = home.join("library");
    for library in [component, unpacked.clone()] {
        if library.join("Cargo.toml").exists() {
            return Ok(library);
        }
    }
    println!("    unpacking Rust's library sources from Debian");
    let mut unpack = command::program("bash");
    let ended = command::run(unpack.arg("xtask/rust-src.sh").arg(&home));
    ended.map(|()| unpacked.clone()).map_err(|said| {
        format!(
            "no library sources: {said}\n\
             give the toolchain its rust-src component, or unpack the sources' \
             `library` directory as {}",
            unpacked.display()
        )
    })
}
