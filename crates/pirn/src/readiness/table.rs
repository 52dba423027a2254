//! All sites: delivering events to them.

use super::sites::{site, sites};
use crate::sys::poller::Events;

/// Returns the token by which the system names a generation of a site.
pub(super) fn token(number: u32, generation: u32) -> u64 {
    u64::from(generation) << 32 | u64::from(number)
}

/// Wakes the waiters of these events.
pub(crate) fn notify_all(events: &Events) {
    for event in events.iter() {
        if let Some(site) = site(event.token as u32) {
            site.notify((event.token >> 32) as u32, event);
        }
    }
}

/// Returns true if any source has a waiter. Scans all of them.
pub(crate) fn has_waiters() -> bool {
    sites().any(|(_, site)| site.is_awaited())
}
