//! Sockets compared with those of `std`: every byte, every error.

use std::io::{self, ErrorKind, IoSlice, IoSliceMut, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pirn::net::{
    ListenOptions, TcpListener, TcpStream, UdpSocket, UnixDatagram, UnixListener,
    UnixStream, lookup_host,
};
use pirn::time::now;
use pirn::{Interrupt, scope};
use socket2::SockRef;

use crate::executor_kind::{EXECUTOR_KINDS, Jobs, runtime};
use crate::sockets_util::{at_once, connection, converse, echo, listener};
use crate::util::{Directory, LONG, eventually, on_every_shape, scaled, sockets};

/// N5. A fiber for each connection: every byte is echoed, in order, on every shape.
// Proves: N4.
#[test]
fn everything_comes_back() {
    on_every_shape(|runtime| {
        runtime.run(|| {
            let listener = listener();
            let address = listener.local_addr().unwrap();
            let clients = scaled(40).max(4);
            scope::supervise(|s| {
                let accept = s.spawn(|| {
                    for stream in listener.incoming().take(clients) {
                        let stream = stream.unwrap();
                        at_once(&stream);
                        drop(s.spawn(move || echo(&stream).unwrap()));
                    }
                });
                for seed in 0..clients {
                    drop(s.spawn(move || {
                        let stream = TcpStream::connect(address).unwrap();
                        at_once(&stream);
                        converse(&stream, seed, 20);
                    }));
                }
                accept.join().unwrap();
            });
        });
    });
}

/// The same objects from fibers and from plain threads, in any mix.
// Proves: N5-X-std.
#[test]
fn fibers_and_threads_in_any_mix() {
    for executor in EXECUTOR_KINDS {
        let listener = listener();
        let address = listener.local_addr().unwrap();
        let mut jobs = Jobs::new();
        for seed in 0..8 {
            let listener = &listener;
            jobs.add(move || {
                let (stream, _) = listener.accept().unwrap();
                at_once(&stream);
                echo(&stream).unwrap();
            });
            jobs.add(move || {
                let stream = TcpStream::connect(address).unwrap();
                at_once(&stream);
                converse(&stream, seed, 10);
            });
        }
        jobs.run(executor, 2);
    }
}

/// Actions of the peer appear as with `std`: the end, a reset, a refused connection.
// Proves: N5-X-std.
#[test]
fn ends_and_errors_are_the_systems() {
    runtime(2).run(|| {
        let (one, other) = connection();
        (&one).write_all(b"last words").unwrap();
        one.shutdown(Shutdown::Write).unwrap();
        let mut text = String::new();
        (&other).read_to_string(&mut text).unwrap();
        assert_eq!(text, "last words");
        // The other direction is still open.
        (&other).write_all(b"answer").unwrap();
        drop(other);
        text.clear();
        (&one).read_to_string(&mut text).unwrap();
        assert_eq!(text, "answer");

        let (one, other) = connection();
        one.set_linger(Some(Duration::ZERO)).unwrap();
        drop(one);
        let error = (&other).read(&mut [0; 8]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);

        let closed = listener().local_addr().unwrap();
        let error = TcpStream::connect(closed).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        let error = TcpStream::connect_timeout(&closed, LONG).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        let error = TcpStream::connect_timeout(&closed, Duration::ZERO).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        let taken = listener();
        let error = TcpListener::bind(taken.local_addr().unwrap()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AddrInUse);
    });
}

/// A writer waits while the other end does not read; only the system's buffers hold data meanwhile.
// Proves: N5-X-std, N5-X-slow.
#[test]
fn a_slow_reader_holds_its_writer_back() {
    const TOTAL: usize = 64 << 20;
    let total = scaled(TOTAL).max(16 << 20);
    runtime(1).run(|| {
        let (one, other) = connection();
        let sent = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&sent);
        let writer = pirn::spawn(move || {
            let block = [7; 1 << 16];
            while count.load(Ordering::SeqCst) < total {
                let n = (&one).write(&block).unwrap();
                count.fetch_add(n, Ordering::SeqCst);
            }
        });
        // The writer stops: all possible progress is made, since no other fiber runs here.
        let mut before = usize::MAX;
        while before != sent.load(Ordering::SeqCst) {
            before = sent.load(Ordering::SeqCst);
            pirn::sleep(Duration::from_millis(20)).unwrap();
        }
        assert!(before < total, "the system had room for everything");
        let mut received = 0;
        let mut buffer = vec![0; 1 << 16];
        while let n @ 1.. = (&other).read(&mut buffer).unwrap() {
            assert!(buffer[..n].iter().all(|&byte| byte == 7));
            received += n;
        }
        writer.join().unwrap();
        assert_eq!(received, sent.load(Ordering::SeqCst));
    });
}

