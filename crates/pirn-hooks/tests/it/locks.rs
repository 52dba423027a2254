//! Locks and channels of `std` inside of `within`: a fiber that waits for one blocks its thread. If
//! the fiber that could end the wait is ready on the same thread, that is reported.

use std::env;
use std::io::{Read, Write};
use std::process::{Command, exit};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use pirn::Runtime;
use pirn_hooks::within;

use crate::fixture::one_worker;

/// What the process is to wait for.
const KIND: &str = "PIRN_TEST_LOCK";

/// A stall must be reported within this time.
const BOUND: Duration = Duration::from_secs(1);

/// Starts a fiber that parks in a call, and a fiber that then waits for it by means of `std`.
fn start(runtime: &Runtime, kind: &str) {
    let lock = Arc::new((Mutex::new(false), Condvar::new()));
    let (sender, receiver) = mpsc::channel();
    let (parked, parks) = mpsc::channel();
    let theirs = Arc::clone(&lock);
    let held = kind == "Mutex";
    let (waiting, waits) = mpsc::channel::<thread::Thread>();
    let (mut pipe, mut go_on) = std::io::pipe().unwrap();
    runtime.spawn(move || {
        within(|| {
            let guard = held.then(|| theirs.0.lock().unwrap());
            parked.send(()).unwrap();
            pipe.read_exact(&mut [0]).unwrap();
            drop(guard);
            *theirs.0.lock().unwrap() = true;
            theirs.1.notify_all();
            let _ = sender.send(());
            if let Ok(waiter) = waits.try_recv() {
                waiter.unpark();
            }
        });
    });
    parks.recv().unwrap();
    let kind = kind.to_owned();
    runtime.spawn(move || {
        // The other fiber may run again, as soon as this one leaves the thread.
        go_on.write_all(&[0]).unwrap();
        within(|| match &*kind {
            "Mutex" => drop(lock.0.lock().unwrap()),
            "Condvar" => {
                let ready = lock.0.lock().unwrap();
                let until = |ready: &mut bool| !*ready;
                drop(lock.1.wait_while(ready, until).unwrap());
            }
            "Receiver" => receiver.recv().unwrap(),
            "park" => {
                waiting.send(thread::current()).unwrap();
                thread::park();
            }
            other => panic!("{other}"),
        });
    });
}

/// Waits until the stall was noticed, and prints how long that took.
fn watch(kind: &str) {
    let runtime = one_worker();
    let begun = Instant::now();
    start(&runtime, kind);
    while runtime.metrics().slow_fibers == 0 && begun.elapsed() < 10 * BOUND {
        thread::sleep(Duration::from_millis(1));
    }
    let took = begun.elapsed();
    eprintln!("noticed after {} ms", took.as_millis());
    // The fibers never end, and neither would a drop of the runtime.
    exit(i32::from(took >= BOUND));
}

// Proves: T12.
#[cfg(target_arch = "x86_64")]
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_waits_before_the_fiber_that_ends_them_are_reported() {
    if let Ok(kind) = env::var(KIND) {
        watch(&kind);
    }
    for kind in ["Mutex", "Condvar", "Receiver", "park"] {
        let mut again = Command::new("/proc/self/exe");
        let name = "locks::alone_waits_before_the_fiber_that_ends_them_are_reported";
        again.args(["--exact", name, "--nocapture", "--ignored"]);
        // What the fibers of the stuck worker own is lost at the exit.
        again.env(KIND, kind).env(
            "ASAN_OPTIONS",
            "detect_leaks=0:detect_stack_use_after_return=0",
        );
        let ended = again.output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success(), "{kind}: {said}");
        let mut lines = said
            .lines()
            .skip_while(|line| !line.contains("has kept worker"));
        let line = lines.next().unwrap_or_else(|| panic!("{kind}: {said}"));
        assert!(line.contains("locks.rs:"), "{line}");
        assert!(line.contains("it blocks its thread"), "{line}");
        let advice = lines.next().unwrap_or_default();
        assert!(advice.contains("pirn::sync"), "{kind}: {said}");
    }
}

/// Threads hold the lock while they sleep; fibers never hold it while they park.
// Proves: T12.
#[test]
fn counts_under_a_lock_are_exact() {
    const FIBERS: u32 = 100;
    const ROUNDS: u32 = 100;
    let count = Arc::new(Mutex::new(0));
    let builder = Runtime::builder().workers(2).hooks(true);
    let runtime = builder.build().unwrap();
    let add = |count: &Mutex<u32>, holds: bool| {
        for _ in 0..ROUNDS {
            let mut guard = count.lock().unwrap();
            *guard += 1;
            let held = holds.then_some(guard);
            thread::sleep(Duration::from_micros(10));
            drop(held);
        }
    };
    let threads = [(); 2].map(|()| {
        let count = Arc::clone(&count);
        thread::spawn(move || add(&count, true))
    });
    runtime.run(|| {
        pirn::scope(|s| {
            for _ in 0..FIBERS {
                s.spawn(|| add(&count, false));
            }
        });
    });
    threads.into_iter().for_each(|it| it.join().unwrap());
    assert_eq!(*count.lock().unwrap(), (FIBERS + 2) * ROUNDS);
}
