//! Code with a time limit: a slow answer is given up, a fast one is used. The code under the
//! limit knows nothing of it; its wait just ends.
//!
//! Checked: `cargo run --example timeout` ends with `fast: 42, slow: the time limit has passed`.

use std::time::Duration;

use pirn::time::Elapsed;
use pirn::{channel, sleep, timeout};

fn main() {
    let fast = timeout(Duration::from_secs(60), || answer(Duration::ZERO));
    let slow = timeout(Duration::from_millis(10), || {
        answer(Duration::from_secs(60))
    });
    println!("fast: {}, slow: {}", show(fast), show(slow));
}

/// Asks a fiber that takes its time.
fn answer(pause: Duration) -> Option<u32> {
    let (tx, rx) = channel::bounded(1);
    let fiber = pirn::spawn(move || {
        if sleep(pause).is_ok() {
            _ = tx.send(42); // the receiver may have been dropped
        }
    });
    let answer = rx.recv().ok();
    fiber.cancel(); // its answer is no longer needed
    answer
}

fn show(answer: Result<Option<u32>, Elapsed>) -> String {
    match answer {
        Ok(Some(n)) => n.to_string(),
        Ok(None) => String::from("no answer"),
        Err(elapsed) => elapsed.to_string(),
    }
}
