//! The cost of wakes that come one at a time, beside their cost for a plain thread.
//!
//! Only optimised code is judged: in other code the time that a wake takes is that of thousands of
//! calls which the compiler would remove.

use std::fs;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use pirn::{Runtime, channel};

const WAKES: usize = 1_000;

/// The waits of a receiver, and the share of one processor that it used.
struct Measured {
    waits: Vec<Duration>,
    share: f64,
}

impl Measured {
    fn median(&self) -> Duration {
        let mut all = self.waits.clone();
        all.sort_unstable();
        all[all.len() / 2]
    }
}

/// A thousand wakes a second cost the workers less than a twentieth of a processor and less than
/// three times what they cost a plain thread. Half of the fibers resume within 10 µs beyond the
/// time that the system takes to wake that thread.
// Proves: C10.
#[test]
#[ignore = "alone: run by `cargo xtask ci fat`"]
fn alone_light_load_costs_little() {
    let (fiber, thread) = (of_a_fiber(), of_a_thread());
    let costs = format!(
        "{:.2} % of one processor, {:.2} % for a thread",
        fiber.share * 100.0,
        thread.share * 100.0
    );
    println!("{costs}");
    assert!(fiber.share < 0.05, "{costs}");
    assert!(fiber.share < 3.0 * thread.share, "{costs}");
    let (half, least) = (fiber.median(), thread.median());
    println!("half wait {half:?}, threads {least:?}");
    assert!(
        half < least + Duration::from_micros(10),
        "half took more than {half:?}, threads {least:?}"
    );
}

/// Sends a message each millisecond to a fiber of a runtime with two workers.
fn of_a_fiber() -> Measured {
    let runtime = Runtime::builder().workers(2).build();
    let runtime = runtime.expect("a runtime starts");
    let (sender, receiver) = channel::bounded::<Instant>(1);
    let receiver =
        runtime.spawn(move || receiver.iter().map(|sent| sent.elapsed()).collect());
    let share = share_of_the_others(|| sender.send(Instant::now()).expect("it receives"));
    drop(sender);
    let waits = receiver.join().expect("it does not panic");
    Measured { waits, share }
}

/// As [`of_a_fiber`], to a thread.
fn of_a_thread() -> Measured {
    let (sender, receiver) = mpsc::sync_channel::<Instant>(1);
    let receiver =
        std::thread::spawn(move || receiver.iter().map(|sent| sent.elapsed()).collect());
    let share = share_of_the_others(|| sender.send(Instant::now()).expect("it receives"));
    drop(sender);
    let waits = receiver.join().expect("it does not panic");
    Measured { waits, share }
}

/// Calls `send` once a millisecond. Returns the share of a processor that the other threads of this
/// process used meanwhile, without the first hundred calls.
fn share_of_the_others(send: impl Fn()) -> f64 {
    let repeat = |times: usize| {
        for _ in 0..times {
            send();
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    repeat(100);
    let (before, start) = (time_of_the_others(), Instant::now());
    repeat(WAKES);
    let spent = time_of_the_others() - before;
    spent.as_secs_f64() / start.elapsed().as_secs_f64()
}

/// Returns the processor time that all threads of this process but the calling one have used.
fn time_of_the_others() -> Duration {
    let tasks = fs::read_dir("/proc/self/task").expect("it is there");
    let all: Duration = tasks
        .flatten()
        .map(|task| time_in(&task.path().join("schedstat")))
        .sum();
    all - time_in("/proc/thread-self/schedstat".as_ref())
}

/// Returns the processor time in this file of a thread; none if the thread has ended.
fn time_in(file: &std::path::Path) -> Duration {
    let text = fs::read_to_string(file).unwrap_or_default();
    let nanos = text.split(' ').next().and_then(|n| n.parse().ok());
    Duration::from_nanos(nanos.unwrap_or(0))
}
