//! Ordered work: results come in the order of submission.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use pirn::channel::{Receiver, RecvError, SendError, bounded, ordered};

use crate::channel_kinds::Counted;
use crate::executor_kind::alone;

// Proves: I17.
#[test]
fn results_come_in_the_order_of_submission() {
    for workers in [1, 2, 4, 8] {
        let runtime = pirn::Runtime::builder().workers(workers).build().unwrap();
        runtime.run(|| {
            let running = Arc::new(AtomicUsize::new(0));
            let (work, results) = ordered(4);
            let submitter = pirn::spawn(move || {
                for n in 0..500_u64 {
                    let running = Arc::clone(&running);
                    work.spawn(move || {
                        let now = running.fetch_add(1, Ordering::SeqCst);
                        assert!(now < 4, "{now} others under way");
                        for _ in 0..n * 7 % 5 {
                            pirn::yield_now();
                        }
                        running.fetch_sub(1, Ordering::SeqCst);
                        n
                    })
                    .unwrap();
                }
            });
            let all: Vec<_> = results.iter().map(Result::unwrap).collect();
            assert!(all.into_iter().eq(0..500));
            submitter.join().unwrap();
        });
    }
}

/// A result that goes directly to a waiting receiver frees a place, as a buffered one does.
#[test]
fn a_result_that_is_handed_over_lets_the_next_be_submitted() {
    for capacity in [1, 2, 3] {
        alone(move || {
            let (work, results) = ordered(capacity);
            let receiver =
                pirn::spawn(move || results.iter().map(Result::unwrap).sum::<u32>());
            // The receiver waits before the first result exists.
            pirn::yield_now();
            for _ in 0..10 {
                work.spawn(|| 1).unwrap();
            }
            drop(work);
            assert_eq!(receiver.join().unwrap(), 10);
        });
    }
}

// Proves: I17.
#[test]
fn a_panic_keeps_its_place_in_line() {
    let (work, results) = ordered(3);
    work.spawn(|| 1).unwrap();
    work.spawn(|| panic!("planned")).unwrap();
    work.spawn(|| 3).unwrap();
    assert!(work.close());
    let refused = work.spawn(|| 4).unwrap_err();
    assert_eq!(refused.reason(), SendError::Disconnected(()));
    assert_eq!(refused.into_inner()(), 4);
    assert_eq!(results.recv().unwrap().unwrap(), 1);
    assert!(results.recv().unwrap().unwrap_err().is_panic());
    assert_eq!(results.recv().unwrap().unwrap(), 3);
    assert!(matches!(results.recv(), Err(RecvError::Disconnected)));
}

// Proves: I17.
#[test]
fn work_without_a_receiver_is_refused_and_dropped() {
    let alive = Arc::new(AtomicUsize::new(0));
    let (work, results) = ordered(2);
    for _ in 0..2 {
        let counted = Counted::new(&alive);
        work.spawn(move || counted).unwrap();
    }
    drop(results);
    assert!(work.spawn(|| unreachable!("refused")).is_err());
    drop(work);
    crate::util::eventually("everything is dropped", || {
        alive.load(Ordering::SeqCst) == 0
    });
}

/// Results without a receiver are dropped one after the other, in the order of submission.
#[test]
fn results_without_a_receiver_are_dropped_in_order() {
    /// Logs its drop. The first one waits in it, and logs its end too.
    struct Logs {
        number: usize,
        log: Arc<Mutex<Vec<usize>>>,
        gate: Option<Receiver<()>>,
    }
    impl Drop for Logs {
        fn drop(&mut self) {
            self.log.lock().unwrap().push(self.number);
            if let Some(gate) = &self.gate {
                let _ = gate.recv();
                self.log.lock().unwrap().push(self.number);
            }
        }
    }
    alone(|| {
        let log = Arc::new(Mutex::new(Vec::new()));
        let logged = || log.lock().unwrap().clone();
        let (open, gate) = bounded(0);
        let (work, results) = ordered(2);
        for (number, gate) in [(1, Some(gate)), (2, None)] {
            let log = Arc::clone(&log);
            let job = move || {
                // The second one ends while the first result is being dropped.
                while log.lock().unwrap().len() + 1 < number {
                    pirn::yield_now();
                }
                Logs { number, log, gate }
            };
            work.spawn(job).unwrap();
        }
        drop(results);
        (0..20).for_each(|_| pirn::yield_now());
        assert_eq!(logged(), [1]);
        drop(open);
        while logged().len() < 3 {
            pirn::yield_now();
        }
        assert_eq!(logged(), [1, 1, 2]);
    });
}
