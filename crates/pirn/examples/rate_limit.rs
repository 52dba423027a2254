//! Two limits on the same work: at most three requests at once (a semaphore), and at most one
//! start in each millisecond on average (a ticker).
//!
//! Checked: `cargo run --example rate_limit -- 20`
//! ends with `20 requests, never more than 3 at once, in time`.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pirn::channel;
use pirn::sync::Semaphore;
use pirn::time::{now, sleep};

const AT_ONCE: usize = 3;
const PERIOD: Duration = Duration::from_millis(1);

fn main() {
    let n: u32 = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(100);
    let doors = Semaphore::new(AT_ONCE);
    let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let start = now();
    pirn::scope(|s| {
        // It keeps one tick at most: after a long pause there is no burst of starts.
        let beats = channel::tick(PERIOD);
        for _ in 0..n {
            beats.recv().expect("no token is cancelled");
            let permit = doors.acquire(1).expect("no token is cancelled");
            let (inside, most) = (&inside, &most);
            s.spawn(move || {
                let count = inside.fetch_add(1, Ordering::SeqCst) + 1;
                most.fetch_max(count, Ordering::SeqCst);
                sleep(2 * PERIOD).expect("no token is cancelled"); // the request
                inside.fetch_sub(1, Ordering::SeqCst);
                drop(permit);
            });
        }
    });
    // The last request starts no sooner than as many periods after the first.
    let in_time = now() - start >= PERIOD * n.saturating_sub(1);
    assert!(most.into_inner() <= AT_ONCE);
    let how = if in_time { "in time" } else { "too fast" };
    println!("{n} requests, never more than {AT_ONCE} at once, {how}");
}
