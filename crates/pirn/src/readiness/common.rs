//! The driver for waiters without a worker that polls: plain threads, fibers that block their
//! thread in place, and workers that have ended.

use std::io;

use super::table::tell_all;
use crate::fiber::thread_registry;
use crate::shim::{self, StaticLock};
use crate::sys::poller::{Driver, Events};

static DRIVER: Driver = Driver::new();

/// Returns the driver.
#[inline(always)]
pub(super) fn driver() -> &'static Driver {
    &DRIVER
}

/// Whether its thread has been started.
static STARTED: StaticLock<bool> = StaticLock::new(false);

/// Starts a thread that fetches the common driver's events until the process ends.
///
/// # Errors
/// No thread or no poller is available.
pub(super) fn start() -> io::Result<()> {
    let mut started = STARTED.lock();
    if !*started {
        DRIVER.made()?;
        shim::thread::spawn("pirn-io".to_owned(), serve)?;
        *started = true;
    }
    Ok(())
}

fn serve() {
    let mut events = Events::new();
    loop {
        thread_registry::rest(|| DRIVER.wait(&mut events, None));
        tell_all(&events);
    }
}
