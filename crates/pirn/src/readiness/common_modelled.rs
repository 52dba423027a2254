//! The driver of everybody who has no worker to ask for them, under shuttle: a thread of its own
//! would outlive a model's run, so the model's threads ask.

use std::io;

use super::table::tell_all;
use crate::sys::poller::{Driver, Events};

static DRIVER: Driver = Driver::new();

/// Returns the driver.
#[inline(always)]
pub(super) fn driver() -> &'static Driver {
    &DRIVER
}

/// Sees to it that the common driver can be asked.
///
/// # Errors
/// None here.
pub(super) fn start() -> io::Result<()> {
    DRIVER.made().map(drop)
}

/// What the thread does again and again: waits for events, or for [`ring`], and tells them.
pub(crate) fn ask() {
    let mut events = Events::new();
    start().expect("a poller");
    DRIVER.wait(&mut events, None);
    tell_all(&events);
}

/// Ends an [`ask`], the next one if there is none.
pub(crate) fn ring() {
    DRIVER.wake();
}
