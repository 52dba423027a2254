//! Players of channels and selects that are cancelled at random: each sent value has been received
//! or is in the channel, and is dropped once.

use std::collections::VecDeque;
use std::time::Duration;

use pirn::Interrupt;
use pirn::channel::{
    self, Receiver, RecvTimeoutError, Sender, broadcast, oneshot, watch,
};
use pirn::select::Select;

use crate::cancel_fuzz::{Count, Game, again_and_again};
use crate::util::{Counted, Dice, Drops};

/// A channel of any capacity; `None` is unbounded.
fn open<T>(capacity: Option<usize>) -> (Sender<T>, Receiver<T>) {
    capacity.map_or_else(channel::unbounded, channel::bounded)
}

const CAPACITIES: [Option<usize>; 5] = [Some(0), Some(1), Some(2), Some(7), None];

/// Sends in every way until interrupted.
fn send_on(tx: &Sender<Counted>, made: &Count, sent: &Count, drops: &Drops, seed: usize) {
    let mut dice = Dice(seed as u64);
    loop {
        made.one();
        let value = drops.one();
        match dice.below(3) {
            0 => match tx.send(value) {
                Ok(()) => _ = sent.one(),
                Err(_) => break,
            },
            1 => match tx.send_timeout(value, Duration::from_micros(30)) {
                Ok(()) => _ = sent.one(),
                Err(error) if error.is_timeout() => {}
                Err(_) => break,
            },
            _ => {
                made.one();
                let mut values = VecDeque::from([value, drops.one()]);
                let ended = tx.send_many(&mut values);
                sent.add(2 - values.len() as u64);
                if ended.is_err() {
                    break;
                }
            }
        }
    }
}

/// Receives in every way until interrupted.
fn receive_on(rx: &Receiver<Counted>, received: &Count, seed: usize) {
    let mut dice = Dice(seed as u64);
    let mut many = Vec::new();
    loop {
        let ended = match dice.below(3) {
            0 => rx.recv().map(|_| received.one()).is_err(),
            1 => match rx.recv_timeout(Duration::from_micros(30)) {
                Ok(_) => {
                    received.one();
                    false
                }
                Err(error) => error != RecvTimeoutError::Timeout,
            },
            _ => match rx.recv_many(&mut many, 3) {
                Ok(n) => {
                    received.add(n as u64);
                    many.clear();
                    false
                }
                Err(_) => true,
            },
        };
        if ended {
            break;
        }
    }
}

/// Senders and receivers of one channel.
// Proves: E15, F9.
#[test]
fn sends_and_receives() {
    for capacity in CAPACITIES {
        again_and_again(50, |runtime, seed| {
            let drops = Drops::default();
            let (made, sent, received) =
                (Count::default(), Count::default(), Count::default());
            let (tx, rx) = open(capacity);
            let mut game = Game::new(seed);
            for player in 0..3 {
                let seed = seed * 8 + player;
                let (tx, made) = (tx.clone(), &made);
                let (sent, received, drops) = (&sent, &received, &drops);
                game.doomed(move || send_on(&tx, made, sent, drops, seed));
                let receiver = rx.clone();
                game.doomed(move || receive_on(&receiver, received, seed));
            }
            {
                let (made, sent, drops) = (&made, &sent, &drops);
                game.other(move || {
                    for _ in 0..30 {
                        made.one();
                        tx.send(drops.one()).expect("a receiver is there");
                        sent.one();
                    }
                });
            }
            {
                // Until the last sender, cancelled or not, has ended.
                let (rx, received) = (rx.clone(), &received);
                game.other(move || rx.iter().for_each(|_| _ = received.one()));
            }
            game.play(runtime);
            assert_eq!(sent.get(), received.get(), "capacity {capacity:?}");
            assert!(rx.try_recv().is_err());
            assert_eq!(drops.count() as u64, made.get());
        });
    }
}

/// Selects over the ends of two channels against each other and against plain calls.
// Proves: F9.
#[test]
fn selects() {
    for capacity in [Some(0), Some(1), Some(5)] {
        again_and_again(50, |runtime, seed| {
            let drops = Drops::default();
            let (made, sent, received) =
                (Count::default(), Count::default(), Count::default());
            let (ends, others): (Vec<_>, Vec<_>) = (0..2).map(|_| open(capacity)).unzip();
            let [a, b]: [Sender<Counted>; 2] = ends.try_into().expect("two");
            let [c, d]: [Receiver<Counted>; 2] = others.try_into().expect("two");
            let mut game = Game::new(seed);
            for player in 0..3 {
                let (made, sent, received, drops) = (&made, &sent, &received, &drops);
                let (a, b) = (a.clone(), b.clone());
                game.doomed(move || {
                    loop {
                        made.add(2);
                        let mut one = a.send_case(drops.one());
                        let mut two = b.send_case(drops.one());
                        let mut select = Select::new();
                        select.add(&mut one);
                        select.add(&mut two);
                        match select.wait() {
                            Ok(_) => sent.one(),
                            Err(interrupt) => {
                                assert_eq!(interrupt, Interrupt::Cancelled);
                                break;
                            }
                        };
                    }
                });
                let (c, d) = (c.clone(), d.clone());
                game.doomed(move || {
                    loop {
                        let mut ended = false;
                        let limit = Duration::from_micros(player * 40);
                        pirn::select! {
                            recv(c) -> value => match value {
                                Ok(_) => _ = received.one(),
                                Err(_) => ended = true,
                            },
                            recv(d) -> value => match value {
                                Ok(_) => _ = received.one(),
                                Err(_) => ended = true,
                            },
                            after(limit) => {},
                        }
                        if ended {
                            break;
                        }
                    }
                });
            }
            for (tx, rx) in [(a, c), (b, d)] {
                let (made, sent, received, drops) = (&made, &sent, &received, &drops);
                game.other(move || {
                    for _ in 0..20 {
                        made.one();
                        tx.send(drops.one()).expect("a receiver is there");
                        sent.one();
                    }
                });
                game.other(move || rx.iter().for_each(|_| _ = received.one()));
            }
            game.play(runtime);
            assert_eq!(sent.get(), received.get(), "capacity {capacity:?}");
            assert_eq!(drops.count() as u64, made.get());
        });
    }
}

