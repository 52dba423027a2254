//! Reader-writer locks and semaphores by the million, with waits that give up.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use pirn::sync::{RwLock, Semaphore};

use crate::util::{on_every_shape, scaled};

const MILLION: usize = 1_000_000;
const PARTIES: usize = 64;

/// Every fourth visit writes; every eighth has a limit of some microseconds.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn readers_and_writers() {
    let rounds = scaled(MILLION) / PARTIES / 4;
    on_every_shape(|runtime| {
        let lock = RwLock::new([0_u64; 2]);
        let written = AtomicU64::new(0);
        runtime.scope(|s| {
            for party in 0..PARTIES {
                let (lock, written) = (&lock, &written);
                s.spawn(move || {
                    for round in 0..rounds {
                        let visit = round * 31 + party;
                        let limit = (visit % 8 < 2)
                            .then(|| Duration::from_micros(visit as u64 % 50));
                        if visit % 4 == 0 {
                            let guard = match limit {
                                Some(limit) => lock.write_timeout(limit),
                                None => Some(lock.write()),
                            };
                            let Some(mut guard) = guard else { continue };
                            guard[0] += 1;
                            if visit % 16 == 0 {
                                pirn::yield_now();
                            }
                            guard[1] += 1;
                            written.fetch_add(1, Ordering::Relaxed);
                        } else {
                            let guard = match limit {
                                Some(limit) => lock.read_timeout(limit),
                                None => Some(lock.read()),
                            };
                            let Some(guard) = guard else { continue };
                            if visit % 16 == 1 {
                                pirn::yield_now();
                            }
                            assert_eq!(guard[0], guard[1]);
                        }
                    }
                });
            }
        });
        assert!(lock.try_write().is_some(), "a holder is left");
        assert_eq!(lock.into_inner(), [written.into_inner(); 2]);
    });
}

/// Requests for zero to seven of seven permits; every third has a limit.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn permits_of_every_size() {
    const PERMITS: usize = 7;
    let rounds = scaled(MILLION) / PARTIES / 4;
    on_every_shape(|runtime| {
        let semaphore = Semaphore::new(PERMITS);
        let out = AtomicUsize::new(0);
        runtime.scope(|s| {
            for party in 0..PARTIES {
                let (semaphore, out) = (&semaphore, &out);
                s.spawn(move || {
                    for round in 0..rounds {
                        let visit = round * 31 + party;
                        let k = visit % (PERMITS + 1);
                        let permit = if visit % 3 == 0 {
                            let limit = Duration::from_micros(visit as u64 % 50);
                            semaphore.acquire_timeout(k, limit).unwrap()
                        } else {
                            Some(semaphore.acquire(k).unwrap())
                        };
                        if permit.is_none() {
                            continue;
                        }
                        assert!(out.fetch_add(k, Ordering::SeqCst) + k <= PERMITS);
                        if visit % 16 == 0 {
                            pirn::yield_now();
                        }
                        out.fetch_sub(k, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(semaphore.available(), PERMITS);
    });
}
