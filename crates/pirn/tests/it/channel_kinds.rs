//! Promises of the kinds of channels beyond those of a bounded one.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pirn::channel::{
    RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError, after, bounded,
    never, oneshot, tick, unbounded,
};
use pirn::time::now;

use crate::executor_kind::{EXECUTOR_KINDS, Jobs, alone};
use crate::util::{LONG, scaled};

const SHORT: Duration = Duration::from_millis(20);

/// Counts how many of its kind are alive.
pub(crate) struct Counted(Arc<AtomicUsize>);

impl Counted {
    pub(crate) fn new(alive: &Arc<AtomicUsize>) -> Self {
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
    for executor in EXECUTOR_KINDS {
        let (tx, rx) = unbounded();
        assert_eq!(
            (tx.capacity(), tx.is_full(), tx.is_empty()),
            (None, false, true)
        );
        let mut jobs = Jobs::new();
        jobs.add(move || (0..100_000).for_each(|i| tx.send(i).unwrap()));
        jobs.add(move || assert!(rx.iter().eq(0..100_000)));
        jobs.run(executor, 2);
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
    for executor in EXECUTOR_KINDS {
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
            jobs.run(executor, 2);
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

// Proves: I22.
#[test]
fn a_weak_receiver_keeps_nothing_open() {
    let (tx, rx) = bounded(1);
    let weak = rx.downgrade();
    tx.send(1).unwrap();
    let revived = weak.clone().upgrade().unwrap();
    drop(rx);
    // The second one keeps the channel open.
    assert_eq!(revived.recv(), Ok(1));
    tx.send(2).unwrap();
    drop(revived);
    assert!(weak.upgrade().is_none());
    assert_eq!(tx.send(3), Err(SendError::Disconnected(3)));
    drop(tx);
    assert!(weak.upgrade().is_none());
}

// Proves: I25.
#[test]
fn time_sends_once_again_and_again_or_never() {
    for executor in EXECUTOR_KINDS {
        let mut jobs = Jobs::new();
        jobs.add(|| {
            let rx = after(LONG);
            assert_eq!((rx.len(), rx.capacity()), (0, Some(1)));
            assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));

            let start = Instant::now();
            let rx = after(SHORT);
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
        jobs.run(executor, 1);
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

/// The one value comes when the time is over, and not later.
// Proves: I25.
#[test]
fn a_timer_channel_keeps_its_time() {
    pirn::runtime::test(|_| {
        let start = now();
        let due = after(SHORT).recv().unwrap();
        let took = [due - start, now() - start];
        assert_eq!(took.map(|took| took.as_millis()), [20, 20]);
    });
}

// Proves: I21.
#[test]
fn a_oneshot_carries_one_value() {
    for executor in EXECUTOR_KINDS {
        for _ in 0..500 {
            let (tx, rx) = oneshot::channel();
            let mut jobs = Jobs::new();
            jobs.add(move || tx.send(7).unwrap());
            jobs.add(move || assert_eq!(rx.recv(), Ok(7)));
            if matches!(executor, crate::executor_kind::ExecutorKind::Fibers) {
                jobs.run(executor, 2);
            } else {
                jobs.run(executor, 1);
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

/// A oneshot channel is empty without a value, and terminated once there will be none.
#[test]
fn a_oneshot_is_empty_or_terminated() {
    fn states(rx: &oneshot::Receiver<u32>) -> (bool, bool) {
        (rx.is_empty(), rx.is_terminated())
    }
    let (tx, mut rx) = oneshot::channel();
    assert_eq!(states(&rx), (true, false));
    tx.send(7).unwrap();
    assert_eq!(states(&rx), (false, false));
    assert_eq!(rx.try_recv(), Ok(7));
    assert_eq!(states(&rx), (true, true));
    let (tx, rx) = oneshot::channel();
    drop(tx);
    assert_eq!(states(&rx), (true, true));
    // Closed before and after a send.
    let (tx, mut rx) = oneshot::channel();
    rx.close();
    assert_eq!((states(&rx), tx.is_closed()), ((true, true), true));
    let (tx, mut rx) = oneshot::channel();
    tx.send(7).unwrap();
    rx.close();
    assert_eq!(states(&rx), (false, false));
    assert_eq!(rx.recv(), Ok(7));
    // The receiver may be faster than the end of its sender.
    for _ in 0..scaled(1_000) {
        let (tx, mut rx) = oneshot::channel();
        std::thread::scope(|threads| {
            threads.spawn(|| tx.send(7).unwrap());
            assert_eq!(rx.recv_timeout(Duration::from_secs(60)), Ok(7));
            assert_eq!(states(&rx), (true, true));
            assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
        });
    }
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

/// A channel takes what an iterator yields, until it is closed or the caller is interrupted.
#[test]
fn a_sender_is_extended() {
    for executor in EXECUTOR_KINDS {
        let (mut tx, rx) = bounded(1);
        let mut jobs = Jobs::new();
        jobs.add(move || tx.extend(0..1_000));
        jobs.add(move || assert!(rx.iter().eq(0..1_000)));
        jobs.run(executor, 2);
    }
    // The iterator is left where the channel ended; the value at hand is dropped.
    let (mut tx, rx) = bounded(4);
    let mut numbers = 0..10;
    tx.extend(numbers.by_ref().take(3));
    rx.close();
    tx.extend(numbers.by_ref());
    assert_eq!((numbers.next(), tx.is_closed()), (Some(4), true));
    assert_eq!(rx.iter().collect::<Vec<_>>(), [0, 1, 2]);
    let (mut tx, rx) = bounded(4);
    pirn::cancel::with_deadline(now(), || tx.extend(0..));
    assert!(rx.is_empty() && !tx.is_closed());
}

/// Errors show their kind and never the value, which need not be `Debug`.
#[test]
fn errors_show_no_value() {
    struct Opaque;
    let (tx, rx) = bounded(1);
    assert!(tx.send(Opaque).is_ok());
    let full = tx.try_send(Opaque).map_err(|error| format!("{error:?}"));
    assert_eq!(full, Err(String::from("Full(..)")));
    let late = tx.send_timeout(Opaque, SHORT);
    assert_eq!(format!("{:?}", late.unwrap_err()), "Timeout(..)");
    let token = pirn::cancel::Token::new();
    token.cancel();
    token.enter(|| {
        let interrupted = "Interrupted(.., Cancelled)";
        let sent = tx.send(Opaque).unwrap_err();
        assert_eq!(format!("{sent:?}"), interrupted);
        let sent = tx.send_timeout(Opaque, SHORT).unwrap_err();
        assert_eq!(format!("{sent:?}"), interrupted);
    });
    drop(rx);
    let closed = "Disconnected(..)";
    assert_eq!(format!("{:?}", tx.send(Opaque).unwrap_err()), closed);
    assert_eq!(format!("{:?}", tx.try_send(Opaque).unwrap_err()), closed);
    let sent = tx.send_timeout(Opaque, SHORT).unwrap_err();
    assert_eq!(format!("{sent:?}"), closed);
    assert_eq!(
        format!("{:?}", tx.force_send(Opaque).err().unwrap()),
        closed
    );
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

/// After a close nothing comes from the clock, and nothing is counted: a loop that takes what is
/// there ends.
// Proves: I25.
#[test]
fn a_closed_timer_channel_is_empty() {
    pirn::runtime::test(|_| {
        for rx in [after(SHORT), tick(SHORT)] {
            pirn::sleep(2 * SHORT).unwrap();
            assert_eq!((rx.len(), rx.is_full()), (1, true));
            rx.close();
            assert_eq!((rx.len(), rx.is_empty(), rx.is_full()), (0, true, false));
            assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
        }
    });
}
