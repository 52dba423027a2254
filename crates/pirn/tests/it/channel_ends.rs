//! How channels end, and where values go: what each side sees, and that each value is dropped once.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pirn::channel::{
    Receiver, RecvError, SendError, Sender, TryRecvError, TrySendError, bounded, never,
};
use pirn::select::Select;

use crate::executor_kind::{EXECUTOR_KINDS, Jobs, alone, until};
use crate::futures_fixture::{Wakes, poll_once};
use crate::util::{Counted, Drops};

/// Receivers that wait, and several closers at once: one close counts, and each receiver is
/// notified once.
// Proves: G7, I11.
#[test]
fn closers_race_and_all_are_notified_once() {
    const RECEIVERS: usize = 24;
    for workers in [1, 2, 4, 8] {
        for executor in EXECUTOR_KINDS {
            for capacity in [0, 1] {
                let (tx, rx) = bounded::<u8>(capacity);
                let (waiting, told) = (AtomicUsize::new(0), AtomicUsize::new(0));
                let closes = AtomicUsize::new(0);
                let mut jobs = Jobs::new();
                for _ in 0..RECEIVERS {
                    jobs.add(|| {
                        waiting.fetch_add(1, Ordering::SeqCst);
                        assert_eq!(rx.recv(), Err(RecvError::Disconnected));
                        told.fetch_add(1, Ordering::SeqCst);
                    });
                }
                for closer in 0..4 {
                    let (tx, rx, waiting, closes) = (&tx, &rx, &waiting, &closes);
                    jobs.add(move || {
                        until(waiting, RECEIVERS);
                        let closed = match closer {
                            0 => tx.close(),
                            1 => rx.close(),
                            2 => tx.close_with("a sender's reason"),
                            _ => rx.close_with("a receiver's reason"),
                        };
                        closes.fetch_add(usize::from(closed), Ordering::SeqCst);
                    });
                }
                jobs.run(executor, workers);
                assert_eq!((closes.into_inner(), told.into_inner()), (1, RECEIVERS));
            }
        }
    }
}

/// Observations on a channel that has ended while it held one value.
#[derive(Debug, PartialEq)]
struct Sight {
    /// Of a remaining sender.
    sending: Option<TrySendError<()>>,
    /// Of a remaining receiver: first and second receive.
    receiving: Option<[Result<(), TryRecvError>; 2]>,
    reason: Option<String>,
    /// Values that had been dropped before the first receive.
    dropped: usize,
    /// Another close counts.
    can_close: bool,
}

/// Ends a channel that holds one value, in the given way, and returns the observations.
fn sight(end: impl FnOnce(&mut Ends)) -> Sight {
    let drops = Drops::default();
    let (tx, rx) = bounded(2);
    tx.send(drops.one()).unwrap();
    let mut ends = (Some(tx), Some(rx));
    end(&mut ends);
    let (tx, rx) = ends;
    let dropped = drops.count();
    let said = [
        tx.as_ref().and_then(Sender::close_reason),
        rx.as_ref().and_then(Receiver::close_reason),
    ];
    let said: Vec<_> = said
        .into_iter()
        .flatten()
        .map(|why| why.to_string())
        .collect();
    assert!(said.iter().all(|why| *why == said[0]), "{said:?}");
    let seen = Sight {
        sending: tx
            .as_ref()
            .map(|tx| tx.try_send(drops.one()).unwrap_err().reason()),
        receiving: rx
            .as_ref()
            .map(|rx| [0, 1].map(|_| rx.try_recv().map(drop))),
        reason: said.into_iter().next(),
        dropped,
        can_close: tx.as_ref().is_some_and(Sender::close)
            || rx.as_ref().is_some_and(Receiver::close),
    };
    let refused = usize::from(tx.is_some());
    drop((tx, rx));
    assert_eq!(drops.count(), 1 + refused, "every value is dropped once");
    seen
}

type Ends = (Option<Sender<Counted>>, Option<Receiver<Counted>>);

