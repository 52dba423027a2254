//! Descriptors that are closed while a fiber waits for them.

use std::io::{self, Write};
use std::os::fd::{AsRawFd, IntoRawFd};

use pirn::{spawn, yield_now};
use pirn_hooks::within;

use crate::fixture::{on_one_worker, parks};
use crate::raw;

// Proves: T7.
#[test]
fn a_closed_descriptor_ends_the_wait_for_it() {
    on_one_worker(|| {
        let (one, _kept) = io::pipe().unwrap();
        let number = one.into_raw_fd();
        let waiter = spawn(move || within(|| raw::read_number(number, &mut [0])));
        yield_now();
        raw::close(number);
        let ended = waiter.join().unwrap().unwrap_err();
        assert_eq!(ended.raw_os_error(), Some(libc::EBADF));
    });
}

// Proves: T7.
#[test]
fn a_replaced_descriptor_ends_the_wait_for_it() {
    on_one_worker(|| {
        let (one, _kept) = io::pipe().unwrap();
        let (other, mut to) = io::pipe().unwrap();
        to.write_all(b"y").unwrap();
        let number = one.as_raw_fd();
        let waiter = spawn(move || within(|| raw::read_number(number, &mut [0])));
        yield_now();
        raw::dup2(other.as_raw_fd(), number);
        let ended = waiter.join().unwrap().unwrap_err();
        assert_eq!(ended.raw_os_error(), Some(libc::EBADF));
        // What came for the other one is still there.
        let mut byte = [0];
        assert_eq!(raw::read(&one, &mut byte).unwrap(), 1);
        assert_eq!(byte, *b"y");
    });
}

// Proves: T7.
#[test]
fn a_number_may_stand_for_another_object() {
    on_one_worker(|| {
        for round in 0..1_000_u32 {
            let (one, mut to) = io::pipe().unwrap();
            let reader = spawn(move || {
                within(|| {
                    let mut bytes = [0; 4];
                    assert_eq!(raw::read(&one, &mut bytes).unwrap(), 4);
                    u32::from_ne_bytes(bytes)
                })
            });
            yield_now();
            to.write_all(&round.to_ne_bytes()).unwrap();
            assert_eq!(reader.join().unwrap(), round);
        }
    });
}

/// Numbers that are closed past libc, while the records of earlier waits still stand, on two
/// workers.
// Proves: T7.
#[test]
fn numbers_are_reused_that_nothing_saw_close() {
    reuse(2_500);
}

/// A million waits.
// Proves: T7.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_numbers_are_reused_a_million_times() {
    reuse(125_000);
}

fn reuse(rounds: u32) {
    const FIBERS: u32 = 8;
    let before = parks("read");
    let runtime = pirn::runtime::Builder::new().workers(2).build().unwrap();
    runtime.run(|| {
        pirn::scope(|s| {
            for fiber in 0..FIBERS {
                s.spawn(move || {
                    (0..rounds).for_each(|round| exchange((fiber << 20) | round));
                });
            }
        });
    });
    let (parked, all) = (parks("read") - before, u64::from(FIBERS * rounds));
    println!("{parked} waits for {all} numbers");
    assert!(parked >= all / 2, "{parked} of {all} have waited");
}

/// Sends a number through a pipe to another fiber, which waits for it.
fn exchange(number: u32) {
    let (one, to) = io::pipe().unwrap();
    let (one, to) = (one.into_raw_fd(), to.into_raw_fd());
    let reader = spawn(move || {
        within(|| {
            let mut bytes = [0; 4];
            assert_eq!(raw::read_number(one, &mut bytes).unwrap(), 4);
            u32::from_ne_bytes(bytes)
        })
    });
    yield_now();
    raw::write_number(to, &number.to_ne_bytes());
    assert_eq!(reader.join().unwrap(), number);
    raw::close_unseen(one);
    raw::close_unseen(to);
}

/// The number is closed by a thread while a fiber, on another processor, begins to wait for it.
// Proves: T7.
#[test]
fn a_close_from_elsewhere_ends_the_wait() {
    const ROUNDS: u32 = 2_000;
    on_one_worker(|| {
        let (numbers, to_close) = std::sync::mpsc::channel();
        let closer = std::thread::spawn(move || to_close.iter().for_each(raw::close));
        // The first wait for such a high number creates its record.
        let (one, _kept) = io::pipe().unwrap();
        let number = raw::far_number(one.into(), 0);
        assert_eq!(raw::poll(&[(number, libc::POLLIN)], 1).unwrap().0, 0);
        raw::close(number);
        for round in 0..ROUNDS {
            let (one, _kept) = io::pipe().unwrap();
            let number = raw::far_number(one.into(), 0);
            numbers.send(number).unwrap();
            let ended = match round % 2 {
                0 => raw::read_number(number, &mut [0])
                    .map_err(|error| error.raw_os_error()),
                _ => raw::poll(&[(number, libc::POLLIN)], -1)
                    .map(|(_, found)| found[0].cast_unsigned().into())
                    .map_err(|error| error.raw_os_error()),
            };
            let invalid = Ok(usize::from(libc::POLLNVAL.cast_unsigned()));
            assert!(
                ended == Err(Some(libc::EBADF)) || ended == invalid,
                "{ended:?}"
            );
        }
        drop(numbers);
        closer.join().unwrap();
    });
}
