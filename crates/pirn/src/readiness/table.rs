//! All sites: events reach theirs, and a driver's are moved.

use std::ptr;

use super::common;
use super::sites::{site, sites};
use crate::fiber::FiberPtr;
use crate::sys::poller::{Driver, Events};

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
    for (_, site) in sites().filter(|(_, site)| site.is_in(common::driver())) {
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
        let moved = site.move_to(number, &mut home, common::driver());
        drop(home);
        if moved.is_err() || !started {
            // Nobody will ask: whoever waits tries again, finds another driver, or is told why
            // there is none.
            site.rouse();
        }
    }
}
