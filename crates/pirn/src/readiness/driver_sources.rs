//! The sources of one driver: their waiters, and their move to the common driver.

use std::ptr;

use super::common;
use super::site::Site;
use super::sites::sites;
use crate::base::mutant::mutant;
use crate::fiber::FiberPtr;
use crate::sys::poller::Driver;

/// Returns true if fibers of a worker wait for a source: one in the worker's `driver`, or one that
/// others have moved from there to the common driver. `has_own` decides whether one of these
/// waiters is the worker's. Scans all sources if there is one.
pub(crate) fn awaits(driver: &Driver, has_own: impl FnOnce(&[FiberPtr]) -> bool) -> bool {
    is_awaited_in(driver) || awaits_in_common(driver, has_own)
}

/// A source that is being moved counts, since its waiters may be the worker's. The mover records
/// that in the worker's driver (`set_shares`) before it unlocks the source's home.
fn is_awaited_in(driver: &Driver) -> bool {
    let may_be_in = |site: &Site| {
        site.is_in(driver)
            || (site.home.try_lock().is_none() && !mutant!("site_move_overlooked"))
    };
    // The only source may just have left it.
    driver.was_used() && sites().any(|(_, site)| site.is_awaited() && may_be_in(site))
}

fn awaits_in_common(driver: &Driver, has_own: impl FnOnce(&[FiberPtr]) -> bool) -> bool {
    if !driver.take_shares() {
        return false;
    }
    let own = has_own(&common_waiters());
    if own {
        driver.set_shares();
    }
    own
}

/// Returns the fibers and threads that wait for sources in the common driver. (Tasks are not
/// known.) Scans all sources.
fn common_waiters() -> Vec<FiberPtr> {
    let mut waiters = Vec::new();
    for (_, site) in sites().filter(|(_, site)| site.is_in(common::driver())) {
        site.waits.lock().each_fiber(|fiber| waiters.push(fiber));
    }
    waiters
}

/// Moves the sources of `driver`, which is no longer polled, to the common one.
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
        if leaves_nothing(site) {
            // Its number may be that of a socket of `net` now, in the common driver.
            if let (Some(own), Some(raw)) = (home.driver.take(), home.raw.take()) {
                own.remove(raw);
            }
            site.forget_driver();
            continue;
        }
        let moved = site.move_to(number, &mut home, common::driver());
        drop(home);
        if moved.is_err() || !started {
            // No thread polls this driver any more. The waiters try again, and find another driver
            // or the error that there is none.
            site.wake_waiters();
        }
    }
}

/// Returns true if only calls of libc have waited for it, and none waits now.
fn leaves_nothing(site: &Site) -> bool {
    #[cfg(target_os = "linux")]
    let idle = site.waits.lock().has_idle_calls();
    #[cfg(not(target_os = "linux"))]
    let idle = {
        let _ = site;
        false
    };
    idle
}
