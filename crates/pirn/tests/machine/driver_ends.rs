//! A thread that drives a runtime by hand does not end before the fibers that have started on it.

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use pirn::Runtime;
use pirn::cancel::shield;
use pirn::channel;
use pirn::dispatcher::{Dispatcher, run_main};
use pirn::runtime::Handle;
use pirn::spawn::{Builder, JoinError, JoinHandle};

use crate::executor_kind::runtime;
use crate::util::{apart, eventually};

const SHORT: Duration = Duration::from_millis(1);

fn by_hand() -> Runtime {
    Runtime::builder()
        .workers(0)
        .name("hand")
        .build()
        .expect("a runtime")
}

/// A thread-local with memory of its own. It reports its destruction.
struct Name {
    number: Box<u64>,
    gone: RefCell<Arc<AtomicBool>>,
}

impl Drop for Name {
    fn drop(&mut self) {
        self.gone.borrow().store(true, Ordering::SeqCst);
    }
}

std::thread_local! {
    static NAME: Name = Name { number: Box::new(7), gone: RefCell::default() };
}

/// Observations of the fiber that reads a lent thread-local.
#[derive(Default)]
struct Seen {
    reads: AtomicUsize,
    /// The thread is about to end.
    ending: AtomicBool,
    too_late: AtomicBool,
    done: AtomicBool,
}

/// Lends a thread-local of the calling thread to a fiber of `other`, which reads it for some time
/// after the thread has begun to end.
fn lend(other: &Handle, seen: &Seen) {
    NAME.with(|name| {
        let gone = Arc::clone(&name.gone.borrow());
        let number = &name.number;
        other.run(|| {
            let mut left = 20;
            while left > 0 && !gone.load(Ordering::SeqCst) {
                // The end of the thread cancels the fiber that runs this, and so this too.
                shield(|| pirn::sleep(SHORT)).unwrap();
                assert_eq!(**number, 7);
                seen.reads.fetch_add(1, Ordering::SeqCst);
                left -= usize::from(seen.ending.load(Ordering::SeqCst));
            }
            let gone = gone.load(Ordering::SeqCst);
            seen.too_late.store(gone, Ordering::SeqCst);
            seen.done.store(true, Ordering::SeqCst);
        });
    });
}

/// Ends when it is cancelled, and reports that.
fn patient(ended: &Arc<AtomicUsize>) -> impl FnOnce() + Send + 'static {
    let ended = Arc::clone(ended);
    move || {
        while pirn::sleep(Duration::from_secs(1)).is_ok() {}
        ended.fetch_add(1, Ordering::SeqCst);
    }
}

/// The thread-local is used for the first time in the first drive, or in a later one.
// Proves: F11-end.
#[test]
fn a_thread_local_outlives_its_loan() {
    for later in [false, true] {
        let other = runtime(1);
        let hand = ManuallyDrop::new(by_hand());
        let seen = Arc::new(Seen::default());
        let (handle, lender, reader) = (hand.handle(), other.handle(), Arc::clone(&seen));
        let driver = thread::spawn(move || {
            let seen = Arc::clone(&reader);
            let (go, gate) = channel::bounded::<()>(1);
            let lends = handle.spawn(move || {
                gate.recv().unwrap();
                lend(&lender, &reader);
            });
            if later {
                handle.run_until_idle();
            }
            go.send(()).unwrap();
            handle.run_until_idle();
            eventually("the reader reads", || seen.reads.load(Ordering::SeqCst) > 2);
            seen.ending.store(true, Ordering::SeqCst);
            lends
        });
        let lends = driver.join().unwrap();
        eventually("the reader ends", || seen.done.load(Ordering::SeqCst));
        assert!(!seen.too_late.load(Ordering::SeqCst), "{later}");
        lends.join().unwrap();
        drop(ManuallyDrop::into_inner(hand));
    }
}

