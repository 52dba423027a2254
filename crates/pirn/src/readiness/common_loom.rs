//! The common driver under loom: a model fetches its events; separate for each run.

use std::io;

use crate::shim::lazy_static;
use crate::sys::poller::Driver;

lazy_static! {
    static ref DRIVER: Driver = Driver::new();
}

/// Returns the driver.
pub(super) fn driver() -> &'static Driver {
    &DRIVER
}

/// Makes the common driver usable.
///
/// # Errors
/// None here.
pub(super) fn start() -> io::Result<()> {
    driver().made().map(drop)
}
