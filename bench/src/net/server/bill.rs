//! The cost of requests, and the state of each connection.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::net::cost::{REQUEST, is_costly};

use super::Settings;

/// The cost of requests, and the number of the next connection.
#[derive(Debug)]
pub(super) struct Price {
    micros: u64,
    every: u64,
    next: AtomicU64,
}

/// The requests of one connection.
#[derive(Debug)]
pub(super) struct Bill {
    micros: u64,
    heard: u64,
}

impl Settings {
    /// Returns the cost for the rest of the process, if requests have one.
    pub(super) fn price(&self) -> Option<&'static Price> {
        if self.micros == 0 {
            return None;
        }
        Some(Box::leak(Box::new(Price {
            micros: self.micros,
            every: self.every,
            next: AtomicU64::new(0),
        })))
    }
}

impl Price {
    /// Returns the state of the next connection.
    pub(super) fn bill(&self) -> Bill {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let costly = is_costly(number, self.every);
        Bill {
            micros: if costly { self.micros } else { 0 },
            heard: 0,
        }
    }
}

impl Bill {
    /// Returns the microseconds to compute after `count` more bytes. The first request is the
    /// greeting and free.
    pub(super) fn add(&mut self, count: usize) -> u64 {
        let done = |heard: u64| (heard / REQUEST).saturating_sub(1);
        let before = done(self.heard);
        self.heard += count as u64;
        (done(self.heard) - before) * self.micros
    }
}
