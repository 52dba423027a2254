//! Players that wait for ends, for times and for calls elsewhere, and are cancelled at random: each
//! started operation ends, once.

use std::time::Duration;

use pirn::dispatcher::Dispatcher;
use pirn::scope::TaskGroup;
use pirn::spawn::{JoinError, park_interruptible};
use pirn::{Interrupt, time};

use crate::cancel_fuzz::{Count, Game, again_and_again};
use crate::util::{Dice, Drops};

/// Joins of detached fibers: interrupted joins do not affect them, cancelled fibers end, and every
/// capture and result is dropped once.
// Proves: F9.
#[test]
fn joins() {
    again_and_again(100, |runtime, seed| {
        let drops = Drops::default();
        let made = Count::default();
        let mut game = Game::new(seed);
        for player in 0..6 {
            let (drops, made) = (&drops, &made);
            let mut dice = Dice((seed * 8 + player) as u64);
            game.doomed(move || {
                loop {
                    made.one();
                    let value = drops.one();
                    let yields = dice.below(4);
                    let fiber = pirn::spawn(move || {
                        (0..yields).for_each(|_| pirn::yield_now());
                        let _ = time::sleep(Duration::from_micros(yields as u64));
                        value
                    });
                    let ended = match dice.below(4) {
                        0 => {
                            fiber.cancel();
                            fiber.join()
                        }
                        1 => match fiber.join_timeout(Duration::from_micros(20)) {
                            Ok(ended) => ended,
                            Err(fiber) => fiber.join(),
                        },
                        _ => fiber.join(),
                    };
                    match ended {
                        Ok(_) | Err(JoinError::NotRun) => {}
                        Err(JoinError::Interrupted(Interrupt::Cancelled)) => break,
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
        game.play(runtime);
        runtime.wait_idle().unwrap();
        assert_eq!(drops.count() as u64, made.get());
    });
}

/// Sleeps, ticks, parks and deadlines.
// Proves: F9.
#[test]
fn times_and_parks() {
    again_and_again(100, |runtime, seed| {
        let ended = Count::default();
        let began = Count::default();
        let mut game = Game::new(seed);
        for player in 0..8 {
            let (began, ended) = (&began, &ended);
            let mut dice = Dice((seed * 8 + player) as u64);
            game.doomed(move || {
                began.one();
                let interrupt = match player {
                    0 => loop {
                        let span = Duration::from_micros(dice.below(200) as u64);
                        if let Err(interrupt) = pirn::sleep(span) {
                            break interrupt;
                        }
                    },
                    1 => {
                        let mut ticks = time::interval(Duration::from_micros(50));
                        loop {
                            if let Err(interrupt) = ticks.tick() {
                                break interrupt;
                            }
                        }
                    }
                    2 => park_interruptible().expect_err("nothing unparks it"),
                    3 => loop {
                        // Its own deadline ends its waits, until it is cancelled.
                        let limit = Duration::from_micros(dice.below(100) as u64);
                        let slept = time::timeout(limit, || pirn::sleep(limit * 2));
                        if let Ok(Err(interrupt)) = slept {
                            break interrupt;
                        }
                    },
                    4 => loop {
                        pirn::spawn::park_timeout(Duration::from_micros(10));
                        if let Some(interrupt) = pirn::cancel::reason() {
                            break interrupt;
                        }
                    },
                    5 => loop {
                        if let Err(interrupt) = pirn::spawn::checkpoint() {
                            break interrupt;
                        }
                        pirn::yield_now();
                    },
                    6 => {
                        let deep = pirn::cancel::shield(|| pirn::sleep(Duration::ZERO));
                        assert_eq!(deep, Ok(()));
                        pirn::sleep(Duration::from_secs(600)).expect_err("is struck")
                    }
                    _ => {
                        let waker = pirn::current();
                        let other = pirn::spawn(move || {
                            (0..dice.below(20)).for_each(|_| waker.unpark());
                        });
                        let interrupt = loop {
                            if let Err(interrupt) = park_interruptible() {
                                break interrupt;
                            }
                        };
                        pirn::cancel::shield(|| other.join()).unwrap();
                        interrupt
                    }
                };
                assert_eq!(interrupt, Interrupt::Cancelled);
                ended.one();
            });
        }
        game.play(runtime);
        assert_eq!(began.get(), ended.get());
    });
}

/// Scopes that are left while they are cancelled from above: children have ended by then.
// Proves: K1.
#[test]
fn scopes() {
    again_and_again(100, |runtime, seed| {
        let drops = Drops::default();
        let (made, begun, ended) = (Count::default(), Count::default(), Count::default());
        let mut game = Game::new(seed);
        for player in 0..4 {
            let (drops, made) = (&drops, &made);
            let (begun, ended) = (&begun, &ended);
            let mut dice = Dice((seed * 8 + player) as u64);
            game.doomed(move || {
                while pirn::cancel::check().is_ok() {
                    let own = Count::default();
                    pirn::scope(|s| {
                        for _ in 0..dice.below(4) {
                            made.one();
                            let (value, own) = (drops.one(), &own);
                            s.spawn(move || {
                                let _value = value;
                                begun.one();
                                own.one();
                                pirn::scope(|s| {
                                    s.spawn(pirn::yield_now);
                                    _ = s.wait();
                                });
                                ended.one();
                                own.back();
                            });
                        }
                        if dice.below(3) == 0 {
                            s.cancel();
                        }
                    });
                    assert_eq!(own.get(), 0, "a child outlived its scope");
                    pirn::yield_now();
                }
            });
        }
        game.play(runtime);
        assert_eq!(begun.get(), ended.get());
        assert_eq!(drops.count() as u64, made.get());
    });
}

/// Several take the results of one group, and some are cancelled: each result once.
// Proves: O2.
#[test]
fn groups() {
    const MEMBERS: u64 = 60;
    again_and_again(100, |runtime, seed| {
        let group = TaskGroup::new();
        let drops = Drops::default();
        let (taken, sum) = (Count::default(), Count::default());
        let spawned = Count::default();
        let take = || match group.join_next() {
            Ok(Some(result)) => {
                let (value, _counted) = result.expect("no fiber panics");
                taken.one();
                sum.add(value);
                true
            }
            Ok(None) => false,
            Err(_) => false,
        };
        let mut game = Game::new(seed);
        for _ in 0..4 {
            let (take, group) = (&take, &group);
            game.doomed(move || {
                while take() || pirn::cancel::check().is_ok() {
                    pirn::yield_now();
                }
            });
            game.doomed(move || while group.wait().and(pirn::cancel::check()).is_ok() {});
        }
        for _ in 0..2 {
            let (group, spawned, drops) = (&group, &spawned, &drops);
            game.other(move || {
                for _ in 0..MEMBERS / 2 {
                    let value = spawned.one();
                    let counted = drops.one();
                    let spawned = group.spawn(move || {
                        if value % 3 == 0 {
                            pirn::yield_now();
                        }
                        (value, counted)
                    });
                    assert!(spawned.is_ok());
                }
            });
        }
        game.play(runtime);
        while take() {}
        assert_eq!(taken.get(), MEMBERS);
        assert_eq!(sum.get(), MEMBERS * (MEMBERS - 1) / 2);
        assert_eq!(drops.count() as u64, MEMBERS);
    });
}

/// A group with a limit: a player that is cancelled while it waits for room leaves the room to
/// others.
// Proves: O2.
#[test]
fn groups_with_limits() {
    again_and_again(100, |runtime, seed| {
        const LIMIT: u64 = 2;
        let group = TaskGroup::new().limit(LIMIT as usize);
        let (admitted, ran, now) = (Count::default(), Count::default(), Count::default());
        let add = || {
            let (ran, now) = (ran.clone(), now.clone());
            let added = group.spawn(move || {
                assert!(now.one() < LIMIT, "more than the limit");
                pirn::yield_now();
                ran.one();
                now.back();
            });
            if added.is_ok() {
                admitted.one();
            }
            added.is_ok()
        };
        let mut game = Game::new(seed);
        for _ in 0..4 {
            let add = &add;
            game.doomed(move || while add() {});
        }
        for _ in 0..2 {
            let add = &add;
            game.other(move || (0..30).for_each(|_| assert!(add())));
        }
        game.play(runtime);
        group.wait().unwrap();
        assert_eq!(ran.get(), admitted.get());
    });
}

/// Closures that run elsewhere return to the player that sent them, which may be cancelled
/// meanwhile.
// Proves: F9.
#[test]
fn calls_elsewhere() {
    let own = Dispatcher::new(2).expect("threads can be had");
    let places = [
        own.limited(1),
        own.limited(2).queue_limit(1),
        own.clone(),
        Dispatcher::io(),
        Dispatcher::unconfined(),
    ];
    again_and_again(50, |runtime, seed| {
        let drops = Drops::default();
        let (made, ran) = (Count::default(), Count::default());
        let mut game = Game::new(seed);
        for (player, place) in places.iter().enumerate() {
            let (drops, made, ran) = (&drops, &made, &ran);
            let mut dice = Dice((seed * 8 + player) as u64);
            let mut coin = dice.clone();
            game.doomed(move || {
                while pirn::cancel::check().is_ok() {
                    made.one();
                    let (value, yields) = (drops.one(), dice.below(3));
                    let back = place.run(|| {
                        ran.one();
                        (0..yields).for_each(|_| pirn::yield_now());
                        let _ = pirn::sleep(Duration::from_micros(yields as u64));
                        value
                    });
                    drop(back);
                }
            });
            game.doomed(move || {
                while pirn::cancel::check().is_ok() {
                    made.one();
                    let value = drops.one();
                    let fiber = place.spawn(move || {
                        pirn::yield_now();
                        value
                    });
                    if coin.below(2) == 0 {
                        fiber.cancel();
                    }
                    let _ = fiber.join();
                }
            });
            game.other(move || {
                for n in 0..10 {
                    assert_eq!(place.run(|| n), n);
                    assert_eq!(pirn::blocking(|| n), n);
                }
            });
        }
        {
            let (drops, made) = (&drops, &made);
            game.doomed(move || {
                while pirn::cancel::check().is_ok() {
                    made.one();
                    drop(pirn::blocking(|| drops.one()));
                }
            });
        }
        game.play(runtime);
        // Detached fibers end too.
        for place in &places {
            place.run(|| ());
        }
        crate::util::eventually("everything is dropped", || {
            drops.count() as u64 == made.get()
        });
        assert!(ran.get() <= made.get());
    });
}