/// The same for the dispatcher of the main thread, which another thread serves.
// Proves: F11-end.
#[test]
fn a_thread_local_outlives_its_loan_in_run_main() {
    let part = || {
        let seen = Arc::new(Seen::default());
        let reader = Arc::clone(&seen);
        let other = runtime(1);
        let lender = other.handle();
        let serves = thread::spawn(move || {
            let seen = Arc::clone(&reader);
            Dispatcher::main()
                .spawn(move || lend(&lender, &reader))
                .detach();
            run_main(|| {
                eventually("the reader reads", || seen.reads.load(Ordering::SeqCst) > 2);
            });
            seen.ending.store(true, Ordering::SeqCst);
        });
        serves.join().unwrap();
        eventually("the reader ends", || seen.done.load(Ordering::SeqCst));
        assert!(!seen.too_late.load(Ordering::SeqCst));
        // The dispatcher has ended with its thread.
        let late = Dispatcher::main().spawn(|| ());
        assert!(matches!(late.join(), Err(JoinError::NotRun)));
    };
    let name = "driver_ends::a_thread_local_outlives_its_loan_in_run_main";
    if let Some(ended) = apart(name, &[], part) {
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    }
}

/// Starts a fiber that never ends, on a runtime that is never shut down.
fn start_stubborn() {
    let hand = ManuallyDrop::new(by_hand());
    let stubborn = || Builder::new().name("stubborn").spawn(pirn::park);
    hand.run(|| stubborn().expect("a fiber").detach());
    let (tx, rx) = channel::bounded::<()>(1);
    let _open = ManuallyDrop::new(tx);
    hand.spawn(move || shield(|| rx.recv())).detach();
    hand.run_until_idle();
}

fn expect_abort(name: &str, part: impl FnOnce()) {
    let Some(ended) = apart(name, &[], part) else {
        return;
    };
    let text = ended.stderr;
    assert!(!ended.status.success(), "{text}");
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        assert_eq!(ended.status.signal(), Some(6), "{text}");
    }
    for word in ["'hand'", "'stubborn'", "driver_ends.rs", "(Park)", "shut"] {
        assert!(text.contains(word), "{word} is not in {text}");
    }
}

/// Only this keeps the values that the fiber may have borrowed.
// Proves: F11-end.
#[test]
fn a_fiber_that_does_not_end_aborts_the_process() {
    expect_abort(
        "driver_ends::a_fiber_that_does_not_end_aborts_the_process",
        || thread::spawn(start_stubborn).join().unwrap(),
    );
}

// Proves: F11-end.
#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn exit_waits_for_fibers_too() {
    expect_abort("driver_ends::exit_waits_for_fibers_too", || {
        start_stubborn();
        std::process::exit(0);
    });
}

/// `exit` on the driving thread, called by one of its fibers: its worker cannot run another fiber
/// then.
// Proves: F11-end.
#[test]
fn exit_ends_the_process() {
    let part = || {
        let hand = ManuallyDrop::new(by_hand());
        let ended = Arc::new(AtomicUsize::new(0));
        hand.spawn(patient(&ended)).detach();
        hand.run_until_idle();
        std::process::exit(7);
    };
    if let Some(ended) = apart("driver_ends::exit_ends_the_process", &[], part) {
        assert_eq!(ended.status.code(), Some(7), "{}", ended.stderr);
    }
}

// Proves: F11-end.
#[test]
fn exit_inside_a_fiber_ends_the_process() {
    let part = || {
        start_stubborn();
        let hand = ManuallyDrop::new(by_hand());
        hand.spawn(pirn::park).detach();
        hand.run_until_idle();
        hand.run(|| std::process::exit(7));
    };
    let name = "driver_ends::exit_inside_a_fiber_ends_the_process";
    // Leak checkers do not search the thread's own stack then.
    let leaks = ("ASAN_OPTIONS", "detect_leaks=0");
    if let Some(ended) = apart(name, &[leaks], part) {
        assert_eq!(ended.status.code(), Some(7), "{}", ended.stderr);
    }
}

std::thread_local! {
    static RUNTIME: RefCell<Option<Runtime>> = const { RefCell::new(None) };
}

