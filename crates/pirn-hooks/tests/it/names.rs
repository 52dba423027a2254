//! Names.

use std::net::ToSocketAddrs;

use crate::fixture::{on_one_worker, parks};

// Proves: T5.
#[test]
fn a_name_is_resolved_on_another_thread() {
    on_one_worker(|| {
        let other = pirn::spawn(|| ());
        let mut found = ("localhost", 80).to_socket_addrs().unwrap();
        // It had the thread meanwhile.
        assert!(other.is_finished());
        other.join().unwrap();
        assert!(found.all(|address| address.ip().is_loopback()));
    });
    assert!(parks("getaddrinfo") > 0);
}