/// A partial write has a cause other than full buffers: more buffers than the system takes, or
/// bytes behind an urgent one.
// Proves: N5-X-std.
#[test]
fn a_short_count_is_not_always_the_end() {
    runtime(1).run(|| {
        let (one, other) = connection();
        other.set_read_timeout(Some(LONG)).unwrap();
        one.set_write_timeout(Some(LONG)).unwrap();
        let mut byte = [0; 1];
        // So that the system has both ends registered, and registered as empty.
        let reader = pirn::spawn(move || {
            (&other).read_exact(&mut byte).map(|()| (other, byte[0]))
        });
        pirn::yield_now();
        (&one).write_all(b"0").unwrap();
        let (other, first) = reader.join().unwrap().unwrap();
        assert_eq!(first, b'0');

        let bytes: Vec<u8> = (0..5_000).map(|i| i as u8).collect();
        let mut written = 0;
        while written < bytes.len() {
            let slices: Vec<IoSlice<'_>> =
                bytes[written..].chunks(1).map(IoSlice::new).collect();
            written += (&one).write_vectored(&slices).unwrap();
        }
        let mut back = vec![0; bytes.len()];
        let mut read = 0;
        while read < back.len() {
            let mut slices: Vec<IoSliceMut<'_>> =
                back[read..].chunks_mut(1).map(IoSliceMut::new).collect();
            read += (&other).read_vectored(&mut slices).unwrap();
        }
        assert!(back == bytes);

        (&one).write_all(b"abc").unwrap();
        SockRef::from(&one).send_out_of_band(b"!").unwrap();
        (&one).write_all(b"def").unwrap();
        let mut text = Vec::new();
        while text.len() < 6 {
            let mut buffer = [0; 100];
            let n = (&other).read(&mut buffer).unwrap();
            text.extend_from_slice(&buffer[..n]);
        }
        assert_eq!(text, b"abcdef");
    });
}

/// Clones are handles of one socket, which the last one closes; a shared socket cannot be
/// extracted.
// Proves: N5-X-std.
#[test]
fn clones_share_one_socket() {
    runtime(1).run(|| {
        let (one, other) = connection();
        let clone = one.try_clone().unwrap();
        clone.set_read_timeout(Some(LONG)).unwrap();
        assert_eq!(one.read_timeout().unwrap(), Some(LONG));
        let one = one.into_std().unwrap_err();
        drop(one);
        (&clone).write_all(b"x").unwrap();
        (&other).read_exact(&mut [0; 1]).unwrap();
        let mut std = clone.into_std().unwrap();
        assert!(std.read_timeout().unwrap().is_none());
        // It blocks, like `std`'s.
        (&other).write_all(b"abc").unwrap();
        let mut back = [0; 3];
        std.read_exact(&mut back).unwrap();
        let again = TcpStream::try_from(std).unwrap();
        (&other).write_all(b"d").unwrap();
        (&again).read_exact(&mut back[..1]).unwrap();
        assert_eq!(&back, b"dbc");
        let descriptor = OwnedFd::from(again.into_std().unwrap());
        let third = TcpStream::try_from(descriptor).unwrap();
        drop(third);
        assert_eq!((&other).read(&mut back).unwrap(), 0, "closed");
    });
}