/// A runtime in a thread-local ends with its thread: its destructor runs first, or last.
// Proves: F11-end.
#[test]
fn a_runtime_in_a_thread_local_ends_with_its_thread() {
    let part = || {
        for (other_first, starts) in
            [(false, false), (false, true), (true, false), (true, true)]
        {
            let ended = Arc::new(AtomicUsize::new(0));
            let ran = Arc::new(AtomicBool::new(false));
            let (count, runs) = (Arc::clone(&ended), Arc::clone(&ran));
            let owner = thread::spawn(move || {
                let other = by_hand();
                if other_first {
                    other.run(|| ());
                }
                RUNTIME.set(Some(by_hand()));
                RUNTIME.with_borrow(|hand| {
                    let hand = hand.as_ref().unwrap();
                    if starts {
                        hand.spawn(patient(&count)).detach();
                    }
                    hand.run_until_idle();
                    hand.spawn(move || runs.store(true, Ordering::SeqCst))
                        .detach();
                });
                other.run(|| ());
            });
            owner.join().unwrap();
            let case = format!("{other_first}, {starts}");
            assert_eq!(ended.load(Ordering::SeqCst), usize::from(starts), "{case}");
            assert_eq!(ran.load(Ordering::SeqCst), !starts, "{case}");
        }
    };
    let name = "driver_ends::a_runtime_in_a_thread_local_ends_with_its_thread";
    if let Some(ended) = apart(name, &[], part) {
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    }
}

/// Drives `handle` on a thread, which leaves `fresh` and `started` behind.
fn leave_behind(
    handle: &Handle,
    started: usize,
    fresh: usize,
    ended: &Arc<AtomicUsize>,
) -> Vec<JoinHandle<()>> {
    let (handle, ended) = (handle.clone(), Arc::clone(ended));
    let driver = thread::spawn(move || {
        let mut fibers: Vec<_> = (0..started)
            .map(|_| handle.spawn(patient(&ended)))
            .collect();
        handle.run_until_idle();
        fibers.extend((0..fresh).map(|_| {
            let ended = Arc::clone(&ended);
            handle.spawn(move || _ = ended.fetch_add(1, Ordering::SeqCst))
        }));
        fibers
    });
    driver.join().unwrap()
}

fn drop_in_time(hand: Runtime) {
    let dropping = thread::spawn(move || drop(hand));
    eventually("the drop ends", || dropping.is_finished());
    dropping.join().unwrap();
}

/// Started fibers have ended with their thread, and with them the runtime.
// Proves: F11-end.
#[test]
fn a_runtime_is_dropped_after_its_driver() {
    let hand = by_hand();
    let ended = Arc::new(AtomicUsize::new(0));
    let fibers = leave_behind(&hand, 3, 2, &ended);
    assert_eq!(ended.load(Ordering::SeqCst), 3);
    assert!(matches!(hand.spawn(|| ()).join(), Err(JoinError::NotRun)));
    drop_in_time(hand);
    assert_eq!(ended.load(Ordering::SeqCst), 3);
    for (n, fiber) in fibers.into_iter().enumerate() {
        match fiber.join() {
            Ok(()) => assert!(n < 3),
            Err(error) => assert!(n >= 3 && matches!(error, JoinError::NotRun)),
        }
    }
}

/// If no fiber has started, another thread may drive, and the drop does.
// Proves: F11-end.
#[test]
fn another_thread_drives_what_has_not_started() {
    for drives in [true, false] {
        let hand = by_hand();
        let ended = Arc::new(AtomicUsize::new(0));
        let fibers = leave_behind(&hand, 0, 3, &ended);
        assert_eq!(ended.load(Ordering::SeqCst), 0);
        if drives {
            hand.run_until_idle();
            assert_eq!(ended.load(Ordering::SeqCst), 3);
        }
        match drives {
            true => drop(hand),
            false => drop_in_time(hand),
        }
        assert_eq!(ended.load(Ordering::SeqCst), 3);
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
    }
}

