//! One driver, polled by its owner and in its owner's place.

use std::time::Duration;

use crate::shim;
use crate::sys::poller::{Driver, Events};

#[test]
fn a_poll_in_place_of_the_owner_leaves_it_the_wake() {
    let driver = Driver::new();
    driver.made().unwrap();
    driver.wake();
    let mut events = Events::new();
    driver.poll_for_owner(&mut events);
    driver.wait(&mut events, Some(shim::now() + Duration::from_secs(1)));
    assert!(events.may_have_rung());
}
