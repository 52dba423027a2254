//! Promises of the kinds of channels beyond those of a bounded one.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pirn::channel::{
    Receiver, RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError, after,
    bounded, broadcast, never, oneshot, ordered, tick, unbounded, watch,
};

use crate::executor_kind::{CREWS, Jobs, alone};
use crate::util::scaled;

const SHORT: Duration = Duration::from_millis(20);

/// Counts how many of its kind are alive.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(alive: &Arc<AtomicUsize>) -> Self {
        alive.fetch_add(1, Ordering::SeqCst);
        Counted(Arc::clone(alive))
    }
}

impl Clone for Counted {
    fn clone(&self) -> Self {
        Counted::new(&self.0)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

// Proves: I3.
#[test]
fn an_unbounded_channel_takes_in_everything_and_keeps_its_order() {
    for crew in CREWS {
        let (tx, rx) = unbounded();
        assert_eq!(
            (tx.capacity(), tx.is_full(), tx.is_empty()),
            (None, false, true)
        );
        let mut jobs = Jobs::new();
        jobs.add(move || (0..100_000).for_each(|i| tx.send(i).unwrap()));
        jobs.add(move || assert!(rx.iter().eq(0..100_000)));
        jobs.run(crew, 2);
    }
    let (tx, rx) = unbounded();
    (0..1_000_000).for_each(|i| tx.send(i).unwrap());
    assert_eq!(rx.len(), 1_000_000);
    tx.close();
    assert!(rx.into_iter().eq(0..1_000_000));
}

// Proves: I15.
#[test]
fn forcing_displaces_the_oldest() {
    let (tx, rx) = bounded(2);
    assert_eq!(tx.force_send(1), Ok(None));
    assert_eq!(tx.force_send(2), Ok(None));
    assert_eq!(tx.force_send(3), Ok(Some(1)));
    assert_eq!(rx.len(), 2);
    assert_eq!((rx.recv(), rx.recv()), (Ok(2), Ok(3)));
    rx.close();
    assert_eq!(tx.force_send(4), Err(SendError::Disconnected(4)));
    let (tx, rx) = bounded(0);
    assert_eq!(tx.force_send(5), Ok(Some(5)));
    alone(move || {
        let waiting = pirn::spawn(move || rx.recv());
        pirn::yield_now();
        assert_eq!(tx.force_send(6), Ok(None));
        assert_eq!(waiting.join().unwrap(), Ok(6));
    });
}

// Proves: I24.
#[test]
fn many_are_sent_and_received_together() {
    const ALL: usize = scaled(10_000);
    const BATCH: usize = ALL / 10;
    for crew in CREWS {
        for capacity in [0, 1, 3, 100] {
            let (tx, rx) = bounded(capacity);
            let mut jobs = Jobs::new();
            jobs.add(move || {
                for start in (0..ALL).step_by(BATCH) {
                    let mut values: VecDeque<_> = (start..start + BATCH).collect();
                    tx.send_many(&mut values).unwrap();
                    assert!(values.is_empty());
                }
            });
            jobs.add(move || {
                let mut received = Vec::new();
                while let Ok(count) = rx.recv_many(&mut received, 77) {
                    assert!((1..=77).contains(&count));
                }
                assert!(received.into_iter().eq(0..ALL));
            });
            jobs.run(crew, 2);
        }
    }
    let (tx, rx) = bounded(3);
    let mut values = VecDeque::from([1, 2]);
    tx.send_many(&mut values).unwrap();
    tx.close();
    let mut values = VecDeque::from([3, 4]);
    assert_eq!(tx.send_many(&mut values), Err(SendError::Disconnected(())));
    assert_eq!(values, [3, 4]);
    let mut out = Vec::new();
    assert_eq!(rx.recv_many(&mut out, 0), Ok(0));
    assert_eq!(rx.recv_many(&mut out, usize::MAX), Ok(2));
    assert_eq!(rx.recv_many(&mut out, 1), Err(RecvError::Disconnected));
}

// Proves: I14.
#[test]
fn a_close_can_say_why() {
    let (tx, rx) = bounded::<u8>(1);
    assert!(tx.close_reason().is_none());
    assert!(rx.close_with("the disk is full"));
    assert!(!tx.close_with("too late"));
    for reason in [tx.close_reason(), rx.close_reason()] {
        assert_eq!(reason.unwrap().to_string(), "the disk is full");
    }
    assert_eq!(tx.try_send(1), Err(TrySendError::Disconnected(1)));
    assert_eq!(rx.recv(), Err(RecvError::Disconnected));
}

// Proves: I22.
#[test]
fn a_weak_sender_keeps_nothing_open() {
    let (tx, rx) = bounded(1);
    let weak = tx.downgrade();
    weak.upgrade().unwrap().send(1).unwrap();
    drop(tx);
    assert!(weak.upgrade().is_none());
    assert_eq!(
        (rx.recv(), rx.recv()),
        (Ok(1), Err(RecvError::Disconnected))
    );
}

// Proves: I25.
#[test]
fn time_sends_once_again_and_again_or_never() {
    for crew in CREWS {
        let mut jobs = Jobs::new();
        jobs.add(|| {
            let start = Instant::now();
            let rx = after(SHORT);
            assert_eq!((rx.len(), rx.capacity()), (0, Some(1)));
            assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
            assert!(rx.recv().unwrap() >= start + SHORT);
            assert!(start.elapsed() >= SHORT);
            assert_eq!(rx.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));

            let start = Instant::now();
            let rx = tick(SHORT);
            let times: Vec<_> = rx.iter().take(3).collect();
            assert!(start.elapsed() >= 3 * SHORT);
            assert!(times.windows(2).all(|two| two[1] - two[0] >= SHORT));

            let rx = never::<u8>();
            assert_eq!(rx.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
            assert!(!rx.is_closed());
        });
        jobs.run(crew, 1);
    }
    let rx = after(Duration::MAX);
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    let closer = rx.clone();
    pirn::scope(|s| {
        let waiting = s.spawn(|| rx.recv());
        s.spawn(move || closer.close());
        assert_eq!(waiting.join().unwrap(), Err(RecvError::Disconnected));
    });
}

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
    assert_eq!(
        work.spawn(|| 4).map_err(|e| e.reason()),
        Err(SendError::Disconnected(()))
    );
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

// Proves: I21.
#[test]
fn a_oneshot_carries_one_value() {
    for crew in CREWS {
        for _ in 0..500 {
            let (tx, rx) = oneshot::channel();
            let mut jobs = Jobs::new();
            jobs.add(move || tx.send(7).unwrap());
            jobs.add(move || assert_eq!(rx.recv(), Ok(7)));
            if matches!(crew, crate::executor_kind::Crew::Fibers) {
                jobs.run(crew, 2);
            } else {
                jobs.run(crew, 1);
                break;
            }
        }
    }
    let (tx, mut rx) = oneshot::channel::<Counted>();
    assert!(matches!(rx.try_recv(), Err(TryRecvError::Empty)));
    assert!(matches!(
        rx.recv_timeout(SHORT),
        Err(RecvTimeoutError::Timeout)
    ));
    assert!(!tx.is_closed());
    rx.close();
    assert!(tx.is_closed());
    let alive = Arc::new(AtomicUsize::new(0));
    assert!(tx.send(Counted::new(&alive)).is_err());
    let (tx, rx) = oneshot::channel();
    assert!(tx.send(Counted::new(&alive)).is_ok());
    assert_eq!(alive.load(Ordering::SeqCst), 1);
    drop(rx);
    assert_eq!(alive.load(Ordering::SeqCst), 0);
}

// Proves: J5.
#[test]
fn a_oneshot_is_a_case() {
    let (tx, rx) = oneshot::channel();
    let (other, waits) = oneshot::channel::<()>();
    let sender = pirn::spawn(move || tx.send("now").unwrap());
    pirn::select! {
        recv(waits) -> _ => panic!("nothing was sent"),
        recv(rx) -> value => assert_eq!(value, Ok("now")),
    }
    sender.join().unwrap();
    drop(other);
    pirn::select! {
        recv(waits) -> value => assert_eq!(value, Err(RecvError::Disconnected)),
    }
}

/// A value is sent while a select begins to wait for it: the select receives it, also if it looks
/// between the send and the end of the sender.
#[test]
fn a_oneshot_is_sent_while_a_select_begins_to_wait() {
    let rounds = scaled(20_000);
    let (taken, turn) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let next = Mutex::new(None);
    let spin = |times: usize| (0..times).for_each(|_| std::hint::spin_loop());
    let reaches = |word: &AtomicUsize, round: usize| {
        while word.load(Ordering::SeqCst) < round {
            for _ in 0..100 {
                if word.load(Ordering::SeqCst) >= round {
                    return;
                }
                std::hint::spin_loop();
            }
            std::thread::yield_now();
        }
    };
    let lost = std::thread::scope(|threads| {
        threads.spawn(|| {
            for round in 1..=rounds {
                reaches(&turn, 2 * round - 1);
                let tx: oneshot::Sender<usize> = next.lock().unwrap().take().unwrap();
                taken.store(round, Ordering::SeqCst);
                reaches(&turn, 2 * round);
                spin(round % 32);
                let _ = tx.send(round);
            }
        });
        let mut lost = 0;
        for round in 1..=rounds {
            let (tx, rx) = oneshot::channel();
            *next.lock().unwrap() = Some(tx);
            turn.store(2 * round - 1, Ordering::SeqCst);
            reaches(&taken, round);
            // Both threads run now. With both pauses, each order of their steps comes up.
            turn.store(2 * round, Ordering::SeqCst);
            spin(round / 32 % 32);
            pirn::select! {
                recv(rx) -> value => lost += usize::from(value != Ok(round)),
            }
        }
        lost
    });
    assert_eq!(lost, 0, "of {rounds}");
}

// Proves: I21.
#[test]
fn a_broadcast_reaches_all_receivers() {
    for crew in CREWS {
        let (tx, first) = broadcast::channel(16);
        let mut jobs = Jobs::new();
        let all: Vec<_> = (0..4).map(|_| first.clone()).collect();
        drop(first);
        for mut rx in all {
            jobs.add(move || {
                let (mut received, mut missed, mut last) = (0, 0, 0);
                loop {
                    match rx.recv() {
                        Ok(value) => {
                            assert!(value > last, "{value} after {last}");
                            last = value;
                            received += 1;
                        }
                        Err(broadcast::RecvError::Lagged(n)) => missed += n,
                        Err(broadcast::RecvError::Disconnected) => break,
                        Err(error) => panic!("{error}"),
                    }
                }
                assert_eq!((received + missed, last), (10_000, 10_000));
            });
        }
        jobs.add(move || {
            (1..=10_000_u64).for_each(|i| assert_eq!(tx.send(i), Ok(4)));
        });
        jobs.run(crew, 2);
    }
}

// Proves: I21.
#[test]
fn a_broadcast_drops_what_all_have_received() {
    let alive = Arc::new(AtomicUsize::new(0));
    let (tx, mut one) = broadcast::channel(8);
    let mut two = tx.subscribe();
    let three = one.clone();
    assert_eq!(tx.receiver_count(), 3);
    for _ in 0..5 {
        assert!(tx.send(Counted::new(&alive)).is_ok());
    }
    assert_eq!((alive.load(Ordering::SeqCst), one.len()), (5, 5));
    (0..5).for_each(|_| drop(one.recv().unwrap()));
    assert_eq!(alive.load(Ordering::SeqCst), 5);
    (0..2).for_each(|_| drop(two.recv().unwrap()));
    drop(three);
    assert_eq!((alive.load(Ordering::SeqCst), two.len()), (3, 3));
    drop(two);
    assert_eq!(alive.load(Ordering::SeqCst), 0);
    drop(one);
    assert!(matches!(
        tx.send(Counted::new(&alive)),
        Err(SendError::Disconnected(_))
    ));
}

/// A broadcast ends with its last sender and not before, or when it is closed; waiting receivers
/// are notified.
#[test]
fn a_broadcast_ends_with_its_last_sender() {
    let ends: [fn(broadcast::Sender<u8>); 2] = [drop, |tx| assert!(tx.close())];
    for end in ends {
        let (tx, mut rx) = broadcast::channel(2);
        drop(tx.clone());
        assert_eq!(tx.send(1), Ok(1));
        let received = alone(move || {
            let waits = pirn::spawn(move || [rx.recv(), rx.recv()]);
            (0..3).for_each(|_| pirn::yield_now());
            end(tx);
            (0..100).for_each(|_| pirn::yield_now());
            waits.cancel();
            waits.join().unwrap()
        });
        let over = Err(broadcast::RecvError::Disconnected);
        assert_eq!(received, [Ok(1), over]);
    }
}

// Proves: J5.
#[test]
fn a_broadcast_is_a_case() {
    let (tx, mut rx) = broadcast::channel(1);
    let sender = pirn::spawn(move || {
        tx.send(1).unwrap();
        tx.send(2).unwrap();
    });
    let mut seen = Vec::new();
    loop {
        pirn::select! {
            case(rx.recv_case()) -> value => match value {
                Ok(value) => seen.push(value),
                Err(broadcast::RecvError::Lagged(n)) => assert_eq!(n, 1),
                Err(_) => break,
            },
            after(Duration::from_secs(60)) => panic!("late"),
            cancelled(_) => panic!("not cancelled"),
        }
    }
    assert_eq!(seen.last(), Some(&2));
    sender.join().unwrap();
}

/// The drop of a watched value's last sender is reported to waiting receivers.
#[test]
fn a_watched_value_ends_with_its_last_sender() {
    let (tx, mut rx) = watch::channel(0);
    let ended = alone(move || {
        let waits = pirn::spawn(move || rx.changed().unwrap_err());
        drop(tx.clone());
        (0..10).for_each(|_| pirn::yield_now());
        assert!(!waits.is_finished());
        drop(tx);
        (0..100).for_each(|_| pirn::yield_now());
        waits.cancel();
        waits.join().unwrap()
    });
    assert_eq!(ended, RecvError::Disconnected);
}

// Proves: I3, I21.
#[test]
fn a_watched_value_is_the_latest() {
    for crew in CREWS {
        let (tx, rx) = watch::channel(0);
        let mut jobs = Jobs::new();
        for mut rx in [rx.clone(), rx.clone(), rx] {
            jobs.add(move || {
                let mut last = 0;
                while rx.changed().is_ok() {
                    let value = *rx.borrow_and_update();
                    assert!(value >= last, "{value} after {last}");
                    last = value;
                }
                assert_eq!((last, rx.has_changed()), (2_000, false));
            });
        }
        jobs.add(move || {
            (1..=1_000).for_each(|i| tx.send(2 * i - 1).unwrap());
            tx.modify(|value| *value += 1);
        });
        jobs.run(crew, 2);
    }
}

// Proves: I21.
#[test]
fn a_watched_value_is_refused_without_watchers() {
    let alive = Arc::new(AtomicUsize::new(0));
    let (tx, rx) = watch::channel(Counted::new(&alive));
    assert_eq!(tx.receiver_count(), 1);
    drop(rx);
    assert!(tx.send(Counted::new(&alive)).is_err());
    let rx = tx.subscribe();
    assert!(!rx.has_changed());
    tx.send(Counted::new(&alive)).unwrap();
    assert!(rx.has_changed());
    assert_eq!(alive.load(Ordering::SeqCst), 1);
    drop((tx, rx));
    assert_eq!(alive.load(Ordering::SeqCst), 0);
}

// Proves: J5.
#[test]
fn a_change_is_a_case() {
    let (tx, mut rx) = watch::channel(0);
    let changer = pirn::spawn(move || tx.send(5).unwrap());
    let nothing = never::<()>();
    pirn::select! {
        recv(nothing) -> _ => panic!("nothing comes"),
        case(rx.changed_case()) -> changed => changed.unwrap(),
    }
    assert_eq!(*rx.borrow(), 5);
    changer.join().unwrap();
    pirn::select! {
        recv(nothing) -> _ => panic!("nothing comes"),
        case(rx.changed_case()) -> changed => assert_eq!(changed, Err(RecvError::Disconnected)),
    }
}
