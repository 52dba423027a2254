//! Sockets by the hundred thousand: conversations, limits that expire as bytes arrive, one socket
//! that many fibers share.

use std::io::{ErrorKind, Read, Write};
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::time::Duration;

use pirn::Interrupt;
use pirn::net::{UnixDatagram, UnixStream};
use pirn::scope;

use crate::util::{on_every_shape, scaled};

const PAIRS: usize = 64;

/// Each question gets its own answer, byte for byte, in as many concurrent conversations as
/// there are pairs; some are between workers.
// Proves: N4.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn conversations() {
    let rounds = scaled(200_000) / PAIRS;
    on_every_shape(|runtime| {
        runtime.scope(|s| {
            for pair in 0..PAIRS {
                let (client, server) = UnixStream::pair().unwrap();
                s.spawn(move || {
                    let mut bytes = [0; 64];
                    let mut served = 0;
                    loop {
                        match (&server).read(&mut bytes).unwrap() {
                            0 => break,
                            n => (&server).write_all(&bytes[..n]).unwrap(),
                        }
                        served += 1;
                    }
                    assert!(served >= rounds);
                });
                s.spawn(move || {
                    for round in 0..rounds {
                        let question = [(pair ^ round) as u8; 64];
                        let question = &question[..1 + (pair + round) % 64];
                        (&client).write_all(question).unwrap();
                        let mut answer = [0; 64];
                        let answer = &mut answer[..question.len()];
                        (&client).read_exact(answer).unwrap();
                        assert_eq!(answer, question);
                    }
                });
            }
        });
    });
}

/// A limit of some microseconds around each read, with bytes arriving at about that time: each byte
/// is read once and in order, and a read that timed out has taken none.
// Proves: N9.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn limits_and_bytes_meet() {
    let each = scaled(400_000) / PAIRS;
    on_every_shape(|runtime| {
        let late = AtomicUsize::new(0);
        runtime.scope(|s| {
            for pair in 0..PAIRS {
                let (reader, writer) = UnixStream::pair().unwrap();
                let late = &late;
                s.spawn(move || {
                    for step in 0..each {
                        if (pair + step) % 3 == 0 {
                            let pause = Duration::from_micros((pair * step) as u64 % 40);
                            pirn::sleep(pause).unwrap();
                        }
                        (&writer).write_all(&[step as u8]).unwrap();
                    }
                });
                s.spawn(move || {
                    let (mut read, mut turn) = (0, 0);
                    while read < each {
                        let mut byte = [0];
                        turn += 1;
                        let limit = Duration::from_micros((pair + turn) as u64 % 50);
                        let came = pirn::cancel::with_deadline(
                            pirn::time::now() + limit,
                            || (&reader).read(&mut byte),
                        );
                        match came {
                            Ok(n) => {
                                assert_eq!((n, byte[0]), (1, read as u8));
                                read += 1;
                            }
                            Err(error) => {
                                assert_eq!(error.kind(), ErrorKind::TimedOut);
                                assert_eq!(byte[0], 0, "too late, and taken");
                                late.fetch_add(1, Ordering::Relaxed);
                            }
                        }
                    }
                });
            }
        });
        assert!(late.into_inner() > 0, "no limit ran out");
    });
}

/// Many send on one socket and many receive on the other, and some of those are cancelled amid
/// their waits: each datagram reaches one of them.
// Proves: N4.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn one_socket_for_many() {
    const PARTIES: usize = 8;
    let each = scaled(400_000) / PARTIES;
    on_every_shape(|runtime| {
        let (to, from) = UnixDatagram::pair().unwrap();
        let came: Vec<AtomicU8> = (0..PARTIES * each).map(|_| AtomicU8::new(0)).collect();
        let (to, from, came) = (&to, &from, &came);
        // Until it is ended or cancelled; returns true if it was ended.
        let receive = move || {
            loop {
                let mut number = [0; 8];
                match from.recv(&mut number) {
                    Ok(0) => return true,
                    Ok(8) => {
                        let number = usize::from_ne_bytes(number);
                        assert_eq!(came[number].fetch_add(1, Ordering::Relaxed), 0);
                    }
                    Ok(n) => panic!("{n} bytes"),
                    Err(error) => {
                        assert_eq!(Interrupt::of(&error), Some(Interrupt::Cancelled));
                        return false;
                    }
                }
            }
        };
        runtime.run(|| {
            scope(|s| {
                let stay: Vec<_> = (0..PARTIES).map(|_| s.spawn(receive)).collect();
                scope(|s| {
                    for party in 0..PARTIES {
                        s.spawn(move || {
                            for number in party * each..(party + 1) * each {
                                to.send(&number.to_ne_bytes()).unwrap();
                            }
                        });
                    }
                    for _ in 0..each / 50 {
                        let victim = s.spawn(receive);
                        pirn::yield_now();
                        victim.cancel();
                        assert!(!victim.join().unwrap_or(false), "it was not told");
                    }
                });
                for _ in 0..PARTIES {
                    to.send(&[]).unwrap();
                }
                assert!(stay.into_iter().all(|told| told.join().unwrap()));
            });
        });
        let missed = came
            .iter()
            .position(|came| came.load(Ordering::Relaxed) != 1);
        assert_eq!(missed, None, "was lost");
    });
}
