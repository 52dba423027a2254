//! Players of locks, permits and meeting points that are cancelled at random: there are never two
//! holders, no permit and no notification is lost.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use pirn::cancel::Token;
use pirn::sync::{
    Barrier, Condvar, Event, Mutex, OnceLock, Pool, RwLock, Semaphore, WaitGroup,
};
use pirn::wait::{park_on, unpark_one};

use crate::cancel_fuzz::{Count, Game, again_and_again};
use crate::util::Dice;

/// How often an uncancelled player acts.
const ROUNDS: usize = 30;

/// A mutex and a reader-writer lock: counts under the lock agree with counts beside it.
// Proves: F9.
#[test]
fn locks() {
    again_and_again(100, |runtime, seed| {
        let (lock, shared) = (Mutex::new(0), RwLock::new([0_u64; 2]));
        let (held, written) = (Count::default(), Count::default());
        let mut game = Game::new(seed);
        for player in 0..4 {
            let (lock, shared, held, written) = (&lock, &shared, &held, &written);
            game.doomed(move || {
                while let Ok(mut guard) = lock.lock_interruptible() {
                    *guard += 1;
                    held.one();
                    if player % 2 == 0 {
                        pirn::yield_now();
                    }
                }
            });
            game.doomed(move || {
                while let Ok(mut guard) = shared.write_interruptible() {
                    guard[0] += 1;
                    pirn::yield_now();
                    guard[1] += 1;
                    written.one();
                }
            });
            game.doomed(move || {
                while let Ok(guard) = shared.read_interruptible() {
                    assert_eq!(guard[0], guard[1]);
                    pirn::yield_now();
                }
            });
        }
        for _ in 0..2 {
            let (lock, shared, held, written) = (&lock, &shared, &held, &written);
            game.other(move || {
                for round in 0..ROUNDS {
                    *lock.lock() += 1;
                    held.one();
                    if round % 2 == 0 {
                        let mut guard = shared.write();
                        guard[0] += 1;
                        pirn::yield_now();
                        guard[1] += 1;
                        written.one();
                    } else {
                        let guard = shared.read();
                        assert_eq!(guard[0], guard[1]);
                    }
                }
            });
        }
        game.play(runtime);
        assert_eq!(lock.into_inner(), held.get());
        assert_eq!(shared.into_inner(), [written.get(); 2]);
    });
}

/// A bounded queue of a mutex and two condition variables: a notification lost to a cancelled
/// player would stop it.
// Proves: F9.
#[test]
fn condition_variables() {
    again_and_again(100, |runtime, seed| {
        let queue = Mutex::new(VecDeque::new());
        let (filled, emptied) = (Condvar::new(), Condvar::new());
        let (put, taken) = (Count::default(), Count::default());
        let put_one = || {
            let mut guard = queue.lock();
            while guard.len() >= 2 {
                match emptied.wait_interruptible(guard) {
                    Ok(again) => guard = again,
                    Err(_) => return false,
                }
            }
            guard.push_back(());
            put.one();
            drop(guard);
            filled.notify_one();
            true
        };
        let take_one = || {
            let mut guard = queue.lock();
            while guard.is_empty() {
                match filled.wait_interruptible(guard) {
                    Ok(again) => guard = again,
                    Err(_) => return false,
                }
            }
            guard.pop_front();
            taken.one();
            drop(guard);
            emptied.notify_one();
            true
        };
        let mut game = Game::new(seed);
        for _ in 0..3 {
            let (put_one, take_one) = (&put_one, &take_one);
            game.doomed(move || while put_one() {});
            game.doomed(move || while take_one() {});
        }
        // One uncancelled player takes `ROUNDS` times; the other one puts until `enough` is
        // cancelled.
        let enough = Token::new();
        {
            let (enough, put_one) = (enough.clone(), &put_one);
            game.other(move || enough.enter(|| while put_one() {}));
        }
        {
            let take_one = &take_one;
            game.other(move || {
                (0..ROUNDS).for_each(|_| assert!(take_one()));
                enough.cancel();
            });
        }
        game.play(runtime);
        assert_eq!(put.get() - taken.get(), queue.lock().len() as u64);
    });
}

