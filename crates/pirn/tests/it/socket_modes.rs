//! Sockets that do not wait for their user.

use std::io::{self, ErrorKind, Read, Write};
use std::net::Ipv4Addr;
use std::os::unix::net::UnixStream as Plain;
use std::time::Duration;

use pirn::cancel::Token;
use pirn::net::{
    TcpListener, TcpStream, UdpSocket, UnixDatagram, UnixListener, UnixStream,
};
use pirn::wait::Reason;
use pirn::{Interrupt, Runtime};

use crate::executor_kind::{EXECUTOR_KINDS, Jobs, runtime};
use crate::sockets_util::{connection, listener};
use crate::util::{Dice, Directory, LONG, eventually, on_every_shape, scaled};

fn would_block<T: std::fmt::Debug>(result: io::Result<T>) -> bool {
    match result {
        Err(error) => error.kind() == ErrorKind::WouldBlock,
        Ok(_) => false,
    }
}

/// Repeats a call that must not wait, until it succeeds.
fn at_last<T: std::fmt::Debug>(what: &str, mut call: impl FnMut() -> io::Result<T>) -> T {
    let mut done = None;
    eventually(what, || match call() {
        Ok(value) => {
            done = Some(value);
            true
        }
        Err(error) if error.kind() == ErrorKind::WouldBlock => false,
        Err(error) => panic!("{what}: {error}"),
    });
    done.expect("it has succeeded")
}

/// A part of a second of lingering does not become none, which would discard what was sent.
// Proves: N5-X-std.
#[test]
fn a_short_lingering_discards_nothing() {
    let (mut one, mut other) = connection();
    for limit in [Duration::from_millis(500), Duration::MAX] {
        one.set_linger(Some(limit)).unwrap();
        let set = socket2::SockRef::from(&one).linger().unwrap();
        assert!(set > Some(Duration::ZERO), "{limit:?} became {set:?}");
    }
    one.set_linger(Some(Duration::from_millis(1))).unwrap();
    one.write_all(&[7; 1 << 16]).unwrap();
    drop(one);
    let mut received = Vec::new();
    other.read_to_end(&mut received).expect("no reset");
}

/// A call of each type that would wait fails; it succeeds once there is something, although no
/// event has been fetched; and it waits again in the other mode.
// Proves: N5-X-std.
#[test]
fn calls_do_not_wait_in_this_mode() {
    for executor in EXECUTOR_KINDS {
        let mut jobs = Jobs::new();
        jobs.add(streams_do_not_wait);
        jobs.add(listeners_do_not_wait);
        jobs.add(datagrams_do_not_wait);
        jobs.run(executor, 2);
    }
}

fn streams_do_not_wait() {
    fn test<S>(one: &S, other: &S, set: impl Fn(bool) -> io::Result<()>)
    where
        for<'a> &'a S: Read + Write,
    {
        let (mut one, mut other) = (one, other);
        let mut buffer = [0; 1 << 16];
        for _ in 0..3 {
            set(true).unwrap();
            assert!(would_block(one.read(&mut buffer)));
            assert!(would_block(one.read(&mut buffer)));
            other.write_all(b"ping").unwrap();
            assert_eq!(at_last("the word", || one.read(&mut buffer)), 4);
            assert!(would_block(one.read(&mut buffer)));

            let mut sent = 0;
            let full = loop {
                match one.write(&buffer) {
                    Ok(n) => sent += n,
                    full => break full,
                }
            };
            assert!(sent > 0 && would_block(full));
            while sent > 0 {
                sent -= other.read(&mut buffer).unwrap();
            }
            assert!(at_last("space", || one.write(b"pong")) == 4);
            set(false).unwrap();
            other.read_exact(&mut buffer[..4]).unwrap();
            other.write_all(b"last").unwrap();
            one.read_exact(&mut buffer[..4]).unwrap();
        }
    }
    let (one, other) = connection();
    test(&one, &other, |yes| one.set_nonblocking(yes));
    let (one, other) = UnixStream::pair().unwrap();
    let clone = one.try_clone().unwrap();
    test(&one, &other, |yes| clone.set_nonblocking(yes));
}

fn listeners_do_not_wait() {
    let listener = listener();
    listener.set_nonblocking(true).unwrap();
    assert!(would_block(listener.accept()));
    assert!(would_block(listener.incoming().next().unwrap()));
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut server, _) = at_last("a connection", || listener.accept());
    assert!(would_block(listener.accept()));
    // An accepted connection waits.
    pirn::scope(|s| {
        s.spawn(|| {
            pirn::yield_now();
            client.write_all(b"ping").unwrap();
        });
        server.read_exact(&mut [0; 4]).unwrap();
    });

    let directory = Directory::new();
    let path = directory.at("socket");
    let listener = UnixListener::bind(&path).unwrap();
    listener.set_nonblocking(true).unwrap();
    assert!(would_block(listener.accept()));
    let _client = UnixStream::connect(&path).unwrap();
    at_last("a connection", || listener.accept());
    listener.set_nonblocking(false).unwrap();
    let _client = UnixStream::connect(&path).unwrap();
    listener.accept().unwrap();
}

