//! Programs on broadcast and watch channels, drawn from the seed of the run.

use std::sync::atomic::{AtomicU64, Ordering};

use fastrand::Rng;
use pirn::channel::broadcast::{self, RecvError, RecvTimeoutError, TryRecvError};
use pirn::channel::watch;
use pirn::future::wait;
use pirn::{scope, time, timeout};

use crate::check;
use crate::drawn::{length, rng};

/// A receiver of a broadcast channel, and the number of the value that it is to receive next.
struct Listener {
    rx: broadcast::Receiver<u64>,
    next: u64,
}

impl Listener {
    /// Takes one step; `sent` values have been sent completely.
    fn step(&mut self, rng: &mut Rng, sent: &AtomicU64) {
        let before = sent.load(Ordering::Relaxed);
        let limit = length(rng);
        let received = match rng.u32(..5) {
            0 => self.rx.try_recv().map_err(|error| match error {
                TryRecvError::Lagged(missed) => Some(missed),
                error => {
                    assert!(error == TryRecvError::Disconnected || before <= self.next);
                    None
                }
            }),
            1 => self.rx.recv_timeout(limit).map_err(|error| match error {
                RecvTimeoutError::Lagged(missed) => Some(missed),
                _ => None,
            }),
            2 => {
                let mut case = self.rx.recv_case();
                let mut select = pirn::select::Select::new();
                select.add(&mut case);
                match select.wait_timeout(limit).unwrap() {
                    Some(_) => case.take().map_err(missed),
                    None => Err(None),
                }
            }
            3 => match timeout(limit, || wait(self.rx.recv_async())) {
                Ok(Ok(received)) => received.map_err(missed),
                _ => Err(None),
            },
            _ => {
                self.rx = self.rx.clone();
                Err(None)
            }
        };
        match received {
            Ok(value) => {
                assert_eq!(value, self.next);
                self.next += 1;
            }
            Err(Some(missed)) => {
                assert!(missed > 0);
                self.next += missed;
            }
            Err(None) => {}
        }
    }

    /// Receives the rest.
    fn drain(&mut self) {
        loop {
            match self.rx.recv() {
                Ok(value) => {
                    assert_eq!(value, self.next);
                    self.next += 1;
                }
                Err(RecvError::Lagged(missed)) => self.next += missed,
                Err(error) => return assert_eq!(error, RecvError::Disconnected),
            }
        }
    }
}

fn missed(error: RecvError) -> Option<u64> {
    match error {
        RecvError::Lagged(missed) => Some(missed),
        _ => None,
    }
}

// Proves: U30-drawn.
#[test]
fn drawn_receivers_account_for_each_value() {
    check(|| {
        let mut rng = rng();
        let (tx, rx) = broadcast::channel(rng.usize(1..4));
        let (total, sent) = (rng.u64(1..6), AtomicU64::new(0));
        scope(|s| {
            for _ in 0..2 {
                let (mut rng, rx, sent) = (rng.fork(), rx.clone(), &sent);
                s.spawn(move || {
                    let mut listener = Listener { rx, next: 0 };
                    (0..4).for_each(|_| listener.step(&mut rng, sent));
                    listener.drain();
                    assert_eq!(listener.next, total);
                });
            }
            for value in 0..total {
                let receivers = tx.send(value).unwrap();
                assert!(receivers >= 3, "{receivers}");
                sent.fetch_add(1, Ordering::Relaxed);
                if rng.bool() {
                    let _ = time::sleep(length(&mut rng));
                }
            }
            drop(tx);
        });
        let mut rest = Listener { rx, next: 0 };
        rest.drain();
        assert_eq!(rest.next, total);
    });
}

/// Takes one step with a watching receiver; returns the value that it has now seen.
fn watch_step(rng: &mut Rng, rx: &mut watch::Receiver<u64>, seen: u64) -> u64 {
    let limit = length(rng);
    match rng.u32(..6) {
        0 => match timeout(limit, || rx.changed()) {
            Ok(Ok(())) => {
                let value = *rx.borrow();
                assert!(value > seen, "{value} again");
                *rx.borrow_and_update()
            }
            _ => seen,
        },
        1 => match timeout(limit, || wait(rx.changed_async())) {
            Ok(Ok(Ok(()))) => *rx.borrow_and_update(),
            _ => seen,
        },
        2 => {
            let mut case = rx.changed_case();
            let mut select = pirn::select::Select::new();
            select.add(&mut case);
            match select.wait_timeout(limit).unwrap() {
                Some(_) if case.take().is_ok() => *rx.borrow_and_update(),
                _ => seen,
            }
        }
        3 => {
            let has_changed = rx.has_changed();
            let value = *rx.borrow();
            assert!(
                !has_changed || value > seen,
                "{value} is no change of {seen}"
            );
            seen
        }
        4 => match timeout(limit, || rx.wait_for(|value| *value > seen).map(|it| *it)) {
            Ok(Ok(value)) => value,
            // It may have looked at the value.
            _ => *rx.borrow_and_update(),
        },
        _ => *rx.borrow_and_update(),
    }
}

// Proves: U30-drawn.
#[test]
fn drawn_watchers_see_each_change_once() {
    check(|| {
        let mut rng = rng();
        let (tx, rx) = watch::channel(0);
        let total = rng.u64(1..5);
        scope(|s| {
            for _ in 0..2 {
                let (mut rng, mut rx) = (rng.fork(), rx.clone());
                s.spawn(move || {
                    let mut seen = 0;
                    for _ in 0..4 {
                        let value = watch_step(&mut rng, &mut rx, seen);
                        assert!(value >= seen, "{value} after {seen}");
                        seen = value;
                    }
                    while rx.changed().is_ok() {
                        let value = *rx.borrow_and_update();
                        assert!(value > seen, "{value} after {seen}");
                        seen = value;
                    }
                    assert_eq!(seen, total);
                });
            }
            drop(rx);
            for value in 1..=total {
                match rng.bool() {
                    true => assert!(tx.send(value).is_ok()),
                    false => tx.modify(|it| {
                        pirn_sim::point();
                        *it = value;
                    }),
                }
                if rng.bool() {
                    let _ = time::sleep(length(&mut rng));
                }
            }
            drop(tx);
        });
    });
}
