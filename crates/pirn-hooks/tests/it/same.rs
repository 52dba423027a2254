//! Single calls with unusual arguments give the same results on a plain thread and on a fiber.

use std::fmt::Debug;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use pirn::spawn;
use pirn_hooks::within;

use crate::fixture::{on_one_worker, read_all};
use crate::raw;

/// Fails if `f` does not return the same on both; returns that.
pub(crate) fn same<T: Debug + PartialEq + Send + 'static>(f: fn() -> T) -> T {
    let expected = thread::spawn(f).join().unwrap();
    let found = on_one_worker(f);
    assert_eq!(found, expected);
    found
}

/// The number of an error, or the result.
pub(crate) fn number(done: io::Result<usize>) -> Result<usize, i32> {
    done.map_err(|error| error.raw_os_error().unwrap_or(0))
}

pub(crate) fn connected() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (one, listener.accept().unwrap().0)
}

// Proves: T2.
#[test]
fn only_listening_sockets_accept() {
    let found = same(|| {
        let (one, _other) = connected();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        let (pipe, _to) = io::pipe().unwrap();
        let all = [one.as_raw_fd(), udp.as_raw_fd(), pipe.as_raw_fd(), -1];
        all.map(|fd| number(raw::accept(fd)))
    });
    let expected = [libc::EINVAL, libc::EOPNOTSUPP, libc::ENOTSOCK, libc::EBADF];
    assert_eq!(found, expected.map(Err));
}

// Proves: T2.
#[test]
fn a_socket_is_connected_once() {
    let found = same(|| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let there = listener.local_addr().unwrap();
        let gone = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap();
        let refused = raw::tcp_socket();
        let open = raw::tcp_socket();
        [
            raw::connect(&refused, gone),
            raw::connect(&refused, gone),
            raw::connect(&refused, there),
            raw::connect(&open, there),
            raw::connect(&open, there),
        ]
        .map(number)
    });
    let refused = Err(libc::ECONNREFUSED);
    assert_eq!(found, [refused, refused, Ok(0), Ok(0), Err(libc::EISCONN)]);
}

// Proves: T2.
#[test]
fn an_error_after_a_part_is_left_for_the_next_call() {
    let found = same(|| {
        let (one, mut other) = connected();
        let peer = thread::spawn(move || {
            other.write_all(&[7; 50]).unwrap();
            thread::sleep(Duration::from_millis(10));
            raw::reset(other);
        });
        let mut room = [0; 100];
        let all = [
            raw::recv(&one, &mut room, libc::MSG_WAITALL),
            raw::recv(&one, &mut room, 0),
            raw::recv(&one, &mut room, 0),
        ];
        peer.join().unwrap();
        all.map(number)
    });
    assert_eq!(found, [Ok(50), Err(libc::ECONNRESET), Ok(0)]);
}

// Proves: T2.
#[test]
fn a_time_limit_is_one_for_the_whole_call() {
    let took = same(|| {
        let (one, other) = connected();
        raw::set_buffers(&one, 64 << 10);
        raw::set_buffers(&other, 64 << 10);
        one.set_write_timeout(Some(Duration::from_millis(400)))
            .unwrap();
        let reader = thread::spawn(move || {
            let mut room = [0; 64 << 10];
            while matches!((&other).read(&mut room), Ok(1..)) {
                // There is room again long before the limit is over.
                thread::sleep(Duration::from_millis(50));
            }
        });
        let start = Instant::now();
        let sent = raw::send(&one, &vec![0; 10 << 20], 0).unwrap();
        assert!(0 < sent && sent < 10 << 20);
        let took = start.elapsed();
        one.shutdown(Shutdown::Both).unwrap();
        reader.join().unwrap();
        // All of it would take 8 s.
        took < Duration::from_secs(4)
    });
    assert!(took);
}

// Proves: T3.
#[test]
fn what_cannot_be_written_fails_at_once() {
    let found = same(|| {
        let timer = raw::timer();
        let event = raw::event();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        udp.connect(udp.local_addr().unwrap()).unwrap();
        let nothing = raw::writev(&udp, &[b"", b""]);
        udp.set_nonblocking(true).unwrap();
        [
            raw::write(&timer, b"12345678"),
            raw::read(&event, &mut [0; 4]),
            raw::write(&event, b"1234"),
            nothing,
            udp.recv(&mut [0; 8]),
        ]
        .map(number)
    });
    let invalid = Err(libc::EINVAL);
    assert_eq!(found, [invalid, invalid, invalid, Ok(0), Err(libc::EAGAIN)]);
}

