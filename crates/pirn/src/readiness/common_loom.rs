//! The common driver under loom: a model asks it, and each run has its own.

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

/// Sees to it that the common driver can be asked.
///
/// # Errors
/// None here.
pub(super) fn start() -> io::Result<()> {
    driver().made().map(drop)
}
