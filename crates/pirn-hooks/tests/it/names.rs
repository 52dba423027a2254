//! Names.

use std::net::ToSocketAddrs;

use pirn_hooks::without;

use crate::fixture::{on_one_worker, parks};

fn resolve() {
    let mut found = ("localhost", 80).to_socket_addrs().unwrap();
    assert!(found.all(|address| address.ip().is_loopback()));
}

// Proves: T5.
#[test]
fn a_name_is_resolved_on_another_thread() {
    // The answer may be there before the fiber parks.
    const ROUNDS: usize = 100;
    on_one_worker(|| {
        let other = pirn::spawn(|| ());
        without(|| (0..ROUNDS).for_each(|_| resolve()));
        assert!(!other.is_finished(), "the fiber has left its thread");
        let mut rounds = (0..ROUNDS).inspect(|_| resolve());
        // It had the thread meanwhile.
        assert!(rounds.any(|_| other.is_finished()));
        other.join().unwrap();
    });
    assert!(parks("getaddrinfo") > 0);
}
