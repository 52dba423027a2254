//! The driver for waiters without a worker, under shuttle. A thread of its own would outlive a
//! model's run, so the model's threads fetch its events.

use std::io;

use super::table::tell_all;
use crate::sys::poller::{Driver, Events};

static DRIVER: Driver = Driver::new();

/// Returns the driver.
#[inline(always)]
pub(super) fn driver() -> &'static Driver {
    &DRIVER
}

/// Makes the common driver usable.
///
/// # Errors
/// None here.
pub(super) fn start() -> io::Result<()> {
    DRIVER.made().map(drop)
}

/// The loop body of the thread: waits for events, or for [`ring`], and delivers them.
pub(crate) fn ask() {
    let mut events = Events::new();
    start().expect("a poller");
    DRIVER.wait(&mut events, None);
    tell_all(&events);
}

/// Ends an [`ask`], the next one if none is running.
pub(crate) fn ring() {
    DRIVER.wake();
}
