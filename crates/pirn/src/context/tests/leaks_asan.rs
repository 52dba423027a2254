//! LeakSanitizer and fibers: a leak on a fiber is found, and memory that a parked fiber holds is
//! not a leak.

use std::hint::black_box;
use std::process::Output;
use std::sync::{Mutex, PoisonError};

use super::alone;
use super::ride::{Ride, pool};
use crate::context::StackPool;

/// What the child keeps until the search for leaks at its end.
static KEPT: Mutex<Option<(Ride, StackPool)>> = Mutex::new(None);

fn run(case: &str) -> Output {
    alone::run(concat!(module_path!(), "::child"), case)
}

#[test]
fn a_leak_on_a_fiber_is_found() {
    let output = run("leak");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("detected memory leaks"), "{text}");
    assert!(text.contains("4321 byte"), "{text}");
    assert!(!output.status.success());
}

#[test]
fn what_a_parked_fiber_holds_is_no_leak() {
    let output = run("parked");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
}

#[test]
#[ignore = "run by the other tests of this file, in a process of its own"]
fn child() {
    let case = alone::case().expect("run by the other tests, with a case");
    let pool = pool(1);
    let mut ride = Ride::new(pool.take().unwrap(), move |sides| {
        let memory = black_box(vec![1_u8; 4321]);
        match case.as_str() {
            "leak" => {
                black_box(memory.leak());
            }
            "parked" => {
                sides.pause();
                drop(memory);
            }
            unknown => panic!("no such case: {unknown}"),
        }
    });
    if ride.resume() {
        *KEPT.lock().unwrap_or_else(PoisonError::into_inner) = Some((ride, pool));
    } else {
        // Remains on a stack that is in use would count as pointers.
        pool.give(ride.finish());
    }
}