// Proves: T4.
#[test]
fn poll_and_select_take_nothing() {
    let found = same(|| {
        let start = Instant::now();
        let found = (
            number(raw::poll_null(3)),
            raw::select(&[], 3).map(|it| it.0).ok(),
        );
        assert!(start.elapsed() >= Duration::from_millis(6));
        found
    });
    assert_eq!(found, (Ok(0), Some(0)));
}

/// Unread data are no event for these.
// Proves: T4.
#[test]
fn events_that_are_not_there_do_not_wake() {
    on_one_worker(|| {
        let (one, mut other) = connected();
        other.write_all(b"abc").unwrap();
        let before = raw::thread_time();
        let polled = raw::poll(&[(one.as_raw_fd(), libc::POLLPRI)], 20).unwrap();
        assert_eq!(polled, (0, vec![0]));
        let polled = raw::poll(&[(one.as_raw_fd(), libc::POLLRDHUP)], 20).unwrap();
        assert_eq!(polled, (0, vec![0]));
        // A wait that wakes at once each time uses the processor for all of the 40 ms.
        let worked = raw::thread_time() - before;
        assert!(worked < Duration::from_millis(20), "{worked:?}");
    });
}

// Proves: T5.
#[test]
fn only_children_are_waited_for() {
    let found = same(|| {
        let (pipe, _to) = io::pipe().unwrap();
        [
            raw::waitpid(1),
            raw::waitpid(i32::MAX),
            raw::waitid(libc::P_PIDFD, pipe.as_raw_fd(), libc::WEXITED),
            raw::waitid(libc::P_PID, 1, libc::WEXITED),
            raw::waitid(libc::P_PID, 1, 0),
        ]
        .map(number)
    });
    let expected = [
        libc::ECHILD,
        libc::ECHILD,
        libc::EBADF,
        libc::ECHILD,
        libc::EINVAL,
    ];
    assert_eq!(found, expected.map(Err));
}

// Proves: T2.
#[test]
fn each_message_of_a_stream_is_sent_whole() {
    const SIZE: usize = 1 << 20;
    on_one_worker(|| {
        let (one, other) = UnixStream::pair().unwrap();
        let reader = read_all(other);
        let parts = [vec![1; SIZE], vec![2; SIZE]];
        assert_eq!(raw::sendmmsg_of(&one, &parts).unwrap(), vec![SIZE, SIZE]);
        drop(one);
        assert!(reader.join().unwrap() == parts.concat());
    });
}

/// Code that holds a lock while it writes to a file does not wait there, so it is right on fibers,
/// too.
// Proves: T3.
#[test]
fn files_do_not_yield() {
    on_one_worker(|| {
        let path =
            std::env::temp_dir().join(format!("pirn-hooks-log-{}", std::process::id()));
        let file = Mutex::new(File::create(&path).unwrap());
        pirn::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    within(|| {
                        for _ in 0..1_000 {
                            file.lock().unwrap().write_all(b"x").unwrap();
                            pirn::yield_now();
                        }
                    });
                });
            }
        });
        assert_eq!(std::fs::read(&path).unwrap().len(), 2_000);
        let token = pirn::cancel::Token::new();
        token.cancel();
        // A cancellation does not keep a fiber from writing what it has to.
        token
            .enter(|| file.lock().unwrap().write_all(b"y"))
            .unwrap();
        std::fs::remove_file(&path).unwrap();
    });
}

// Proves: T4.
#[test]
fn a_socket_that_has_parked_here_may_become_one_of_pirn() {
    on_one_worker(|| {
        let (one, mut other) = UnixStream::pair().unwrap();
        let sender = spawn(move || {
            within(|| {
                for _ in 0..2 {
                    thread::sleep(Duration::from_millis(3));
                    other.write_all(b"x").unwrap();
                }
            });
        });
        (&one).read_exact(&mut [0]).unwrap();
        let mut one = pirn::net::UnixStream::try_from(one).unwrap();
        one.read_exact(&mut [0]).unwrap();
        sender.join().unwrap();
    });
}