/// Requests for 1 to 4 permits, some with a timeout: never more than 4 are out, and at the end all
/// are available.
// Proves: F9.
#[test]
fn semaphores() {
    const PERMITS: usize = 4;
    again_and_again(100, |runtime, seed| {
        let semaphore = Semaphore::new(PERMITS);
        let out = Count::default();
        let hold = |k: usize| {
            out.add(k as u64);
            assert!(out.get() <= PERMITS as u64);
            pirn::yield_now();
            (0..k).for_each(|_| out.back());
        };
        let mut game = Game::new(seed);
        for player in 0..6 {
            let (semaphore, hold) = (&semaphore, &hold);
            let mut dice = Dice((seed * 8 + player) as u64);
            game.doomed(move || {
                loop {
                    let k = 1 + dice.below(PERMITS);
                    let permit = match dice.below(3) {
                        0 => semaphore
                            .acquire_timeout(k, Duration::from_micros(20))
                            .transpose(),
                        _ => Some(semaphore.acquire(k)),
                    };
                    match permit {
                        Some(Ok(_permit)) => hold(k),
                        Some(Err(_)) => break,
                        None => {}
                    }
                }
            });
        }
        for k in [1, PERMITS] {
            let (semaphore, hold) = (&semaphore, &hold);
            game.other(move || {
                for _ in 0..ROUNDS {
                    let _permit = semaphore.acquire(k).expect("it is open");
                    hold(k);
                }
            });
        }
        game.play(runtime);
        assert_eq!(semaphore.available(), PERMITS);
        assert_eq!(out.get(), 0);
    });
}

/// Requests that can never be granted are cancelled, by a semaphore and a lock. Nothing else lets
/// the requests behind them pass.
// Proves: F9.
#[test]
fn a_waiter_that_gives_up_lets_others_pass() {
    again_and_again(100, |runtime, seed| {
        let semaphore = Semaphore::new(2);
        let shared = RwLock::new(());
        let (kept, read) = (semaphore.try_acquire(1), shared.try_read());
        assert!(kept.is_some() && read.is_some());
        let mut game = Game::new(seed);
        for _ in 0..4 {
            let (semaphore, shared) = (&semaphore, &shared);
            game.doomed(move || assert!(semaphore.acquire(2).is_err()));
            game.doomed(move || assert!(shared.write_interruptible().is_err()));
        }
        for _ in 0..2 {
            let (semaphore, shared) = (&semaphore, &shared);
            game.other(move || {
                for _ in 0..ROUNDS {
                    drop(semaphore.acquire(1).expect("it is open"));
                    drop(shared.read());
                    pirn::yield_now();
                }
            });
        }
        game.play(runtime);
        assert_eq!(semaphore.available(), 1);
        drop(read);
        assert!(shared.try_write().is_some());
    });
}

/// A turn is passed on by an automatic event, and another one by a key: no cancelled player keeps
/// it.
// Proves: F9.
#[test]
fn events_and_keys() {
    again_and_again(100, |runtime, seed| {
        let turn = Event::auto();
        turn.set();
        let inside = Count::default();
        let have_turn = || {
            assert_eq!(inside.one(), 0, "two have the turn");
            pirn::yield_now();
            inside.back();
            turn.set();
        };
        let word = AtomicU32::new(0);
        let key = (&raw const word) as usize;
        // A lock of one word: 0 free, 1 held, 2 held and there may be waiters.
        let lock_word = || {
            let was = word.compare_exchange(0, 1, Ordering::SeqCst, Ordering::SeqCst);
            if was.is_ok() {
                return true;
            }
            while word.swap(2, Ordering::SeqCst) != 0 {
                if park_on(key, || word.load(Ordering::SeqCst) == 2).is_err() {
                    return false;
                }
            }
            true
        };
        let unlock_word = || {
            if word.swap(0, Ordering::SeqCst) == 2 {
                unpark_one(key);
            }
        };
        let holds = Count::default();
        let hold = || {
            assert_eq!(holds.one(), 0, "two hold the word");
            pirn::yield_now();
            holds.back();
            unlock_word();
        };
        let mut game = Game::new(seed);
        for _ in 0..4 {
            let (turn, have_turn) = (&turn, &have_turn);
            let (lock_word, hold) = (&lock_word, &hold);
            game.doomed(move || {
                while turn.wait().is_ok() {
                    have_turn();
                }
            });
            game.doomed(move || {
                while pirn::cancel::check().is_ok() && lock_word() {
                    hold();
                }
            });
        }
        for _ in 0..2 {
            let (turn, have_turn) = (&turn, &have_turn);
            let (lock_word, hold) = (&lock_word, &hold);
            game.other(move || {
                for _ in 0..ROUNDS {
                    turn.wait().expect("this player is not cancelled");
                    have_turn();
                    assert!(lock_word());
                    hold();
                }
            });
        }
        game.play(runtime);
        assert_eq!(
            turn.wait_timeout(Duration::ZERO),
            Ok(true),
            "the turn is lost"
        );
        assert_eq!(word.load(Ordering::SeqCst), 0);
    });
}

