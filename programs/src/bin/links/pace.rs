//! How many requests there are in a second.

use std::time::{Duration, Instant};

use pirn::Interrupt;
use pirn::sync::Mutex;
use pirn::time;

/// Spreads the beginnings of requests evenly over time.
#[derive(Debug)]
pub(crate) struct Pace {
    gap: Duration,
    /// When the next request may begin.
    next: Mutex<Instant>,
}

impl Pace {
    pub(crate) fn new(per_second: u32) -> Pace {
        Pace {
            gap: Duration::from_secs(1) / per_second,
            next: Mutex::new(time::now()),
        }
    }

    /// Waits until the next request may begin.
    pub(crate) fn wait(&self) -> Result<(), Interrupt> {
        // The others wait for the lock meanwhile. So a request that begins late delays the next one.
        let mut next = self.next.lock_interruptible()?;
        time::sleep_until(*next)?;
        *next = time::now() + self.gap;
        Ok(())
    }
}
