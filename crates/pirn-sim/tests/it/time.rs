//! Virtual time: choices take some, so moments that are equal in the program come in either order.

use std::sync::Arc;
use std::time::Duration;

use pirn::channel;
use pirn::sync::Mutex;
use pirn_sim::campaign;

const MOMENT: Duration = Duration::from_millis(10);

// Proves: U11.
#[test]
fn timers_of_one_moment_come_in_either_order() {
    campaign().runs(200).reaches("the second first").check(|| {
        let order = Arc::new(Mutex::new(Vec::new()));
        let sleepers = [1, 2].map(|number| {
            let order = Arc::clone(&order);
            pirn::spawn(move || {
                pirn::sleep(MOMENT).unwrap();
                order.lock().push(number);
            })
        });
        sleepers.into_iter().for_each(|fiber| fiber.join().unwrap());
        let order = order.lock();
        pirn::sim::sometimes!(*order == [1, 2], "the first first");
        pirn::sim::sometimes!(*order == [2, 1], "the second first");
    });
}

// Proves: U11.
#[test]
fn a_value_and_a_limit_of_one_moment_come_in_either_order() {
    campaign().runs(200).reaches("in time").check(|| {
        let (tx, rx) = channel::bounded(1);
        let sender = pirn::spawn(move || {
            pirn::sleep(MOMENT).unwrap();
            tx.send(7)
        });
        // The limit counts from here.
        pirn_sim::point();
        let received = rx.recv_timeout(MOMENT);
        pirn::sim::sometimes!(received.is_ok(), "in time");
        pirn::sim::sometimes!(received.is_err(), "too late");
        drop(rx);
        drop(sender.join());
    });
}

// Proves: U11.
#[test]
fn the_time_of_all_runs_has_no_end() {
    // Ten years in all: more than one runtime has.
    campaign().runs(120).check(|| {
        pirn::sleep(Duration::from_secs(30 * 86_400)).unwrap();
    });
}

// Proves: U11.
#[test]
fn a_loop_until_a_moment_ends() {
    campaign().runs(20).check(|| {
        let end = pirn::time::now() + Duration::from_millis(1);
        while pirn::time::now() < end {
            pirn::yield_now();
        }
    });
}