/// The driver ends while another thread waits for it to drive.
// Proves: F11-end.
#[test]
fn a_drop_goes_on_when_the_driver_ends() {
    for started in [0, 1] {
        let hand = by_hand();
        let handle = hand.handle();
        let ended = Arc::new(AtomicUsize::new(0));
        let (count, driven) = (Arc::clone(&ended), hand.handle());
        let (bound, is_bound) = channel::bounded(1);
        let (go, gate) = channel::bounded::<()>(0);
        let driver = thread::spawn(move || {
            if started == 1 {
                driven.spawn(patient(&count)).detach();
            }
            driven.run_until_idle();
            driven.spawn(|| ()).detach();
            bound.send(()).unwrap();
            gate.recv().unwrap();
        });
        is_bound.recv().unwrap();
        let dropping = thread::spawn(move || drop(hand));
        eventually("admission is closed", || handle.spawn(|| ()).is_finished());
        thread::sleep(10 * SHORT);
        assert!(!dropping.is_finished());
        go.send(()).unwrap();
        driver.join().unwrap();
        eventually("the drop ends", || dropping.is_finished());
        dropping.join().unwrap();
        assert_eq!(ended.load(Ordering::SeqCst), started);
    }
}

/// Two runtimes of one thread end with it, though each waits for the other.
// Proves: F11-end.
#[test]
fn runtimes_of_one_thread_end_together() {
    let [first, second] = [by_hand(), by_hand()];
    let ended = Arc::new(AtomicUsize::new(0));
    let (one, two, count) = (first.handle(), second.handle(), Arc::clone(&ended));
    let driver = thread::spawn(move || {
        for (here, there) in [(&one, &two), (&two, &one)] {
            let (there, count) = (there.clone(), Arc::clone(&count));
            here.spawn(move || {
                there.run(|| {
                    while pirn::sleep(SHORT).is_ok() {}
                    count.fetch_add(1, Ordering::SeqCst);
                });
            })
            .detach();
        }
        for _ in 0..3 {
            one.run_until_idle();
            two.run_until_idle();
        }
    });
    driver.join().unwrap();
    assert_eq!(ended.load(Ordering::SeqCst), 2);
    drop_in_time(first);
    drop_in_time(second);
}

/// The hooks are called once each time the thread becomes a worker and ceases to be one.
// Proves: F11-end.
#[test]
fn the_stop_hook_is_called_when_the_driver_ends() {
    let calls = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    let (starts, stops) = (Arc::clone(&calls), Arc::clone(&calls));
    let builder = Runtime::builder()
        .workers(0)
        .on_thread_start(move || _ = starts[0].fetch_add(1, Ordering::SeqCst))
        .on_thread_stop(move || _ = stops[1].fetch_add(1, Ordering::SeqCst));
    let hand = builder.build().unwrap();
    for round in 1..4 {
        let handle = hand.handle();
        thread::spawn(move || (0..5).for_each(|_| handle.run(|| ())))
            .join()
            .unwrap();
        for count in &*calls {
            assert_eq!(count.load(Ordering::SeqCst), round);
        }
    }
    drop_in_time(hand);
    assert_eq!(calls[0].load(Ordering::SeqCst), 3);
}

/// Fibers that a shutdown leaves resume when its thread drives again.
// Proves: F11-end.
#[test]
fn a_thread_drives_what_a_shutdown_has_left() {
    let hand = by_hand();
    let handle = hand.handle();
    let stubborn: Vec<_> = (0..3).map(|_| hand.spawn(pirn::park)).collect();
    hand.run_until_idle();
    let left = hand.shutdown(5 * SHORT).unwrap_err();
    assert_eq!(left.fibers().len(), 3);
    for fiber in stubborn {
        fiber.fiber().unpark();
        handle.run_until_idle();
        fiber.join().unwrap();
    }
}

/// Its thread drives meanwhile, and one fiber is always ready.
// Proves: F11-end.
#[test]
fn a_shutdown_by_hand_has_a_limit() {
    let hand = by_hand();
    let handle = hand.handle();
    let over = Arc::new(AtomicBool::new(false));
    let ends = Arc::clone(&over);
    let busy = hand.spawn(move || {
        while !ends.load(Ordering::SeqCst) {
            pirn::yield_now();
        }
    });
    handle.run(|| ());
    let left = hand.shutdown(5 * SHORT).unwrap_err();
    assert_eq!(left.fibers().len(), 1);
    over.store(true, Ordering::SeqCst);
    handle.run_until_idle();
    busy.join().unwrap();
}