/// One value each, with any sender and any receiver.
// Proves: F9.
#[test]
fn one_shots() {
    again_and_again(150, |runtime, seed| {
        let drops = Drops::default();
        let (made, sent, received) =
            (Count::default(), Count::default(), Count::default());
        let mut game = Game::new(seed);
        for _ in 0..8 {
            let (made, sent, received, drops) = (&made, &sent, &received, &drops);
            let (tx, rx) = oneshot::channel();
            game.doomed(move || _ = rx.recv().map(|_| received.one()));
            game.other(move || {
                pirn::yield_now();
                made.one();
                if tx.send(drops.one()).is_ok() {
                    sent.one();
                }
            });
            let (tx, rx) = oneshot::channel();
            game.doomed(move || {
                let waited = pirn::sleep(Duration::from_micros(100));
                if waited.is_ok() {
                    made.one();
                    if tx.send(drops.one()).is_ok() {
                        sent.one();
                    }
                }
            });
            game.other(move || _ = rx.recv().map(|_| received.one()));
        }
        game.play(runtime);
        assert!(received.get() <= sent.get());
        assert_eq!(drops.count() as u64, made.get());
    });
}

/// Each receiver gets everything from its start on, in order, until it is cancelled; places that a
/// cancelled one had not read become free again.
// Proves: F9.
#[test]
fn broadcasts_and_watches() {
    again_and_again(100, |runtime, seed| {
        const LAST: usize = 60;
        let (tx, rx) = broadcast::channel(LAST + 1);
        let (shows, sees) = watch::channel(0);
        let mut game = Game::new(seed);
        for _ in 0..4 {
            let (mut rx, mut sees) = (rx.clone(), sees.clone());
            game.doomed(move || {
                let mut expected = 0;
                while let Ok(value) = rx.recv() {
                    assert_eq!(value, expected);
                    expected += 1;
                }
            });
            game.doomed(move || {
                let mut seen = 0;
                while sees.changed().is_ok() {
                    let now = *sees.borrow_and_update();
                    // A change just before the check may be reported once more.
                    assert!(now >= seen, "{now} after {seen}");
                    seen = now;
                }
            });
        }
        let (mut rx, mut sees) = (rx, sees);
        game.other(move || {
            for expected in 0..=LAST {
                assert_eq!(rx.recv(), Ok(expected));
            }
        });
        game.other(move || {
            while *sees.borrow() != LAST {
                sees.changed().expect("the last one is still to come");
            }
        });
        game.other(move || {
            for value in 0..=LAST {
                assert!(tx.send(value).is_ok());
                if value > 0 {
                    assert!(shows.send(value).is_ok());
                }
                if value % 5 == 0 {
                    pirn::yield_now();
                }
            }
        });
        game.play(runtime);
    });
}

/// Results in the order of submission, though submitters and receivers are cancelled.
// Proves: F9.
#[test]
fn ordered_results() {
    again_and_again(100, |runtime, seed| {
        let (submitted, ran, received) =
            (Count::default(), Count::default(), Count::default());
        let (tx, rx) = channel::ordered(3);
        let mut game = Game::new(seed);
        for _ in 0..3 {
            let (tx, rx) = (tx.clone(), rx.clone());
            let (submitted, received) = (&submitted, &received);
            let count = ran.clone();
            game.doomed(move || {
                loop {
                    let count = count.clone();
                    let job = move || {
                        pirn::yield_now();
                        count.one();
                    };
                    if tx.spawn(job).is_err() {
                        break;
                    }
                    submitted.one();
                }
            });
            game.doomed(move || while rx.recv().map(|_| received.one()).is_ok() {});
        }
        {
            let (submitted, count) = (&submitted, ran.clone());
            game.other(move || {
                for _ in 0..20 {
                    let count = count.clone();
                    tx.spawn(move || _ = count.one()).expect("is open");
                    submitted.one();
                }
            });
            let received = &received;
            game.other(move || rx.iter().for_each(|_| _ = received.one()));
        }
        game.play(runtime);
        assert_eq!(submitted.get(), received.get());
        assert_eq!(ran.get(), submitted.get());
    });
}
