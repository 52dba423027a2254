//! Models: a reader of a ring of events sees whole events only, whatever the owner does
//! meanwhile.

use std::sync::Arc;

use crate::base::tests::explore::explore;
use crate::events::ring::EventRing;
use crate::events::{Event, Kind};
use crate::shim::thread;

/// The n-th event: every word of it says n.
fn event(n: u32) -> Event {
    Event {
        time: u64::from(n),
        kind: Kind::Steal,
        detail: n,
        fiber: u64::from(n),
        place: None,
    }
}

/// Looks at the ring; every event is one of those recorded, whole, and they are in order.
fn check(ring: &EventRing) -> usize {
    let (seen, _) = ring.read();
    let mut last = 0;
    for found in &seen {
        assert_eq!(*found, event(found.detail), "a torn event");
        assert!(found.detail > last, "out of order");
        last = found.detail;
    }
    seen.len()
}

/// The owner records `events` into a ring of `capacity` while another thread reads.
fn read_while_written(capacity: usize, before: u32, events: u32) {
    let ring = Arc::new(EventRing::new(capacity));
    for n in 1..=before {
        ring.record(&event(n));
    }
    let reader = {
        let ring = Arc::clone(&ring);
        thread::spawn(String::new(), move || {
            check(&ring);
        })
        .expect("a modelled thread")
    };
    for n in before + 1..=before + events {
        ring.record(&event(n));
    }
    reader.join().expect("it reads to the end");
    // Nothing is written any more: all events that fit are there.
    assert_eq!(check(&ring), capacity.min((before + events) as usize));
}

/// The first event of a slot, and the one that takes its place.
// Proves: P3.
#[test]
fn model_events_one_slot() {
    explore("events_one_slot", 4, || read_while_written(1, 0, 2));
}

/// The owner laps the reader.
// Proves: P3.
#[test]
fn model_events_lapped() {
    explore("events_lapped", 3, || read_while_written(2, 1, 3));
}