/// Five ways to end, and what each side sees of them.
// Proves: I14.
#[test]
fn each_side_sees_how_a_channel_ended() {
    let refused = Some(TrySendError::Disconnected(()));
    let drained = Some([Ok(()), Err(TryRecvError::Disconnected)]);
    let closed = Sight {
        sending: refused,
        receiving: drained,
        reason: None,
        dropped: 0,
        can_close: false,
    };
    for close in [
        |ends: &Ends| ends.0.as_ref().unwrap().close(),
        |ends: &Ends| ends.1.as_ref().unwrap().close(),
    ] {
        let seen = sight(|ends| assert!(close(ends)));
        assert_eq!(seen, closed, "closed");
    }
    let seen = sight(|ends| {
        let (tx, rx) = ends;
        assert!(tx.as_ref().unwrap().close_with("why"));
        assert!(!rx.as_ref().unwrap().close_with("later"));
    });
    let reason = Some("why".to_owned());
    assert_eq!(seen, Sight { reason, ..closed }, "closed with a reason");

    let nothing = Sight {
        sending: None,
        receiving: None,
        reason: None,
        dropped: 0,
        can_close: false,
    };
    let seen = sight(|ends| drop(ends.0.take()));
    let receiving = drained;
    assert_eq!(
        seen,
        Sight {
            receiving,
            ..nothing
        },
        "no sender"
    );

    let seen = sight(|ends| drop(ends.1.take()));
    let expected = Sight {
        sending: refused,
        receiving: None,
        reason: None,
        dropped: 1,
        can_close: false,
    };
    assert_eq!(seen, expected, "no receiver");

    let seen = sight(|ends| {
        let weak = ends.0.as_ref().unwrap().downgrade();
        drop(ends.0.take());
        assert!(weak.upgrade().is_none());
        drop(ends.1.take());
    });
    let expected = Sight {
        sending: None,
        receiving: None,
        reason: None,
        dropped: 1,
        can_close: false,
    };
    assert_eq!(seen, expected, "neither");
}

/// A full channel makes its sender wait, or the newest value is dropped, or the oldest.
// Proves: I15.
#[test]
fn a_full_channel_waits_or_drops_the_newest_or_the_oldest() {
    alone(|| {
        let (tx, rx) = bounded(2);
        let sender = pirn::spawn(move || (0..10).for_each(|i| tx.send(i).unwrap()));
        pirn::yield_now();
        assert!(rx.is_full() && !sender.is_finished());
        assert!(rx.into_iter().eq(0..10));
        sender.join().unwrap();
    });

    let (tx, rx) = bounded(2);
    let newest: Vec<_> = (0..10).filter_map(|i| tx.try_send(i).err()).collect();
    assert!(newest.into_iter().eq((2..10).map(TrySendError::Full)));
    assert!(rx.try_iter().eq(0..2));

    let oldest: Vec<_> = (0..10).filter_map(|i| tx.force_send(i).unwrap()).collect();
    assert!(oldest.into_iter().eq(0..8));
    assert!(rx.try_iter().eq(8..10));
}

/// A value that is not received is returned or dropped, once, in every outcome.
// Proves: I23.
#[test]
fn every_way_a_value_can_go_drops_it_once() {
    let drops = Drops::default();
    let made = AtomicUsize::new(0);
    let one = || {
        made.fetch_add(1, Ordering::SeqCst);
        drops.one()
    };
    let balanced = |what: &str| {
        assert_eq!(drops.count(), made.load(Ordering::SeqCst), "{what}");
    };
    let moment = Duration::from_millis(1);

    let (tx, rx) = bounded(1);
    tx.send(one()).unwrap();
    assert!(tx.try_send(one()).is_err_and(|back| back.is_full()));
    assert!(
        tx.send_timeout(one(), moment)
            .is_err_and(|back| back.is_timeout())
    );
    assert!(
        tx.force_send(one())
            .is_ok_and(|displaced| displaced.is_some())
    );
    pirn::select! {
        send(tx, one()) -> _ => panic!("there is no room"),
        default => {}
    }
    drop(tx.send_case(one()));
    assert!(tx.send_case(one()).reclaim().is_some());
    let mut armed = tx.send_case(one());
    armed.rearm(one());
    drop(armed);
    drop(rx.try_recv());
    balanced("full");

    let mut case = rx.recv_case();
    tx.send(one()).unwrap();
    let mut select = Select::new();
    select.add(&mut case);
    assert_eq!(select.wait(), Ok(0));
    drop(case);
    balanced("won and not taken");

    alone(|| {
        let (tx, rx) = bounded(0);
        let (value, kept) = (one(), &rx);
        pirn::scope(|s| {
            let sender = s.spawn(|| {
                let back = tx.send(value).map_err(|back| back.reason());
                let interrupt = pirn::Interrupt::Cancelled;
                assert_eq!(back, Err(SendError::Interrupted((), interrupt)));
            });
            pirn::yield_now();
            sender.cancel();
            sender.join().unwrap();
            assert!(kept.try_recv().is_err());
        });
    });
    balanced("interrupted");

    let mut many: VecDeque<_> = (0..3).map(|_| one()).collect();
    let mut taken = Vec::new();
    let (tx, rx) = bounded(8);
    tx.send_many(&mut many).unwrap();
    assert_eq!(rx.recv_many(&mut taken, 2), Ok(2));
    drop(taken);
    rx.close();
    many.extend((0..2).map(|_| one()));
    assert!(tx.send_many(&mut many).is_err());
    assert_eq!(many.len(), 2);
    drop(many);
    assert!(tx.send(one()).is_err() && tx.force_send(one()).is_err());
    drop(rx);
    balanced("closed, and gone with the last receiver");

    drop(never::<Counted>());
    let (tx, rx) = bounded(4);
    (0..3).for_each(|_| tx.send(one()).unwrap());
    drop(tx);
    drop(rx);
    balanced("gone with both ends");
}

