//! A thousand fibers that wait at the same time in calls of each kind, beside one that sleeps for
//! 5 ms again and again.

use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use pirn_hooks::within;

use crate::fixture::one_worker;
use crate::raw;

const FIBERS: usize = 1_000;
const PAUSE: Duration = Duration::from_millis(200);
const TICK: Duration = Duration::from_millis(5);

/// Waits for the pause.
type Wait = fn();

/// Receives what another fiber sends after the pause.
fn receive(mut from: impl Read, mut to: impl Write + Send + 'static) {
    let sender = pirn::spawn(move || {
        within(|| {
            thread::sleep(PAUSE);
            to.write_all(b"x").unwrap();
        });
    });
    from.read_exact(&mut [0]).unwrap();
    sender.join().unwrap();
}

fn read_socket() {
    let (one, other) = UnixStream::pair().unwrap();
    receive(one, other);
}

fn read_pipe() {
    let (one, other) = io::pipe().unwrap();
    receive(one, other);
}

fn poll() {
    raw::poll(&[], PAUSE.as_millis() as i32).unwrap();
}

fn sleep() {
    thread::sleep(PAUSE);
}

/// What was measured of all fibers.
struct Measured {
    took: Duration,
    /// The time of the processor.
    worked: Duration,
    /// The longest delay of a tick.
    late: Duration,
}

/// Makes the process's table of descriptors as large as the tests need it. Whenever it doubles,
/// Linux lets the call that opened a descriptor wait for all processors if the process has threads:
/// for 5 to 9 ms, at 256, 512, 1,024 and 2,048 descriptors.
fn grow_table() {
    let (any, _other) = UnixStream::pair().unwrap();
    let high = 3 * FIBERS as i32;
    raw::dup2(any.as_raw_fd(), high);
    raw::close(high);
}

fn measure(wait: Wait) -> Measured {
    one_worker().run(|| {
        let done = AtomicBool::new(false);
        pirn::scope(|s| {
            let ticker = s.spawn(|| {
                let mut latest = Duration::ZERO;
                while !done.load(Ordering::Relaxed) {
                    let due = Instant::now() + TICK;
                    pirn::sleep(TICK).unwrap();
                    latest = latest.max(due.elapsed());
                }
                latest
            });
            let (start, before) = (Instant::now(), raw::processor_time());
            pirn::scope(|s| {
                for _ in 0..FIBERS {
                    s.spawn(move || within(wait));
                }
            });
            let (took, worked) = (start.elapsed(), raw::processor_time() - before);
            done.store(true, Ordering::Relaxed);
            let late = ticker.join().unwrap();
            Measured { took, worked, late }
        })
    })
}

// Proves: T10.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_a_thousand_wait_at_the_same_time() {
    let kinds: [(&str, Wait); 4] = [
        ("sleep", sleep),
        ("poll", poll),
        ("socket", read_socket),
        ("pipe", read_pipe),
    ];
    grow_table();
    for (name, wait) in kinds {
        let Measured { took, worked, late } = measure(wait);
        println!("{name}: {took:?}, {worked:?} of it work, a tick {late:?} late");
        assert!(took >= PAUSE, "{name}: {took:?}");
        assert!(
            took <= PAUSE * 13 / 10 + worked,
            "{name}: {took:?}, {worked:?}"
        );
        assert!(late <= Duration::from_millis(20), "{name}: {late:?} late");
    }
}
