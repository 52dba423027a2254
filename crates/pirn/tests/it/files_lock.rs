//! Locks of files: as in `std`, with waits off the workers.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pirn::Interrupt;
use pirn::cancel::Token;
use pirn::fs::{File, OpenOptions, TryLockError};
use pirn::wait::Reason;

use crate::executor_kind::{EXECUTOR_KINDS, Jobs, runtime};
use crate::util::{Directory, eventually, scaled};

fn open(directory: &Directory) -> File {
    let path = directory.at("file");
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    options.open(path).unwrap()
}

fn is_refused(attempt: Result<(), TryLockError>) -> bool {
    match attempt {
        Ok(()) => false,
        Err(TryLockError::WouldBlock) => true,
        Err(TryLockError::Error(error)) => panic!("{error}"),
    }
}

/// One exclusive lock or several shared ones; clones share one; drops and calls release it.
// Proves: N5-X-files.
#[test]
fn handles_exclude_each_other() {
    for executor in EXECUTOR_KINDS {
        let mut jobs = Jobs::new();
        for _ in 0..2 {
            jobs.add(|| {
                let directory = Directory::new();
                let (one, other) = (open(&directory), open(&directory));
                one.lock().unwrap();
                assert!(is_refused(other.try_lock()));
                assert!(is_refused(other.try_lock_shared()));
                let clone = one.try_clone().unwrap();
                assert!(!is_refused(clone.try_lock()));
                clone.unlock().unwrap();

                other.lock_shared().unwrap();
                one.lock_shared().unwrap();
                assert!(!is_refused(clone.try_lock_shared()));
                assert!(is_refused(open(&directory).try_lock()));
                drop((one, clone));
                other.unlock().unwrap();
                let third = open(&directory);
                // A child that another test has just forked may keep the lock until its `exec`.
                eventually("the lock is free", || !is_refused(third.try_lock()));
                assert!(is_refused(other.try_lock()));
                drop(third);
                other.lock().unwrap();
            });
        }
        jobs.run(executor, 2);
    }
}

/// Fibers and threads take turns: no count of theirs is lost.
// Proves: N5-X-files.
#[test]
fn holders_take_turns() {
    let rounds = scaled(20);
    for executor in EXECUTOR_KINDS {
        let directory = Directory::new();
        open(&directory).write_all(b"0").unwrap();
        let mut jobs = Jobs::new();
        for _ in 0..8 {
            jobs.add(|| {
                let mut file = open(&directory);
                for _ in 0..rounds {
                    file.lock().unwrap();
                    count_up(&mut file).unwrap();
                    file.unlock().unwrap();
                }
            });
        }
        jobs.run(executor, 2);
        let count = std::fs::read_to_string(directory.at("file")).unwrap();
        assert_eq!(count, (8 * rounds).to_string());
    }
}

fn count_up(file: &mut File) -> io::Result<()> {
    let mut text = String::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_string(&mut text)?;
    let count: usize = text.parse().expect("a number");
    file.seek(SeekFrom::Start(0))?;
    write!(file, "{}", count + 1)
}

/// More fibers wait than there are threads of any kind. The holder can still use files, and other
/// fibers can take other locks.
// Proves: N5-X-files.
#[test]
fn many_waiters_do_not_stop_the_holder() {
    const MANY: usize = 150;
    let directory = Directory::new();
    let other = Directory::new();
    let runtime = runtime(1);
    let had = AtomicUsize::new(0);
    runtime.run(|| {
        let mut holder = open(&directory);
        holder.lock().unwrap();
        pirn::scope(|s| {
            for _ in 0..MANY {
                s.spawn(|| {
                    let file = open(&directory);
                    file.lock().unwrap();
                    had.fetch_add(1, Ordering::SeqCst);
                });
            }
            let waiting = || {
                let fibers = pirn::diag::fibers();
                let blocked = |reason| reason == Some(Reason::Blocking);
                fibers.iter().filter(|fiber| blocked(fiber.reason)).count()
            };
            while waiting() < MANY {
                pirn::sleep(Duration::from_millis(1)).unwrap();
            }
            assert_eq!(had.load(Ordering::SeqCst), 0);
            holder.write_all(b"text").unwrap();
            holder.sync_all().unwrap();
            let free = open(&other);
            free.lock().unwrap();
            free.unlock().unwrap();
            holder.unlock().unwrap();
        });
    });
    assert_eq!(had.into_inner(), MANY);
}

/// An interrupt comes before the call; a wait goes on, and has the lock; a release is never
/// interrupted.
// Proves: N5-X-files.
#[test]
fn interrupts_come_before_a_lock() {
    let directory = Directory::new();
    let runtime = runtime(1);
    let stop = Token::new();
    stop.cancel();
    runtime.run(|| {
        let (one, other) = (open(&directory), open(&directory));
        stop.enter(|| {
            let cancelled = Some(Interrupt::Cancelled);
            for lock in [File::lock, File::lock_shared] {
                assert_eq!(Interrupt::of(&lock(&one).unwrap_err()), cancelled);
            }
            for attempt in [File::try_lock, File::try_lock_shared] {
                match attempt(&one) {
                    Err(TryLockError::Error(error)) => {
                        assert_eq!(Interrupt::of(&error), cancelled);
                    }
                    result => panic!("{result:?}"),
                }
            }
        });
        other.lock().unwrap();
        stop.enter(|| other.unlock()).unwrap();
        one.lock().unwrap();

        pirn::scope::supervise(|s| {
            let waiter = s.spawn(|| {
                let locked = other.lock();
                (locked, pirn::cancel::check())
            });
            let is_waiting = || {
                let fibers = pirn::diag::fibers();
                let found = fibers.iter().find(|told| told.id == waiter.fiber().id());
                found.is_some_and(|told| told.reason == Some(Reason::Blocking))
            };
            while !is_waiting() {
                pirn::sleep(Duration::from_millis(1)).unwrap();
            }
            waiter.cancel();
            for _ in 0..100 {
                pirn::yield_now();
            }
            assert!(!waiter.is_finished());
            one.unlock().unwrap();
            let (locked, after) = waiter.join().unwrap();
            locked.unwrap();
            assert_eq!(after, Err(Interrupt::Cancelled));
        });
        assert!(is_refused(one.try_lock()));
    });
    let file = open(&directory);
    eventually("its handles are closed", || !is_refused(file.try_lock()));
}
