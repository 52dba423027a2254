//! The sites under loom: as many as a model needs, separate for each run.

use std::io;

use super::site::Site;
use crate::shim::{Lock, lazy_static};

/// The most sources that a model has at once.
const SITES: usize = 2;

lazy_static! {
    static ref TABLE: [Site; SITES] = [Site::new(), Site::new()];
    static ref FREE: Lock<Free> = Lock::new(Free {
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

/// Takes a site: the one that was freed last.
///
/// # Errors
/// None here.
///
/// # Panics
/// If there are more than [`SITES`].
#[expect(clippy::unnecessary_wraps, reason = "the surface of the real table")]
pub(super) fn take() -> io::Result<(u32, &'static Site)> {
    let mut free = FREE.lock();
    let number = match free.numbers.pop() {
        Some(number) => number,
        None => {
            free.made += 1;
            (free.made - 1) as u32
        }
    };
    drop(free);
    Ok((
        number,
        site(number).expect("as many sites as the model needs"),
    ))
}

/// Returns a site to the free list.
pub(super) fn give_back(number: u32) {
    FREE.lock().numbers.push(number);
}

/// Returns the site of this number.
pub(super) fn site(number: u32) -> Option<&'static Site> {
    TABLE.get(number as usize)
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