/// A select that waits until an operation would not wait resumes when the channel ends, on either
/// side and in any way.
// Proves: I11.
#[test]
fn an_end_makes_both_sides_ready() {
    let ends: [fn(Sender<u8>, Receiver<u8>); 4] = [
        |tx, _rx| assert!(tx.close()),
        |_tx, rx| assert!(rx.close()),
        |tx, _| drop(tx),
        |_, rx| drop(rx),
    ];
    for (way, end) in ends.into_iter().enumerate() {
        for sends in [false, true] {
            // The last handle of a side is dropped, so nothing waits there.
            if (way, sends) == (2, true) || (way, sends) == (3, false) {
                continue;
            }
            let ready = alone(move || {
                let (tx, rx) = bounded(1);
                if sends {
                    tx.send(1).unwrap();
                }
                let (watched_tx, watched_rx) = match (way, sends) {
                    (3, _) | (0 | 1, true) => (Some(tx.clone()), None),
                    _ => (None, Some(rx.clone())),
                };
                let waits = pirn::spawn(move || {
                    let mut select = Select::new();
                    let mut case = match (&watched_tx, &watched_rx) {
                        (Some(tx), _) => tx.ready_case(),
                        (_, Some(rx)) => rx.ready_case(),
                        _ => unreachable!("one of them"),
                    };
                    select.add(&mut case);
                    select.wait()
                });
                pirn::yield_now();
                pirn::yield_now();
                assert!(!waits.is_finished());
                end(tx, rx);
                // On its only worker it runs before so many turns of the caller are over.
                (0..100).for_each(|_| pirn::yield_now());
                let is_ready = waits.is_finished();
                waits.cancel();
                is_ready.then(|| waits.join())
            });
            assert!(
                matches!(ready, Some(Ok(Ok(0)))),
                "way {way}, sends: {sends}: {ready:?}"
            );
        }
    }
}

/// A value that a dropped receive has given back, beyond the capacity, makes no room when it is
/// received: watchers of sends are not notified.
// Proves: I11.
#[test]
fn a_value_beyond_the_capacity_makes_no_room() {
    alone(|| {
        let (tx, rx) = bounded(0);
        let mut dropped = Box::pin(rx.recv_async());
        let wakes = Arc::new(Wakes::default());
        assert!(poll_once(dropped.as_mut(), &wakes).is_pending());
        tx.try_send(1).unwrap();
        drop(dropped);
        let other = tx.clone();
        let watcher = pirn::spawn(move || {
            let mut possible = other.ready_case();
            let mut select = Select::new();
            select.add(&mut possible);
            select.wait()
        });
        (0..10).for_each(|_| pirn::yield_now());
        assert_eq!(rx.try_recv(), Ok(1));
        (0..10).for_each(|_| pirn::yield_now());
        assert_eq!(tx.try_send(2), Err(TrySendError::Full(2)));
        assert!(!watcher.is_finished(), "it is notified");
        watcher.cancel();
        assert!(watcher.join().unwrap().is_err());
    });
}
