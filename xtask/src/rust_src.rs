//! Rust's library sources for the pinned toolchain, which ThreadSanitizer needs: `std` must
//! be instrumented too.
//!
//! Searched in this order: the toolchain's own `rust-src` component; the result of an earlier call;
//! the Debian package of the same version, pinned by name and checksum.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command;
use crate::repo;

/// The package with the sources of Rust 1.95.0.
const PACKAGE: &str = "rust-src=1.95.0+dfsg1-2~bpo13+1";
const SUITE: &str = "trixie-backports";
const SHA256: &str = "7b76db5b880a77f9e52975d2baa6209d2f76d2c9c2789515c3088cb960e2c83b";
/// The path of the sources inside the package.
const INSIDE: &str = "./usr/src/rustc-1.95.0/library";

/// Returns the directory `library` of Rust's sources.
///
/// # Errors
/// When they are not available here; the error describes how to get them.
pub(crate) fn library() -> Result<PathBuf, String> {
    let sysroot =
        command::output(command::program("rustc").args(["--print", "sysroot"]))?;
    let component = Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library");
    if component.join("Cargo.toml").exists() {
        return Ok(component);
    }
    let home = repo::target(Some("rust-src"));
    let library = home.join("library");
    if !library.join("Cargo.toml").exists() {
        println!("    unpacking {PACKAGE} from Debian {SUITE}");
        debian(&home).map_err(|said| {
            format!(
                "no library sources for Rust 1.95.0: {said}\n\
                 give the toolchain its rust-src component, or unpack the sources' \
                 `library` directory as {}",
                library.display()
            )
        })?;
    }
    Ok(library)
}

/// Fetches the package with the machine's own apt, but with separate lists and caches: the
/// machine's settings are unchanged.
fn debian(home: &Path) -> Result<(), String> {
    for tool in ["apt-get", "dpkg-deb", "sha256sum", "tar"] {
        if !command::exists(tool) {
            return Err(format!("no {tool} on this machine"));
        }
    }
    let work = home.join("apt");
    for dir in ["lists/partial", "cache/archives/partial"] {
        fs::create_dir_all(work.join(dir)).map_err(|e| e.to_string())?;
    }
    let list = work.join("sources.list");
    let key = "/usr/share/keyrings/debian-archive-keyring.gpg";
    let entry = format!("deb [signed-by={key}] {} {SUITE} main\n", mirror()?);
    fs::write(&list, entry).map_err(|e| e.to_string())?;
    apt(&work, &["update"])?;
    apt(&work, &["download", PACKAGE])?;
    let package = fs::read_dir(&work)
        .map_err(|e| e.to_string())?
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|e| e == "deb"))
        .ok_or("apt-get downloaded nothing")?;
    let sum = command::output(command::program("sha256sum").arg(&package))?;
    if !sum.starts_with(SHA256) {
        return Err(format!("{}: wrong checksum {sum}", package.display()));
    }
    let tar = work.join("data.tar");
    let file = fs::File::create(&tar).map_err(|e| e.to_string())?;
    let mut unpack = command::program("dpkg-deb");
    command::run(unpack.arg("--fsys-tarfile").arg(&package).stdout(file))?;
    let mut extract = command::program("tar");
    extract.arg("-xf").arg(&tar).arg("-C").arg(home);
    command::run(extract.args(["--strip-components=4", INSIDE]))?;
    fs::remove_dir_all(&work).map_err(|e| e.to_string())
}

fn apt(work: &Path, what: &[&str]) -> Result<(), String> {
    let at = |name: &str, dir: &str| format!("{name}={}", work.join(dir).display());
    let mut apt: Command = command::program("apt-get");
    apt.current_dir(work).arg("-qq");
    for option in [
        at("Dir::Etc::SourceList", "sources.list"),
        "Dir::Etc::SourceParts=/dev/null".to_owned(),
        at("Dir::State::Lists", "lists"),
        at("Dir::Cache", "cache"),
        "APT::Sandbox::User=root".to_owned(),
    ] {
        apt.args(["-o", &option]);
    }
    command::run(apt.args(what))
}

/// Returns the Debian mirror of this machine's apt.
fn mirror() -> Result<String, String> {
    let mut files = vec![PathBuf::from("/etc/apt/sources.list")];
    let more = fs::read_dir("/etc/apt/sources.list.d")
        .into_iter()
        .flatten()
        .flatten();
    files.extend(more.map(|entry| entry.path()));
    let texts = files
        .iter()
        .filter_map(|path| fs::read_to_string(path).ok());
    texts
        .flat_map(|text| {
            text.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .find(|word| is_mirror(word))
        .ok_or_else(|| "apt has no Debian mirror".to_owned())
}

fn is_mirror(word: &str) -> bool {
    let word = word.trim_end_matches('/');
    word.contains("://") && word.ends_with("/debian") && !word.contains("snapshot")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_a_mirror() {
        assert!(is_mirror("file:///srv/mirror/debian/"));
        assert!(!is_mirror("file:///srv/debian-security"));
        assert!(!is_mirror("debian"));
    }
}
