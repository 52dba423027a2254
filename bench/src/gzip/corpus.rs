//! The input of the gzip programs: source text of a given size.
//!
//! The sources in cargo's registry are real text that every building machine has. The rest of the
//! size is filled with words by a fixed seed.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::base::Random;

/// Writes `size` bytes to `path`, unless a file of that size exists already.
pub(super) fn prepare(path: &Path, size: usize) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|facts| facts.len() == size as u64) {
        return Ok(());
    }
    let mut left = size;
    let mut output = BufWriter::new(File::create(path)?);
    for source in sources() {
        let text = fs::read(&source)?;
        let part = &text[..text.len().min(left)];
        output.write_all(part)?;
        left -= part.len();
        if left == 0 {
            return output.flush();
        }
    }
    words(&mut output, left)?;
    output.flush()
}

/// The Rust sources below cargo's registry, sorted.
fn sources() -> Vec<PathBuf> {
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| {
            std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo"))
        });
    let mut found = Vec::new();
    if let Some(home) = home {
        collect(&home.join("registry/src"), &mut found);
    }
    found.sort();
    found
}

fn collect(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => collect(&path, found),
            Ok(kind) if kind.is_file() && is_source(&path) => found.push(path),
            _ => {}
        }
    }
}

fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rs")
}

/// Lines of words, the common ones more often, always the same.
fn words(output: &mut impl Write, size: usize) -> io::Result<()> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut next = |below: u64| random.draw() % below;
    let mut left = size;
    while left > 0 {
        let rare = 1 + next(4000);
        let word = next(rare);
        let end = if next(9) == 0 { '\n' } else { ' ' };
        let text = format!("w{:x}{end}", word * 2_654_435_761 % 0xffff_ffff);
        let part = &text.as_bytes()[..text.len().min(left)];
        output.write_all(part)?;
        left -= part.len();
    }
    Ok(())
}
