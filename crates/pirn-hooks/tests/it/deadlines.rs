//! Deadlines and cancellations of the code around a call.

use std::io::{self, ErrorKind, Read};
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Duration;

use pirn::cancel::Token;
use pirn::{spawn, timeout, yield_now};
use pirn_hooks::within;

use crate::fixture::on_one_worker;
use crate::raw;

type Call = Box<dyn Fn() -> io::Result<()> + Send>;

/// Calls that wait for ever.
fn endless() -> Vec<(&'static str, Call)> {
    let (one, kept) = UnixStream::pair().unwrap();
    let (pipe, full) = io::pipe().unwrap();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let path =
        std::env::temp_dir().join(format!("pirn-hooks-idle-{}", std::process::id()));
    let listener = UnixListener::bind(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    let (polled, keeper) = io::pipe().unwrap();
    let (filled, unread) = UnixStream::pair().unwrap();
    vec![
        (
            "read of a socket",
            Box::new(move || {
                let _ = &kept;
                (&one).read(&mut [0]).map(drop)
            }),
        ),
        (
            "write to a pipe",
            Box::new(move || {
                let _ = &pipe;
                loop {
                    raw::write(&full, &[0; 4_096])?;
                }
            }),
        ),
        (
            "recv_from",
            Box::new(move || socket.recv_from(&mut [0]).map(drop)),
        ),
        ("accept", Box::new(move || listener.accept().map(drop))),
        (
            "poll",
            Box::new(move || {
                let _ = &keeper;
                raw::poll(&[(polled.as_raw_fd(), libc::POLLIN)], -1).map(drop)
            }),
        ),
        (
            "send",
            Box::new(move || {
                let _ = &unread;
                loop {
                    raw::send(&filled, &[0; 4_096], 0)?;
                }
            }),
        ),
    ]
}

// Proves: T6.
#[test]
fn a_deadline_is_a_time_out() {
    on_one_worker(|| {
        for (name, call) in endless() {
            let mut ended = Ok(());
            let _ = timeout(Duration::from_millis(5), || ended = call());
            let error = ended.expect_err(name);
            assert_eq!(error.kind(), ErrorKind::TimedOut, "{name}");
            assert_eq!(error.raw_os_error(), Some(libc::ETIMEDOUT), "{name}");
        }
    });
}

// Proves: T6.
#[test]
fn a_cancellation_ends_a_call() {
    on_one_worker(|| {
        for (name, call) in endless() {
            let token = Token::new();
            let inner = token.clone();
            let caller = spawn(move || inner.enter(|| within(call)));
            yield_now();
            token.cancel();
            let error = caller.join().unwrap().expect_err(name);
            assert_eq!(error.raw_os_error(), Some(libc::ECANCELED), "{name}");
        }
    });
}

// Proves: T6.
#[test]
fn a_cancelled_fiber_begins_no_call() {
    on_one_worker(|| {
        let (one, other) = UnixStream::pair().unwrap();
        raw::send(&other, b"abc", 0).unwrap();
        let token = Token::new();
        token.cancel();
        let came = token.enter(|| raw::recv(&one, &mut [0; 8], 0));
        assert_eq!(came.unwrap_err().raw_os_error(), Some(libc::ECANCELED));
        assert_eq!(raw::recv(&one, &mut [0; 8], 0).unwrap(), 3);
    });
}

// Proves: T6.
#[test]
fn a_transfer_that_has_begun_returns_its_part() {
    on_one_worker(|| {
        let (one, _other) = UnixStream::pair().unwrap();
        let much = vec![0; 10 << 20];
        let mut sent = Ok(0);
        let _ = timeout(Duration::from_millis(200), || {
            sent = raw::send(&one, &much, 0);
        });
        let sent = sent.unwrap();
        assert!(0 < sent && sent < much.len());
    });
}
