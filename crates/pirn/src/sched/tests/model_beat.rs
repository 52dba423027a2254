//! Models: a monitor that stops looking often, against joins on a worker: it is notified of a join,
//! or sees it.

use std::sync::Arc;

use crate::base::tests::explore::explore;
use crate::fiber::jobs::{Beat, Jobs};
use crate::sched::pool::threads::monitor::Monitor;
use crate::shim::thread;
use crate::sys::parker::Parker;

/// A worker joins while the monitor goes to rest, and again after that. The monitor rests until it
/// is notified; loom reports if it is not.
fn join_against_rest(armed_before: bool) {
    let (monitor, armed) = (Arc::new(Monitor::attending()), Arc::new(Parker::new()));
    let jobs = Jobs::new(false);
    if !armed_before {
        jobs.take_beat();
    }
    let watcher = {
        let (monitor, armed) = (Arc::clone(&monitor), Arc::clone(&armed));
        let jobs = Arc::clone(&jobs);
        let rest = move || monitor.rest_until_notified(&jobs, || armed.unpark());
        thread::spawn(String::new(), rest).expect("a modelled thread")
    };
    let join = || {
        if jobs.is_due() && jobs.take_beat().has(Beat::ARMED) {
            monitor.attend();
        }
    };
    join();
    armed.park();
    join();
    watcher.join().expect("it is notified");
}

#[test]
fn model_beat_first_rest() {
    explore("beat_first_rest", 3, || join_against_rest(false));
}

/// The word is set already, from an earlier rest.
#[test]
fn model_beat_later_rest() {
    explore("beat_later_rest", 3, || join_against_rest(true));
}
