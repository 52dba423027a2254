//! The table of sites. It only grows, and only when more sources are open than ever before.

use std::io;
use std::sync::OnceLock;

use super::site::Site;
use crate::shim::{self, RunLock, run_static};

/// The number of sites allocated at once: about 128 KiB.
const CHUNK: usize = if shim::SMALL { 2 } else { 1_024 };

/// The number of chunks; the most sources are 16,777,216. More descriptors than Linux gives a
/// process (`fs.nr_open`) by default. One in a small model, which has at most two sources.
const CHUNKS: usize = if shim::SMALL { 1 } else { 16_384 };

run_static! {
    // The cells are not from `shim`: a model has nothing to interleave when one is set.
    static TABLE: [OnceLock<Box<[Site]>>; CHUNKS] = [const { OnceLock::new() }; CHUNKS];
}

run_static! {
    static FREE: RunLock<Free> = RunLock::new(Free {
        numbers: Vec::new(),
        made: 0,
    });
}

/// Sites without a source.
struct Free {
    numbers: Vec<u32>,
    /// Sites with lower numbers have been in use at least once.
    made: usize,
}

/// Takes a free site.
///
/// # Errors
/// There are 16,777,216 sources.
pub(super) fn take() -> io::Result<(u32, &'static Site)> {
    let mut free = FREE.lock();
    let number = match free.numbers.pop() {
        Some(number) => number,
        None if free.made == CHUNK * CHUNKS => {
            return Err(io::Error::new(
                io::ErrorKind::OutOfMemory,
                format!("{} sockets are open, and no more can be", free.made),
            ));
        }
        None => {
            free.made += 1;
            (free.made - 1) as u32
        }
    };
    drop(free);
    let chunk = TABLE[number as usize / CHUNK]
        .get_or_init(|| (0..CHUNK).map(|_| Site::new()).collect());
    Ok((number, &chunk[number as usize % CHUNK]))
}

/// Returns a site to the free list.
pub(super) fn give_back(number: u32) {
    FREE.lock().numbers.push(number);
}

/// Returns the site of this number, if it has ever been in use.
pub(super) fn site(number: u32) -> Option<&'static Site> {
    let chunk = TABLE.get(number as usize / CHUNK)?.get()?;
    chunk.get(number as usize % CHUNK)
}

/// Returns all sites that have ever been in use.
pub(super) fn sites() -> impl Iterator<Item = (u32, &'static Site)> {
    let made = FREE.lock().made as u32;
    (0..made).filter_map(|number| Some((number, site(number)?)))
}

/// Returns the largest number of sites that have been in use at once.
pub(crate) fn ever() -> usize {
    FREE.lock().made
}
