//! All sites. The table only grows, and only when more sources are open than ever before.

use std::io;
use std::ptr;
use std::sync::OnceLock;

use super::common;
use super::site::Site;
use crate::fiber::FiberPtr;
use crate::shim::StaticLock;
use crate::sys::poller::{Driver, Events};

/// Sites that are made at once: some 128 KiB.
const CHUNK: usize = 1_024;

/// The most sources: 16,777,216. More descriptors than Linux gives a process (`fs.nr_open`) unless told to.
const CHUNKS: usize = 16_384;

// Not from `shim`: nothing that a model could interleave happens when one is set.
static TABLE: [OnceLock<Box<[Site]>>; CHUNKS] = [const { OnceLock::new() }; CHUNKS];

static FREE: StaticLock<Free> = StaticLock::new(Free {
    numbers: Vec::new(),
    made: 0,
});

/// Sites that no source has.
struct Free {
    numbers: Vec<u32>,
    /// Sites with lower numbers have been given out at least once.
    made: usize,
}

/// Takes a site that nobody has.
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

/// Gives a site back.
pub(super) fn give_back(number: u32) {
    FREE.lock().numbers.push(number);
}

fn site(number: u32) -> Option<&'static Site> {
    let chunk = TABLE.get(number as usize / CHUNK)?.get()?;
    chunk.get(number as usize % CHUNK)
}

fn sites() -> impl Iterator<Item = (u32, &'static Site)> {
    let made = FREE.lock().made as u32;
    (0..made).filter_map(|number| Some((number, site(number)?)))
}

/// The name of a generation of a site, for the system to name it by.
pub(super) fn token(number: u32, generation: u32) -> u64 {
    u64::from(generation) << 32 | u64::from(number)
}

/// Wakes whoever waits for what these events tell.
pub(crate) fn tell_all(events: &Events) {
    for event in events.iter() {
        if let Some(site) = site(event.token as u32) {
            site.tell((event.token >> 32) as u32, event);
        }
    }
}

/// How many sites there have been in use at once, at most.
pub(crate) fn ever() -> usize {
    FREE.lock().made
}

/// Whether anybody waits for any source. Looks at all of them.
pub(crate) fn anybody_waits() -> bool {
    sites().any(|(_, site)| site.is_awaited())
}

/// Whether a source in `driver` is waited for. Looks at all sources if there is one.
pub(crate) fn is_awaited_in(driver: &Driver) -> bool {
    driver.is_used() && sites().any(|(_, site)| site.is_in(driver) && site.is_awaited())
}

/// Returns the fibers and threads that wait for sources in the common driver. (Tasks are not known.)
/// Looks at all sources.
pub(crate) fn common_waiters() -> Vec<FiberPtr> {
    let mut waiters = Vec::new();
    for (_, site) in sites().filter(|(_, site)| site.is_in(&common::DRIVER)) {
        site.waits.lock().each_fiber(|fiber| waiters.push(fiber));
    }
    waiters
}

/// Moves the sources of `driver`, which nobody will ask any more, to the common one.
pub(crate) fn evacuate(driver: &'static Driver) {
    if !driver.is_used() {
        return;
    }
    let started = common::start().is_ok();
    for (number, site) in sites() {
        let mut home = site.home.lock();
        if !home.driver.is_some_and(|own| ptr::eq(own, driver)) {
            continue;
        }
        let moved = site.move_to(number, &mut home, &common::DRIVER);
        drop(home);
        if moved.is_err() || !started {
            // Nobody will ask: whoever waits tries again, finds another driver, or is told why
            // there is none.
            site.rouse();
        }
    }
}