/// A call that is no interruption point ignores cancellation: barriers complete, cells are filled
/// once.
// Proves: F9.
#[test]
fn barriers_and_cells() {
    const PARTIES: usize = 6;
    again_and_again(100, |runtime, seed| {
        let barrier = Barrier::new(PARTIES);
        let (leaders, fills) = (Count::default(), Count::default());
        let cells: Vec<OnceLock<usize>> = (0..ROUNDS).map(|_| OnceLock::new()).collect();
        let mut game = Game::new(seed);
        // A barrier needs all its parties, and a doomed player may never start: each party cancels
        // itself.
        for _ in 0..PARTIES {
            let (barrier, leaders) = (&barrier, &leaders);
            let (fills, cells) = (&fills, &cells);
            game.other(move || {
                let token = Token::new();
                token.enter(|| {
                    for (round, cell) in cells.iter().enumerate() {
                        if round == 10 {
                            token.cancel();
                        }
                        if barrier.wait().is_leader() {
                            leaders.one();
                        }
                        let value = cell.get_or_init(|| {
                            pirn::yield_now();
                            fills.one();
                            round
                        });
                        assert_eq!(*value, round);
                    }
                });
            });
            game.doomed(move || {
                for (round, cell) in cells.iter().enumerate() {
                    pirn::yield_now();
                    assert_eq!(
                        *cell.get_or_init(|| {
                            fills.one();
                            round
                        }),
                        round
                    );
                }
            });
        }
        game.play(runtime);
        assert_eq!(leaders.get(), ROUNDS as u64);
        assert_eq!(fills.get(), ROUNDS as u64);
    });
}

/// Wait groups, and objects that are lent.
// Proves: F9.
#[test]
fn wait_groups_and_pools() {
    again_and_again(100, |runtime, seed| {
        let group = WaitGroup::new();
        let made = Count::default();
        let count = made.clone();
        let pool = Pool::new(2, move || count.one());
        let lent = Count::default();
        let mut game = Game::new(seed);
        for _ in 0..4 {
            let (waits, pool, lent) = (group.clone(), &pool, &lent);
            game.doomed(move || while waits.wait().is_ok() {});
            game.doomed(move || {
                while let Ok(thing) = pool.get() {
                    assert!(lent.one() < 2, "three have been lent");
                    pirn::yield_now();
                    lent.back();
                    drop(thing);
                }
            });
        }
        for _ in 0..2 {
            let (works, pool, lent) = (group.clone(), &pool, &lent);
            game.other(move || {
                for _ in 0..ROUNDS {
                    works.add(1);
                    let thing = pool.get().expect("this player is not cancelled");
                    assert!(lent.one() < 2, "three have been lent");
                    lent.back();
                    drop(thing);
                    works.done();
                }
            });
        }
        game.other(move || group.wait().expect("this player is not cancelled"));
        game.play(runtime);
        assert_eq!(lent.get(), 0);
        assert_eq!(pool.idle() as u64, made.get());
    });
}
