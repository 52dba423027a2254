//! Opening channels.

use std::time::{Duration, Instant};

use crate::receiver::Receiver;
use crate::sender::Sender;

/// Opens a channel that holds up to `capacity` values.
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = pirn::channel::bounded(capacity);
    (Sender::new(sender), Receiver::new(receiver))
}

/// Opens a channel that holds any number of values.
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = pirn::channel::unbounded();
    (Sender::new(sender), Receiver::new(receiver))
}

/// Opens a channel on which one value arrives after `duration`.
pub fn after(duration: Duration) -> Receiver<Instant> {
    Receiver::clock(pirn::channel::after(duration))
}

/// Opens a channel on which a value arrives every `period`.
pub fn tick(period: Duration) -> Receiver<Instant> {
    Receiver::clock(pirn::channel::tick(period))
}

/// Opens a channel on which nothing arrives.
pub fn never<T>() -> Receiver<T> {
    Receiver::never()
}
