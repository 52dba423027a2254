//! One site, one event after the other.

use std::io;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::time::Duration;

use crate::readiness::site::Site;
use crate::readiness::{Interest, Source};
use crate::sys::poller::{Event, REPORTS_CLOSED};
use crate::wait::{Reason, Spec, deadline_in};

pub(super) const READABLE: Event = Event {
    token: 0,
    readable: true,
    writable: false,
    urgent: false,
    read_closed: false,
    write_closed: false,
};

fn ready(site: &Site) -> (bool, bool) {
    let seen = site.look();
    (
        seen.is_ready(Interest::Readable),
        seen.is_ready(Interest::Writable),
    )
}

// Proves: N6-X-events.
#[test]
fn an_event_that_comes_during_an_attempt_is_not_forgotten() {
    let site = Site::new();
    let before = site.look();
    site.notify(0, READABLE);
    site.clear(before, Interest::Readable);
    assert_eq!(ready(&site), (true, true), "it is tried again");
    site.clear(site.look(), Interest::Readable);
    assert_eq!(ready(&site), (false, true));
    site.notify(0, READABLE);
    assert_eq!(ready(&site), (true, true));
}

// Proves: N6-X-events.
#[test]
fn what_is_closed_stays_ready() {
    let site = Site::new();
    let closed = Event {
        read_closed: true,
        ..READABLE
    };
    site.notify(0, closed);
    site.drained(site.look(), Interest::Readable);
    assert_eq!(ready(&site), (true, true), "no further event comes");
    // A named pipe with a new writer: now the attempt waits.
    site.clear(site.look(), Interest::Readable);
    assert_eq!(ready(&site), (false, true));
    site.notify(0, READABLE);
    site.drained(site.look(), Interest::Readable);
    assert_eq!(ready(&site), (false, true), "it is open again");
}

// Proves: N6-X-events.
#[test]
fn what_is_urgent_stays_ready() {
    let site = Site::new();
    let urgent = Event {
        urgent: true,
        ..READABLE
    };
    site.notify(0, urgent);
    site.drained(site.look(), Interest::Readable);
    assert_eq!(ready(&site), (true, true), "the read has stopped before it");
    site.clear(site.look(), Interest::Readable);
    assert_eq!(ready(&site), (false, true));
}

// Proves: N6.
#[test]
fn an_event_of_an_earlier_generation_is_ignored() {
    let site = Site::new();
    site.renew();
    site.clear(site.look(), Interest::Readable);
    site.notify(0, READABLE);
    assert_eq!(ready(&site), (false, true));
    site.notify(1, READABLE);
    assert_eq!(ready(&site), (true, true));
}

/// An operation that has emptied a source waits without another attempt.
// Proves: N6-X-events.
#[test]
fn what_was_emptied_is_not_tried() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_nonblocking(true).unwrap();
    let source = Source::new().unwrap();
    let mut attempts = 0;
    let mut operate = |result: fn() -> io::Result<usize>| {
        let attempt = || {
            attempts += 1;
            result()
        };
        let limit = Some(Duration::from_millis(5));
        let raw = socket.as_raw_fd();
        source.operate(raw, Interest::Readable, limit, attempt, |&n| n < 8)
    };
    assert_eq!(operate(|| Ok(3)).unwrap(), 3);
    let second = operate(|| Ok(3));
    if REPORTS_CLOSED {
        assert_eq!(second.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!(attempts, 1);
    } else {
        // Possibly only the end is left to read, which makes no further event.
        assert_eq!(second.unwrap(), 3);
        assert_eq!(attempts, 2);
    }
}

#[test]
fn a_site_is_two_lines() {
    assert!(size_of::<Site>() <= 128, "{}", size_of::<Site>());
}

#[test]
fn a_caller_that_finds_it_ready_does_not_park() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let source = Source::new().unwrap();
    let until = deadline_in(Duration::from_millis(5));
    let spec = Spec::interruptible(Reason::Readable).until(until);
    // Nothing is known of it yet, so an attempt may succeed.
    let waited = source.wait(socket.as_raw_fd(), Interest::Readable, &spec);
    assert!(waited.is_ok(), "{waited:?}");
}