fn datagrams_do_not_wait() {
    let any = (Ipv4Addr::LOCALHOST, 0);
    let (one, other) = (UdpSocket::bind(any).unwrap(), UdpSocket::bind(any).unwrap());
    one.set_nonblocking(true).unwrap();
    let mut buffer = [0; 16];
    assert!(would_block(one.recv_from(&mut buffer)));
    assert!(would_block(one.peek_from(&mut buffer)));
    other.send_to(b"ping", one.local_addr().unwrap()).unwrap();
    assert_eq!(at_last("a datagram", || one.recv_from(&mut buffer)).0, 4);

    let (one, other) = UnixDatagram::pair().unwrap();
    one.set_nonblocking(true).unwrap();
    assert!(would_block(one.recv(&mut buffer)));
    while one.send(b"ping").is_ok() {}
    assert!(would_block(one.send(b"ping")));
    assert_eq!(other.recv(&mut buffer).unwrap(), 4);
    assert_eq!(at_last("space", || one.send(b"ping")), 4);
    other.send(b"pong").unwrap();
    assert_eq!(at_last("a datagram", || one.recv(&mut buffer)), 4);
}

/// Limits outlast the mode. It is read by the call that would wait: an interrupt comes first, and a
/// wait that has begun goes on.
// Proves: N5-X-std.
#[test]
fn limits_and_interrupts_are_kept() {
    const LIMIT: Duration = Duration::from_millis(5);
    let runtime = runtime(1);
    let (one, other) = connection();
    one.set_read_timeout(Some(LIMIT)).unwrap();
    one.set_nonblocking(true).unwrap();
    assert_eq!(one.read_timeout().unwrap(), Some(LIMIT));
    assert_eq!(one.write_timeout().unwrap(), None);
    one.set_read_timeout(Some(Duration::MAX)).unwrap();
    one.set_write_timeout(Some(LIMIT)).unwrap();
    assert!(would_block((&one).read(&mut [0; 4])));
    let longest = one.read_timeout().unwrap().unwrap();
    assert!(longest > Duration::from_secs(1 << 33));
    one.set_read_timeout(Some(LIMIT)).unwrap();
    let stop = Token::new();
    stop.cancel();
    let error = stop.enter(|| (&one).read(&mut [0; 4])).unwrap_err();
    assert_eq!(Interrupt::of(&error), Some(Interrupt::Cancelled));
    one.set_nonblocking(false).unwrap();
    assert_eq!(one.write_timeout().unwrap(), Some(LIMIT));
    let error = runtime.run(|| (&one).read(&mut [0; 4])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);

    one.set_read_timeout(None).unwrap();
    runtime.scope(|s| {
        let waiter = s.spawn(|| (&one).read(&mut [0; 4]));
        await_reason(&runtime, Reason::Readable);
        one.set_nonblocking(true).unwrap();
        (&other).write_all(b"ping").unwrap();
        assert_eq!(waiter.join().unwrap().unwrap(), 4);
    });
}

fn await_reason(runtime: &Runtime, reason: Reason) {
    eventually("it waits", || {
        let fibers = runtime.fibers();
        fibers.iter().any(|fiber| fiber.reason == Some(reason))
    });
}

/// The mode changes at random while messages come: no byte and no wake is lost.
// Proves: N5-X-std.
#[test]
fn the_mode_may_change_at_any_time() {
    let rounds = scaled(400);
    on_every_shape(|runtime| {
        let (one, other) = connection();
        runtime.scope(|s| {
            let (one, other) = (&one, &other);
            s.spawn(move || {
                let (mut sender, mut answer) = (other, [0; 1]);
                for round in 0..rounds {
                    sender.write_all(&[round as u8]).unwrap();
                    sender.read_exact(&mut answer).unwrap();
                    assert_eq!(answer, [round as u8]);
                }
            });
            s.spawn(move || {
                let (mut receiver, mut dice) = (one, Dice(7));
                for round in 0..rounds {
                    let mut message = [0; 1];
                    loop {
                        receiver.set_nonblocking(dice.below(2) == 0).unwrap();
                        match receiver.read(&mut message) {
                            Ok(n) => break assert_eq!(n, 1),
                            Err(error) => {
                                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                                pirn::yield_now();
                            }
                        }
                    }
                    assert_eq!(message, [round as u8]);
                    receiver.write_all(&message).unwrap();
                }
            });
        });
    });
}

/// A socket of `std` in that mode waits here until it is set again, and blocks after its return.
// Proves: N5-X-std.
#[test]
fn the_mode_does_not_come_with_a_socket() {
    let (one, mut other) = Plain::pair().unwrap();
    one.set_nonblocking(true).unwrap();
    let mut one = UnixStream::try_from(one).unwrap();
    let runtime = runtime(1);
    runtime.scope(|s| {
        let reader = s.spawn(|| one.read(&mut [0; 4]));
        await_reason(&runtime, Reason::Readable);
        other.write_all(b"ping").unwrap();
        assert_eq!(reader.join().unwrap().unwrap(), 4);
    });
    one.set_nonblocking(true).unwrap();
    let mut one = one.into_std().unwrap();
    one.set_read_timeout(Some(LONG)).unwrap();
    std::thread::scope(|threads| {
        threads.spawn(|| other.write_all(b"pong").unwrap());
        assert_eq!(one.read(&mut [0; 4]).unwrap(), 4);
    });
}

/// A listener of TCP in this mode serves everything that comes, beside other work.
// Proves: N5-X-std.
#[test]
fn a_loop_of_attempts_serves_clients() {
    let runtime = runtime(1);
    runtime.run(|| {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        listener.set_nonblocking(true).unwrap();
        pirn::scope(|s| {
            for _ in 0..20 {
                s.spawn(move || TcpStream::connect(address).unwrap());
            }
            let mut accepted = 0;
            while accepted < 20 {
                match listener.accept() {
                    Ok(_) => accepted += 1,
                    Err(error) => {
                        assert_eq!(error.kind(), ErrorKind::WouldBlock);
                        pirn::yield_now();
                    }
                }
            }
        });
    });
}
