//! Descriptors that are closed while a fiber waits for them.

use std::io::{self, Write};
use std::os::fd::{AsRawFd, IntoRawFd};

use pirn::{spawn, yield_now};
use pirn_hooks::within;

use crate::fixture::on_one_worker;
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
