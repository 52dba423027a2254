//! Code of other crates that reads from an `Iterator` or a `Read` without knowledge of fibers: with
//! our channel behind it, deadlines and cancellations end it in time.

use std::io::{self, BufRead, BufReader, Read};
use std::time::{Duration, Instant};

use pirn::Interrupt;
use pirn::channel::{Receiver, RecvError, bounded, unbounded};
use pirn::runtime::test;
use pirn::time::{Elapsed, now, sleep, timeout};

use crate::executor_kind::runtime;
use crate::figures::mostly_within;
use crate::util::{Dice, LONG};

/// Stands for other crates' code: adds up the items of an iterator.
fn sum_of(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.sum()
}

/// Stands for other crates' code: counts the lines of a text, and passes errors on.
fn lines_of(text: impl Read) -> io::Result<usize> {
    let mut lines = 0;
    for line in BufReader::new(text).lines() {
        line?;
        lines += 1;
    }
    Ok(lines)
}

/// The reading end of a channel of blocks, as a `Read`.
struct Blocks {
    source: Receiver<Vec<u8>>,
    rest: io::Cursor<Vec<u8>>,
}

impl Blocks {
    fn of(source: Receiver<Vec<u8>>) -> Blocks {
        let rest = io::Cursor::default();
        Blocks { source, rest }
    }
}

impl Read for Blocks {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.rest.read(into)? {
                0 if !into.is_empty() => {}
                n => return Ok(n),
            }
            match self.source.recv() {
                Ok(block) => self.rest = io::Cursor::new(block),
                Err(RecvError::Disconnected) => return Ok(0),
                Err(RecvError::Interrupted(interrupt)) => return Err(interrupt.into()),
            }
        }
    }
}

const SECOND: Duration = Duration::from_secs(1);

/// In virtual time: exact to the nanosecond, after any previous input, and behind either of the
/// two interfaces.
// Proves: N9-X-foreign.
#[test]
fn a_deadline_ends_it_exactly() {
    test(|_| {
        for (limit, heard) in [(0, 0), (1, 0), (2_500, 2), (9_999, 9), (60_000, 10)] {
            let limit = Duration::from_millis(limit);
            let (tx, rx) = bounded(0);
            let (text, blocks) = unbounded();
            pirn::scope(|s| {
                s.spawn(move || {
                    for number in 0..10 {
                        sleep(SECOND)?;
                        let _ = tx.send(number);
                        let _ = text.send(b"one line\nand ".to_vec());
                    }
                    // Open, and silent, until the receivers have been dropped.
                    sleep(LONG * 60)
                });
                let start = now();
                let mut taken = 0;
                let counted = rx.iter().inspect(|_| taken += 1);
                assert_eq!(timeout(limit, || sum_of(counted)).ok(), None);
                assert_eq!(now() - start, limit);
                assert_eq!(taken, heard);
                let spent = timeout(limit, || lines_of(Blocks::of(blocks.clone())));
                assert!(spent.is_err());
                assert_eq!(now() - start, 2 * limit);
                s.cancel();
            });
        }
    });
}

/// Rule 4. An end or failure of the code itself is no `Elapsed`; an outer deadline and a
/// cancellation propagate through the code in between as its own kind of error.
// Proves: N9-X-foreign.
#[test]
fn what_comes_back_through_it() {
    test(|_| {
        let (tx, rx) = bounded(8);
        (1..=4).for_each(|number| tx.send(number).unwrap());
        drop(tx);
        assert_eq!(timeout(SECOND, || sum_of(rx.iter())), Ok(10));
        let (_text, blocks) = bounded(1);
        let start = now();
        // The inner limit is far away, so the code gets the outer one.
        let spent: Result<Result<io::Result<usize>, Elapsed>, Elapsed> =
            timeout(SECOND, || {
                timeout(LONG, || lines_of(Blocks::of(blocks.clone())))
            });
        assert!(spent.is_err());
        assert_eq!(now() - start, SECOND);
        let error = pirn::cancel::with_deadline(now() + SECOND, || {
            lines_of(Blocks::of(blocks.clone())).unwrap_err()
        });
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(Interrupt::of(&error), Some(Interrupt::TimedOut));
        let error = pirn::scope(|s| {
            s.spawn(|| {
                sleep(SECOND).unwrap();
                s.cancel();
            });
            lines_of(Blocks::of(blocks)).unwrap_err()
        });
        assert_eq!(Interrupt::of(&error), Some(Interrupt::Cancelled));
        assert_eq!(now() - start, 3 * SECOND);
    });
}

/// A thousand of them in real time: none early, none forgotten.
// Proves: N9-X-foreign.
#[test]
fn a_thousand_end_in_time() {
    for workers in [1, 2, 4, 8] {
        let runtime = runtime(workers);
        runtime.run(|| {
            let (_tx, rx) = bounded::<u64>(0);
            pirn::scope(|s| {
                for i in 0..1_000 {
                    let rx = rx.clone();
                    let limit =
                        Duration::from_micros(Dice(i as u64).below(50_000) as u64);
                    s.spawn(move || {
                        let start = Instant::now();
                        assert!(timeout(limit, || sum_of(rx.iter())).is_err());
                        let over = start.elapsed().checked_sub(limit);
                        assert!(over.expect("none is early") < LONG / 2);
                    });
                }
            });
        });
    }
}

/// How late they end it, a few at a time: the median is less than 5 ms, 99 of 100 less than 50.
// Proves: N9-X-foreign.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_foreign_code_ends_in_time() {
    const FIBERS: u64 = 20;
    for workers in [1, 2] {
        let (_open, silent) = bounded::<u64>(0);
        let silent = &silent;
        let mut late: Vec<Duration> = runtime(workers).scope(|s| {
            let fibers: Vec<_> = (0..FIBERS)
                .map(|first| {
                    s.spawn(move || {
                        let limits = (0..25).map(|i| 1 + (first * 7 + i * 13) % 20);
                        let late = limits.map(|limit| {
                            let limit = Duration::from_millis(limit);
                            let start = Instant::now();
                            let ended = timeout(limit, || sum_of(silent.iter()));
                            assert!(ended.is_err());
                            start.elapsed() - limit
                        });
                        late.collect::<Vec<_>>()
                    })
                })
                .collect();
            let late = fibers.into_iter().flat_map(|fiber| fiber.join().unwrap());
            late.collect()
        });
        let limit = Duration::from_millis(5);
        mostly_within("a limit", &mut late, limit);
    }
}
