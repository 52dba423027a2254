//! The driver for waiters without a worker that polls: plain threads, fibers that block their
//! thread in place, and workers that have ended.

use std::io;

use super::table::notify_all;
use crate::fiber::thread_registry;
use crate::shim::{self, StaticLock, run_static};
use crate::sys::poller::{Driver, Events};
use crate::sys::unpinned;

run_static! {
    static DRIVER: Driver = Driver::new();
}

/// Returns the driver.
#[inline(always)]
pub(super) fn driver() -> &'static Driver {
    &DRIVER
}

/// Whether its thread has been started.
static STARTED: StaticLock<bool> = StaticLock::new(false);

/// Starts a thread that fetches the common driver's events until the process ends. In a model it
/// would outlive the run: there the model's threads fetch them.
///
/// # Errors
/// No thread or no poller is available.
pub(super) fn start() -> io::Result<()> {
    if shim::MODELLED {
        return DRIVER.made().map(drop);
    }
    let mut started = STARTED.lock();
    if !*started {
        DRIVER.made()?;
        shim::thread::spawn("pirn-io".to_owned(), unpinned(serve))?;
        *started = true;
    }
    Ok(())
}

fn serve() {
    let mut events = Events::new();
    loop {
        thread_registry::rest(|| DRIVER.wait(&mut events, None));
        notify_all(&events);
    }
}

/// The loop body of the thread: waits for events, or for [`ring`], and delivers them.
#[cfg(pirn_modelled)]
pub(crate) fn ask() {
    let mut events = Events::new();
    start().expect("a poller");
    DRIVER.wait(&mut events, None);
    notify_all(&events);
}

/// Ends an [`ask`], the next one if none is running.
#[cfg(pirn_modelled)]
pub(crate) fn ring() {
    DRIVER.wake();
}
