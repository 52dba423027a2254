//! Sockets of `std`.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::time::Duration;

use pirn::{spawn, yield_now};
use pirn_hooks::within;

use crate::fixture::{blocks, on_one_worker, parks, read_all};
use crate::raw;

/// Echoes what comes until the end.
fn echo(mut stream: impl Read + Write) {
    let mut buffer = [0; 1_000];
    loop {
        match stream.read(&mut buffer).unwrap() {
            0 => return,
            n => stream.write_all(&buffer[..n]).unwrap(),
        }
    }
}

// Proves: T2.
#[test]
fn a_server_and_its_clients_share_a_thread() {
    on_one_worker(|| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = spawn(move || {
            within(|| {
                for stream in listener.incoming().take(20) {
                    let stream = stream.unwrap();
                    drop(spawn(|| within(|| echo(stream))));
                }
            });
        });
        let client = |number: u8| {
            move || {
                within(|| {
                    let mut stream = TcpStream::connect(address).unwrap();
                    for round in 0..50 {
                        let sent = [number, round];
                        stream.write_all(&sent).unwrap();
                        let mut came = [0; 2];
                        stream.read_exact(&mut came).unwrap();
                        assert_eq!(came, sent);
                    }
                });
            }
        };
        let clients: Vec<_> = (0..20).map(|number| spawn(client(number))).collect();
        clients
            .into_iter()
            .for_each(|client| client.join().unwrap());
        server.join().unwrap();
    });
    assert!(parks("recv") > 0 && parks("accept") > 0);
}

// Proves: T2.
#[test]
fn a_blocking_send_sends_everything() {
    const SIZE: usize = 10 << 20;
    on_one_worker(|| {
        let (one, other) = UnixStream::pair().unwrap();
        let reader = read_all(other);
        let bytes: Vec<u8> = (0..SIZE).map(|i| ((i * i) >> 3) as u8).collect();
        assert_eq!(raw::send(&one, &bytes, 0).unwrap(), SIZE);
        let parts = [&bytes[..10], &[], &bytes[10..SIZE / 2], &bytes[SIZE / 2..]];
        assert_eq!(raw::sendmsg(&one, &parts).unwrap(), SIZE);
        drop(one);
        let came = reader.join().unwrap();
        assert!(came[..SIZE] == bytes && came[SIZE..] == bytes);
    });
}

// Proves: T2.
#[test]
fn waitall_waits_for_all() {
    on_one_worker(|| {
        let (one, mut other) = UnixStream::pair().unwrap();
        let writer = spawn(move || {
            within(|| {
                for part in [&b"ab"[..], b"cd", b"e"] {
                    other.write_all(part).unwrap();
                    yield_now();
                }
            });
        });
        let mut buffer = [0; 4];
        assert_eq!(raw::recv(&one, &mut buffer, libc::MSG_WAITALL).unwrap(), 4);
        assert_eq!(&buffer, b"abcd");
        writer.join().unwrap();
        let rest = raw::recv(&one, &mut buffer, libc::MSG_WAITALL);
        assert_eq!((rest.unwrap(), buffer[0]), (1, b'e'));
    });
}

// Proves: T2.
#[test]
fn a_nonblocking_socket_stays_so() {
    on_one_worker(|| {
        let (one, mut other) = UnixStream::pair().unwrap();
        one.set_nonblocking(true).unwrap();
        let kind = |done: io::Result<usize>| done.unwrap_err().kind();
        assert_eq!(kind((&one).read(&mut [0; 8])), ErrorKind::WouldBlock);
        let much = vec![0; 10 << 20];
        let sent = (&one).write(&much).unwrap();
        assert!(sent < much.len());
        assert_eq!(kind((&one).write(&much)), ErrorKind::WouldBlock);
        other.read_exact(&mut vec![0; sent]).unwrap();
    });
}

// Proves: T2.
#[test]
fn a_call_with_dontwait_returns() {
    on_one_worker(|| {
        let (one, _other) = UnixStream::pair().unwrap();
        let came = raw::recv(&one, &mut [0; 8], libc::MSG_DONTWAIT);
        assert_eq!(came.unwrap_err().kind(), ErrorKind::WouldBlock);
    });
}

// Proves: T2.
#[test]
fn datagrams_come_and_time_out() {
    on_one_worker(|| {
        let one = UdpSocket::bind("127.0.0.1:0").unwrap();
        let other = UdpSocket::bind("127.0.0.1:0").unwrap();
        let to = one.local_addr().unwrap();
        let sender = spawn(move || within(|| other.send_to(b"abc", to).unwrap()));
        let mut buffer = [0; 8];
        assert_eq!(one.recv_from(&mut buffer).unwrap().0, 3);
        assert_eq!(sender.join().unwrap(), 3);
        one.set_read_timeout(Some(Duration::from_millis(5)))
            .unwrap();
        let late = one.recv_from(&mut buffer);
        assert_eq!(late.unwrap_err().kind(), ErrorKind::WouldBlock);
    });
}

