//! gzip's rules for suffixes.
//!
//! | compressed           | uncompressed |
//! |----------------------|--------------|
//! | `x` + the `-S` suffix | `x`         |
//! | `x.gz` `x-gz` `x.z` `x-z` `x_z` | `x` |
//! | `x.tgz` `x.taz`      | `x.tar`      |
//!
//! Suffixes are compared without regard to case. A name that consists of the suffix alone
//! has none.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Returns the suffix of a compressed file's name, if it has one.
pub fn suffix_of<'a>(path: &'a Path, own: &OsStr) -> Option<&'a OsStr> {
    let name = path.file_name()?.as_bytes();
    let matching = |suffix: &[u8]| {
        let at = name.len().checked_sub(suffix.len()).filter(|&at| at > 0)?;
        let tail = &name[at..];
        tail.eq_ignore_ascii_case(suffix)
            .then_some(OsStr::from_bytes(tail))
    };
    let own = own.as_bytes();
    let built_in = || {
        BUILT_IN
            .iter()
            .find_map(|suffix| matching(suffix.as_bytes()))
    };
    // With `-S z`, the longer `.gz` is the suffix of `x.gz`.
    let ends_another = BUILT_IN
        .iter()
        .any(|suffix| suffix.len() > own.len() && suffix.as_bytes().ends_with(own));
    match ends_another {
        true => built_in().or_else(|| matching(own)),
        false => matching(own).or_else(built_in),
    }
}

/// Returns the name of the compressed file.
pub fn compressed(path: &Path, own: &OsStr) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(own);
    name.into()
}

/// Returns the name of the uncompressed file; `None` if the name has no known suffix.
pub fn decompressed(path: &Path, own: &OsStr) -> Option<PathBuf> {
    let suffix = suffix_of(path, own)?;
    let whole = path.as_os_str().as_bytes();
    let mut name = whole[..whole.len() - suffix.len()].to_vec();
    let folded = suffix.as_bytes().to_ascii_lowercase();
    if suffix != own && (folded == b".tgz" || folded == b".taz") {
        name.extend_from_slice(b".tar");
    }
    Some(OsString::from_vec(name).into())
}

/// Returns the names under which `-d path` looks for a file that does not exist as given.
pub fn candidates(path: &Path, own: &OsStr) -> Vec<PathBuf> {
    if suffix_of(path, own).is_some() {
        return Vec::new();
    }
    let mut tried = vec![compressed(path, own)];
    for suffix in [".gz", ".z", "-z", ".Z"] {
        if OsStr::new(suffix) != own {
            tried.push(compressed(path, OsStr::new(suffix)));
        }
    }
    tried
}

/// Returns the name from a header, if it is safe: its last component, in the directory of the
/// compressed file.
pub fn restored(path: &Path, stored: &[u8]) -> Option<PathBuf> {
    let name = stored.rsplit(|&byte| byte == b'/').next()?;
    if name.is_empty() || name == b"." || name == b".." {
        return None;
    }
    Some(path.with_file_name(OsStr::from_bytes(name)))
}

const BUILT_IN: [&str; 7] = [".gz", ".z", ".taz", ".tgz", "-gz", "-z", "_z"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_are_taken_off_as_gzip_does() {
        let gz = OsStr::new(".gz");
        let plain = |name| decompressed(Path::new(name), gz);
        for (packed, expected) in [
            ("a.gz", "a"),
            ("a-gz", "a"),
            ("d/a.Z", "d/a"),
            ("a_z", "a"),
            ("A.GZ", "A"),
            ("a.tgz", "a.tar"),
            ("a.TAZ", "a.tar"),
            ("d.gz/a.gz", "d.gz/a"),
        ] {
            assert_eq!(plain(packed), Some(expected.into()), "{packed}");
        }
        for name in ["a", ".gz", "d.gz/a", "agz", "a.gz2"] {
            assert_eq!(plain(name), None, "{name}");
        }
        assert_eq!(
            decompressed(Path::new("a.tgz"), OsStr::new(".tgz")),
            Some("a".into()),
            "an own suffix is only taken off"
        );
    }

    #[test]
    fn stored_names_stay_in_the_directory() {
        let restore = |stored: &[u8]| restored(Path::new("d/x.gz"), stored);
        assert_eq!(restore(b"a"), Some("d/a".into()));
        assert_eq!(restore(b"/etc/passwd"), Some("d/passwd".into()));
        for bad in [&b""[..], b"..", b"a/..", b"a/", b"."] {
            assert_eq!(restore(bad), None);
        }
    }
}