/// Options are the system's; several listeners on one port share the connections.
// Proves: N5-X-std.
#[test]
fn options_are_set() {
    runtime(1).run(|| {
        let (one, _other) = connection();
        one.set_nodelay(true).unwrap();
        assert!(one.nodelay().unwrap());
        one.set_ttl(40).unwrap();
        assert_eq!(one.ttl().unwrap(), 40);
        assert!(one.take_error().unwrap().is_none());
        let error = one.set_read_timeout(Some(Duration::ZERO)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);

        let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
        datagrams.set_multicast_loop_v4(false).unwrap();
        assert!(!datagrams.multicast_loop_v4().unwrap());
        datagrams.set_multicast_ttl_v4(7).unwrap();
        assert_eq!(datagrams.multicast_ttl_v4().unwrap(), 7);

        let options = ListenOptions::new().reuse_port(true).backlog(16);
        assert!(options.reuse_port && options.backlog == 16);
        // A field that is set is the same as a call.
        let mut other = ListenOptions::default().backlog(16);
        assert_ne!(other, options);
        other.reuse_port = true;
        assert_eq!(other, options);
        let other = other.reuse_address(false).only_v6(true);
        assert!(!other.reuse_address && other.only_v6 == Some(true));
        let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
        let listeners = [any, any];
        let first = TcpListener::bind_with(listeners[0], &options).unwrap();
        let address = first.local_addr().unwrap();
        let second = TcpListener::bind_with(address, &options).unwrap();
        assert_eq!(second.local_addr().unwrap(), address);
        let accepted = Arc::new(AtomicUsize::new(0));
        let servers: Vec<_> = [first, second]
            .into_iter()
            .map(|listener| {
                let accepted = Arc::clone(&accepted);
                pirn::spawn(move || {
                    for stream in listener.incoming() {
                        match stream {
                            Ok(_) => accepted.fetch_add(1, Ordering::SeqCst),
                            Err(error) => return Interrupt::of(&error),
                        };
                    }
                    None
                })
            })
            .collect();
        let streams: Vec<_> = (0..50)
            .map(|_| TcpStream::connect(address).unwrap())
            .collect();
        while accepted.load(Ordering::SeqCst) < streams.len() {
            pirn::yield_now();
        }
        for server in servers {
            server.cancel();
            assert_eq!(server.join().unwrap(), Some(Interrupt::Cancelled));
        }
    });
}

/// Addresses are tried in turn; names are looked up on another thread.
// Proves: N5-X-std.
#[test]
fn names_and_addresses() {
    runtime(1).run(|| {
        let here = listener();
        let address = here.local_addr().unwrap();
        let closed = listener().local_addr().unwrap();
        drop(TcpStream::connect(&[closed, address][..]).unwrap());
        drop(TcpStream::connect(("127.0.0.1", address.port())).unwrap());
        drop(TcpStream::connect(address.to_string()).unwrap());
        drop(TcpStream::connect(("localhost", address.port())).unwrap());
        assert!(!lookup_host("localhost:80").unwrap().is_empty());
        assert!(lookup_host("localhost").is_err(), "no port");
        let none: &[SocketAddr] = &[];
        let error = TcpStream::connect(none).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    });
}

/// Datagrams arrive whole, with their sender's address, at any waiter.
// Proves: N5-X-std.
#[test]
fn datagrams_arrive() {
    runtime(2).run(|| {
        let one = UdpSocket::bind("127.0.0.1:0").unwrap();
        let other = UdpSocket::bind("127.0.0.1:0").unwrap();
        let to = other.local_addr().unwrap();
        let from = one.local_addr().unwrap();
        let receiver = pirn::spawn(move || {
            let mut buffer = [0; 16];
            let mut sum = 0;
            for _ in 0..100 {
                let (n, sender) = other.recv_from(&mut buffer).unwrap();
                assert_eq!((n, sender), (1, from));
                sum += usize::from(buffer[0]);
                other.send_to(&buffer[..1], sender).unwrap();
            }
            sum
        });
        one.connect(to).unwrap();
        for i in 0..100 {
            one.send(&[i]).unwrap();
            assert_eq!(one.peek(&mut [0; 4]).unwrap(), 1);
            assert_eq!(one.recv(&mut [0; 4]).unwrap(), 1);
        }
        assert_eq!(receiver.join().unwrap(), (0..100).sum::<usize>());
    });
}