// Proves: T2.
#[test]
fn a_refused_connection_is_reported() {
    on_one_worker(|| {
        let address = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap();
        let refused = TcpStream::connect(address).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
        let limit = Duration::from_secs(10);
        let refused = TcpStream::connect_timeout(&address, limit).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    });
}

/// The first send of a socket may connect it. Where the system has no cookie of the peer, that
/// takes as long as an ordinary connect.
// Proves: T2.
#[test]
fn the_first_send_may_connect() {
    on_one_worker(|| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let before = blocks("sendto");
        for _ in 0..3 {
            let socket = raw::tcp_socket();
            let sent = raw::send_fast(&socket, b"fast", address);
            if sent
                .as_ref()
                .is_err_and(|e| e.kind() == ErrorKind::Unsupported)
            {
                return;
            }
            assert_eq!(sent.unwrap(), 4);
            let mut got = [0; 4];
            listener.accept().unwrap().0.read_exact(&mut got).unwrap();
            assert_eq!(&got, b"fast");
        }
        assert_eq!(blocks("sendto") - before, 3);
    });
}

/// As for a thread: the receive returns nothing.
// Proves: T2.
#[test]
fn a_shut_down_datagram_socket_ends_the_receive() {
    let receives: [fn(&UnixDatagram) -> io::Result<usize>; 3] = [
        |socket| socket.recv(&mut [0; 8]),
        |socket| socket.recv_from(&mut [0; 8]).map(|(length, _)| length),
        |socket| raw::read(socket, &mut [0; 8]),
    ];
    for receive in receives {
        on_one_worker(move || {
            let (one, other) = UnixDatagram::pair().unwrap();
            let same = one.try_clone().unwrap();
            let ends = spawn(move || {
                pirn::sleep(Duration::from_millis(5)).unwrap();
                same.shutdown(std::net::Shutdown::Read).unwrap();
            });
            other.send(b"before").unwrap();
            assert_eq!(receive(&one).unwrap(), 6);
            assert_eq!(receive(&one).unwrap(), 0);
            ends.join().unwrap();
        });
    }
    on_one_worker(|| {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let same = socket.try_clone().unwrap();
        let ends = spawn(move || {
            pirn::sleep(Duration::from_millis(5)).unwrap();
            raw::shut_down(same.as_raw_fd());
        });
        assert_eq!(socket.recv(&mut [0; 8]).unwrap(), 0);
        ends.join().unwrap();
    });
}

// Proves: T2.
#[test]
fn a_full_queue_of_a_unix_socket_is_waited_for() {
    on_one_worker(|| {
        let directory = std::env::temp_dir();
        let path = directory.join(format!("pirn-hooks-{}", std::process::id()));
        let listener = UnixListener::bind(&path).unwrap();
        let connect = |path: std::path::PathBuf| {
            spawn(move || within(|| UnixStream::connect(path).unwrap()))
        };
        // The queue of `std` has room for 128 (or `net.core.somaxconn`).
        let all: Vec<_> = (0..300).map(|_| connect(path.clone())).collect();
        for _ in 0..300 {
            listener.accept().unwrap();
        }
        all.into_iter().for_each(|one| drop(one.join().unwrap()));
        std::fs::remove_file(&path).unwrap();
    });
}

// Proves: T2.
#[test]
fn many_messages_are_sent_and_received_by_one_call() {
    // More than the queue of a socket holds.
    const MESSAGES: usize = 1_000;
    on_one_worker(|| {
        let (one, other) = UnixDatagram::pair().unwrap();
        let sender = spawn(move || within(|| raw::sendmmsg(&other, MESSAGES).unwrap()));
        let first = raw::recvmmsg(&one, MESSAGES, libc::MSG_WAITFORONE).unwrap();
        assert!((1..MESSAGES).contains(&first));
        let rest = raw::recvmmsg(&one, MESSAGES - first, 0).unwrap();
        assert_eq!(first + rest, MESSAGES);
        assert_eq!(sender.join().unwrap(), MESSAGES);
    });
}

/// Flags that the system does not know are refused before a client comes.
// Proves: T2.
#[test]
fn an_accept_with_unknown_flags_fails_at_once() {
    on_one_worker(|| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let limit = Duration::from_secs(5);
        let accepted = pirn::timeout(limit, || raw::accept_with(&listener, 1));
        let error = accepted.unwrap().unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EINVAL));
    });
}
