//! A plain OS thread and a fiber share a channel and a mutex; neither knows what the other
//! is.
//!
//! Checked: `cargo run --example threads_and_fibers`
//! ends with `10 from the thread, 10 from the fiber`.

#![expect(clippy::disallowed_methods, reason = "the point is a plain thread")]

use std::sync::Arc;

use pirn::channel;
use pirn::sync::Mutex;

fn main() {
    let seen = Arc::new(Mutex::new((0, 0)));
    let (tx, rx) = channel::bounded::<&str>(2);
    let (counter, from_fiber) = (Arc::clone(&seen), tx.clone());
    let reader = pirn::spawn(move || {
        for sender in rx.iter() {
            let mut seen = counter.lock();
            if sender == "thread" {
                seen.0 += 1;
            } else {
                seen.1 += 1;
            }
        }
    });
    let fiber =
        pirn::spawn(move || (0..10).for_each(|_| from_fiber.send("fiber").unwrap()));
    let thread =
        std::thread::spawn(move || (0..10).for_each(|_| tx.send("thread").unwrap()));
    thread.join().expect("the thread does not panic");
    fiber.join().expect("the fiber does not panic");
    reader.join().expect("the reader does not panic");
    let (threads, fibers) = *seen.lock();
    println!("{threads} from the thread, {fibers} from the fiber");
}