/// Within the machine: streams, listeners and datagrams by path.
// Proves: N5-X-std.
#[test]
fn unix_sockets() {
    let name = format!("pirn-test-{}", std::process::id());
    let directory = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&directory).unwrap();
    runtime(2).run(|| {
        let path = directory.join("stream");
        let listener = UnixListener::bind(&path).unwrap();
        let server = pirn::spawn(move || {
            let mut lines = 0;
            for stream in listener.incoming().take(3) {
                let mut text = String::new();
                stream.unwrap().read_to_string(&mut text).unwrap();
                lines += text.lines().count();
            }
            lines
        });
        for _ in 0..3 {
            let mut stream = UnixStream::connect(&path).unwrap();
            stream.write_all(b"a\nb\n").unwrap();
        }
        assert_eq!(server.join().unwrap(), 6);

        let (one, other) = UnixStream::pair().unwrap();
        let reader = pirn::spawn(move || {
            let mut text = String::new();
            (&other).read_to_string(&mut text).map(|_| text)
        });
        (&one).write_all(b"through").unwrap();
        drop(one);
        assert_eq!(reader.join().unwrap().unwrap(), "through");

        let (one, other) = UnixDatagram::pair().unwrap();
        let count = 1_000;
        let sender = pirn::spawn(move || {
            // They exceed the buffers: the sender waits, and loses none.
            (0..count).try_for_each(|i: u32| one.send(&i.to_le_bytes()).map(drop))
        });
        for i in 0..count {
            let mut buffer = [0; 4];
            assert_eq!(other.recv(&mut buffer).unwrap(), 4);
            assert_eq!(u32::from_le_bytes(buffer), i);
        }
        sender.join().unwrap().unwrap();
        let (here, there) = (directory.join("here"), directory.join("there"));
        let one = UnixDatagram::bind(&here).unwrap();
        let other = UnixDatagram::bind(&there).unwrap();
        one.send_to(b"question", &there).unwrap();
        let mut buffer = [0; 16];
        let (n, from) = other.recv_from(&mut buffer).unwrap();
        assert_eq!(
            (&buffer[..n], from.as_pathname()),
            (&b"question"[..], Some(&*here))
        );
        other.send_to_addr(b"answer", &from).unwrap();
        assert_eq!(one.recv(&mut buffer).unwrap(), 6);
        let error = one.send_to(b"?", directory.join("none")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        let error = UnixStream::connect(directory.join("none")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
    });
    std::fs::remove_dir_all(&directory).unwrap();
}

/// Sends datagrams to `path` until its queue is full. Returns the senders and the number. One
/// sender's buffer may be full before that.
fn fill(path: &Path) -> (Vec<UnixDatagram>, usize) {
    let (mut fillers, mut filled) = (Vec::new(), 0);
    loop {
        let filler = UnixDatagram::unbound().unwrap();
        filler.set_nonblocking(true).unwrap();
        let sent = std::iter::from_fn(|| filler.send_to(b"x", path).ok()).count();
        fillers.push(filler);
        if sent == 0 {
            return (fillers, filled);
        }
        filled += sent;
    }
}

/// A datagram to a receiver with a queue that others have filled is sent when there is room. Linux
/// does not report that to the sender. The limit of the sender applies.
// Proves: N5-X-std.
#[test]
fn a_datagram_waits_for_room_at_the_receiver() {
    let directory = Directory::new();
    let path = directory.at("receiver");
    for executor in EXECUTOR_KINDS {
        let _ = std::fs::remove_file(&path);
        let receiver = UnixDatagram::bind(&path).unwrap();
        let (_fillers, filled) = fill(&path);
        let sender = UnixDatagram::unbound().unwrap();
        sender.set_nonblocking(true).unwrap();
        let full = sender.send_to(b"y", &path).unwrap_err();
        assert_eq!(full.kind(), ErrorKind::WouldBlock);
        sender.set_nonblocking(false).unwrap();
        sender
            .set_write_timeout(Some(Duration::from_millis(20)))
            .unwrap();
        let late = sender.send_to(b"y", &path).unwrap_err();
        assert_eq!(late.kind(), ErrorKind::TimedOut);
        sender.set_write_timeout(None).unwrap();
        let mut jobs = Jobs::new();
        jobs.add(|| assert_eq!(sender.send_to(b"yes", &path).unwrap(), 3));
        jobs.add(|| {
            pirn::sleep(Duration::from_millis(20)).unwrap();
            let mut buffer = [0; 8];
            let mut next = || receiver.recv(&mut buffer).unwrap();
            assert!((0..filled).all(|_| next() == 1));
            assert_eq!(next(), 3);
        });
        jobs.run(executor, 2);
    }
    // It does not spin meanwhile.
    let runtime = runtime(1);
    runtime.run(|| {
        let path = directory.at("receiver");
        let _ = std::fs::remove_file(&path);
        let receiver = UnixDatagram::bind(&path).unwrap();
        let (_fillers, filled) = fill(&path);
        let parks = || runtime.metrics().total.fiber_parks;
        let (begun, before) = (now(), parks());
        scope(|s| {
            s.spawn(|| UnixDatagram::unbound().unwrap().send_to(b"yes", &path));
            pirn::sleep(Duration::from_millis(100)).unwrap();
            (0..filled).for_each(|_| _ = receiver.recv(&mut [0; 8]).unwrap());
        });
        let most = 50 + 2 * begun.elapsed().as_millis() as u64;
        let parks = parks() - before;
        assert!(parks < most, "{parks} parks of at most {most}");
    });
}

/// A datagram socket with its reading side shut down yields the remaining data and then the end, as
/// `std`'s does; waiters are notified. Addresses that are no paths.
// Proves: N5-X-std.
#[test]
fn unix_datagrams_end() {
    runtime(1).run(|| {
        let (one, other) = UnixDatagram::pair().unwrap();
        one.send(b"last").unwrap();
        other.shutdown(Shutdown::Read).unwrap();
        let mut buffer = [0; 8];
        assert_eq!(other.recv(&mut buffer).unwrap(), 4);
        assert_eq!(other.recv(&mut buffer).unwrap(), 0);
        let (n, from) = other.recv_from(&mut buffer).unwrap();
        assert!(n == 0 && from.is_unnamed());

        let (_one, other) = UnixDatagram::pair().unwrap();
        let waits = other.try_clone().unwrap();
        let receiver = pirn::spawn(move || waits.recv(&mut [0; 8]));
        pirn::yield_now();
        other.shutdown(Shutdown::Read).unwrap();
        assert_eq!(receiver.join().unwrap().unwrap(), 0);

        let directory = Directory::new();
        let address = |name| {
            std::os::unix::net::SocketAddr::from_pathname(directory.at(name)).unwrap()
        };
        let listener = UnixListener::bind_addr(&address("stream")).unwrap();
        drop(UnixStream::connect(directory.at("stream")).unwrap());
        drop(listener.accept().unwrap());
        let one = UnixDatagram::bind_addr(&address("datagram")).unwrap();
        let other = UnixDatagram::unbound().unwrap();
        other.connect_addr(&address("datagram")).unwrap();
        other.send(b"!").unwrap();
        assert_eq!(one.recv(&mut buffer).unwrap(), 1);
    });
}

/// Short-lived connections leave nothing behind: later ones reuse the descriptors and memory of the
/// first.
// Proves: N6.
#[test]
fn connections_come_and_go() {
    runtime(2).run(|| {
        let listener = listener();
        let address = listener.local_addr().unwrap();
        let clients = scaled(10_000);
        let before = sockets();
        let served = scope::supervise(|s| {
            let server = s.spawn(|| {
                let mut bytes = 0;
                for stream in listener.incoming().take(clients) {
                    let mut stream = stream?;
                    bytes += stream.read(&mut [0; 16])?;
                }
                Ok::<usize, io::Error>(bytes)
            });
            for _ in 0..clients {
                let stream = TcpStream::connect(address).unwrap();
                // At once, so that no port is kept busy for a minute.
                stream.set_linger(Some(Duration::ZERO)).unwrap();
                (&stream).write_all(b"!").unwrap();
                // Until the server has read it: a reset would overtake it.
                let _ = (&stream).read(&mut [0; 1]);
            }
            server.join().unwrap().unwrap()
        });
        assert_eq!(served, clients);
        eventually("they are closed", || sockets() <= before);
    });
}
