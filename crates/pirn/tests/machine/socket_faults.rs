//! Peers that misbehave: they end in one direction, reset, are killed, or never answer.

use std::io::{self, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pirn::net::{ListenOptions, TcpListener, TcpStream, UnixStream};
use pirn::{Interrupt, scope};

use crate::executor_kind::{runtime, until};
use crate::sockets_util::{at_once, connection, converse, echo, listener, reset};
use crate::util::{LONG, eventually, scaled, sockets};

const WORKERS: [usize; 3] = [1, 2, 4];

const SOON: Duration = Duration::from_millis(5);

/// A peer that stops writing is read to its end, and accepts writes for as long as it reads. A
/// waiting reader is notified.
// Proves: N5-X-faults.
#[test]
fn half_a_connection_goes_on() {
    for workers in WORKERS {
        runtime(workers).run(|| {
            let (one, other) = connection();
            let total = scaled(4 << 20).max(1 << 20);
            let peer = pirn::spawn(move || {
                other.shutdown(Shutdown::Write).unwrap();
                let (mut received, mut buffer) = (0, [0; 4_096]);
                while let n @ 1.. = (&other).read(&mut buffer)? {
                    received += n;
                }
                Ok::<usize, io::Error>(received)
            });
            let reader = one.try_clone().unwrap();
            let reader = pirn::spawn(move || {
                // Each later read reports the end again.
                (0..3).map(|_| (&reader).read(&mut [0; 16])).collect()
            });
            let block = [3; 1 << 14];
            for _ in 0..total / block.len() {
                (&one).write_all(&block).unwrap();
            }
            let ends: io::Result<Vec<usize>> = reader.join().unwrap();
            assert_eq!(ends.unwrap(), [0; 3]);
            one.shutdown(Shutdown::Write).unwrap();
            assert_eq!(peer.join().unwrap().unwrap(), total);
            // Both directions are over: neither call waits.
            assert_gone(&(&one).write_all(&block).unwrap_err());
        });
    }
}

/// A peer process is killed with bytes under way in both directions: the reads and the writes end.
// Proves: N5-X-faults.
#[test]
fn a_peer_is_killed() {
    for workers in WORKERS {
        runtime(workers).run(|| {
            let (one, other) = connection();
            killed(&one, child("cat", other.into_std().unwrap()));
            let (one, other) = UnixStream::pair().unwrap();
            killed(&one, child("cat", other.into_std().unwrap()));
        });
    }
}

/// Writes and reads until the peer, which echoes everything, is killed.
fn killed<S: Sync>(one: &S, mut peer: Child)
where
    for<'a> &'a S: Read + Write,
{
    let back = AtomicUsize::new(0);
    scope(|s| {
        let writer = s.spawn(|| {
            let mut stream = one;
            loop {
                if let Err(error) = stream.write_all(&[9; 1 << 14]) {
                    return error;
                }
            }
        });
        let reader = s.spawn(|| {
            let (mut stream, mut buffer) = (one, [0; 1 << 12]);
            while let n @ 1.. = stream.read(&mut buffer)? {
                assert!(buffer[..n].iter().all(|&byte| byte == 9));
                back.fetch_add(n, Ordering::SeqCst);
            }
            Ok(())
        });
        until(&back, 1 << 20);
        peer.kill().unwrap();
        assert_gone(&writer.join().unwrap());
        let end: io::Result<()> = reader.join().unwrap();
        if let Err(error) = end {
            assert_gone(&error);
        }
    });
    peer.wait().unwrap();
}

/// A peer that is killed with unread data resets the connection, while a writer waits for room.
// Proves: N5-X-faults.
#[test]
fn a_peer_that_never_reads_is_killed() {
    for workers in WORKERS {
        runtime(workers).run(|| {
            let (one, other) = connection();
            let peer = other.into_std().unwrap();
            let mut peer = Command::new("sleep")
                .arg("1000")
                .stdin(Stdio::from(OwnedFd::from(peer)))
                .spawn()
                .unwrap();
            fill(&one);
            let reader = one.try_clone().unwrap();
            let reader = pirn::spawn(move || (&reader).read(&mut [0; 1]));
            let writer = pirn::spawn(move || (&one).write_all(&[1; 1 << 16]));
            pirn::sleep(SOON).unwrap();
            peer.kill().unwrap();
            assert_gone(&writer.join().unwrap().unwrap_err());
            // The system decides which of the two gets the reset.
            if let Err(error) = reader.join().unwrap() {
                assert_gone(&error);
            }
            peer.wait().unwrap();
        });
    }
}

/// Peers that never answer, never read, never accept: limits end each wait, repeatedly, and no
/// state remains.
// Proves: N5-X-faults.
#[test]
fn peers_that_never_answer() {
    const PEERS: usize = 50;
    for workers in WORKERS {
        runtime(workers).run(|| {
            drop(connection());
            let before = sockets();
            let pairs: Vec<_> = (0..PEERS).map(|_| connection()).collect();
            scope(|s| {
                for (one, _) in &pairs {
                    s.spawn(|| {
                        one.set_read_timeout(Some(SOON)).unwrap();
                        fill(one);
                        one.set_write_timeout(Some(SOON)).unwrap();
                        for _ in 0..5 {
                            let read = (&*one).read(&mut [0; 1]).unwrap_err();
                            assert_eq!(read.kind(), ErrorKind::TimedOut);
                            let write = (&*one).write(&[0; 1]).unwrap_err();
                            assert_eq!(write.kind(), ErrorKind::TimedOut);
                        }
                    });
                }
            });
            no_process_accepts();
            // They answer after all, and no data is lost.
            for (one, other) in &pairs {
                (&*other).write_all(b"late").unwrap();
                one.set_read_timeout(None).unwrap();
                let mut late = [0; 4];
                (&*one).read_exact(&mut late).unwrap();
                assert_eq!(&late, b"late");
            }
            drop(pairs);
            eventually("all are closed", || sockets() <= before);
        });
    }
}

/// Connects to a listener with a full queue, for which the system drops the packets.
fn no_process_accepts() {
    let options = ListenOptions::new().backlog(1);
    let listener = TcpListener::bind_with("127.0.0.1:0", &options).unwrap();
    let address = listener.local_addr().unwrap();
    let mut queued = Vec::new();
    let error = loop {
        match TcpStream::connect_timeout(&address, 10 * SOON) {
            Ok(stream) => queued.push(stream),
            Err(error) => break error,
        }
        assert!(
            queued.len() < 1_000,
            "a backlog of one takes every connection"
        );
    };
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    assert!(Interrupt::of(&error).is_none());
}

/// A reset ends a write that waits for room, and a read that waits for bytes; both directions are
/// over then.
// Proves: N5-X-faults.
#[test]
fn resets_end_waits() {
    for workers in WORKERS {
        runtime(workers).run(|| {
            for round in 0..scaled(40).max(4) {
                let (one, other) = connection();
                let one = Arc::new(one);
                if round % 2 == 0 {
                    fill(&one);
                }
                let (reading, writing) = (Arc::clone(&one), Arc::clone(&one));
                let reader = pirn::spawn(move || (&*reading).read(&mut [0; 8]));
                let writer = pirn::spawn(move || {
                    loop {
                        if let Err(error) = (&*writing).write(&[5; 1 << 16]) {
                            return error;
                        }
                    }
                });
                if round % 4 < 2 {
                    // Otherwise the reset may arrive before they wait.
                    pirn::sleep(Duration::from_micros(300)).unwrap();
                }
                reset(other);
                assert_gone(&writer.join().unwrap());
                if let Err(error) = reader.join().unwrap() {
                    assert_gone(&error);
                }
                // The system reports the reset once; later calls return the end without a wait.
                assert_gone(&(&*one).write(&[1]).unwrap_err());
                assert_eq!((&*one).read(&mut [0; 1]).unwrap(), 0);
            }
        });
    }
}

/// A connection that is reset between its accept and the first read fails that read, whether the
/// reader waits already or later.
// Proves: N5-X-faults.
#[test]
fn a_reset_before_the_first_read() {
    for workers in WORKERS {
        runtime(workers).run(|| {
            for round in 0..scaled(40).max(4) {
                let (one, other) = connection();
                let read = move || (&one).read(&mut [0; 8]);
                let ended = if round % 2 == 0 {
                    reset(other);
                    read()
                } else {
                    let reader = pirn::spawn(read);
                    pirn::yield_now();
                    reset(other);
                    reader.join().unwrap()
                };
                assert_eq!(ended.unwrap_err().kind(), ErrorKind::ConnectionReset);
            }
        });
    }
}

/// Connections that are reset while they are queued do not end `incoming`: those behind them are
/// served.
// Proves: N5-X-faults.
#[test]
fn resets_in_the_queue_do_not_end_a_server() {
    for workers in WORKERS {
        runtime(workers).run(|| {
            let listener = listener();
            let address = listener.local_addr().unwrap();
            let served = AtomicUsize::new(0);
            scope::supervise(|s| {
                let server = s.spawn(|| {
                    for stream in listener.incoming() {
                        let stream = match stream {
                            Ok(stream) => stream,
                            Err(error) => return error,
                        };
                        let served = &served;
                        drop(s.spawn(move || {
                            if echo(&stream).is_ok() {
                                served.fetch_add(1, Ordering::SeqCst);
                            }
                        }));
                    }
                    unreachable!("it ends with an interrupt")
                });
                for round in 1..=scaled(10).max(2) {
                    // The server may already be accepting: some resets arrive before, some after.
                    for _ in 0..20 {
                        reset(TcpStream::connect(address).unwrap());
                    }
                    let stream = TcpStream::connect(address).unwrap();
                    at_once(&stream);
                    converse(&stream, round, 3);
                    drop(stream);
                    until(&served, round);
                }
                server.cancel();
                let end = server.join().unwrap();
                assert_eq!(Interrupt::of(&end), Some(Interrupt::Cancelled));
            });
        });
    }
}

/// The same, with the whole queue reset before the first accept.
// Proves: N5-X-faults.
#[test]
fn a_queue_of_resets() {
    runtime(1).run(|| {
        let listener = listener();
        let address = listener.local_addr().unwrap();
        for _ in 0..20 {
            reset(TcpStream::connect(address).unwrap());
        }
        let last = TcpStream::connect(address).unwrap();
        (&last).write_all(b"!").unwrap();
        let mut incoming = listener.incoming();
        let served = loop {
            let stream = incoming.next().unwrap().unwrap();
            stream.set_read_timeout(Some(LONG)).unwrap();
            match (&stream).read(&mut [0; 1]) {
                Ok(n) => break n,
                Err(error) => assert_gone(&error),
            }
        };
        assert_eq!(served, 1);
    });
}

/// A child that has one end of a connection as its standard input and output.
fn child(program: &str, end: impl Into<OwnedFd>) -> Child {
    let end: OwnedFd = end.into();
    let mut command = Command::new(program);
    command.stdin(Stdio::from(end.try_clone().unwrap()));
    command.stdout(Stdio::from(end)).spawn().unwrap()
}

#[track_caller]
fn assert_gone(error: &io::Error) {
    let kinds = [ErrorKind::ConnectionReset, ErrorKind::BrokenPipe];
    assert!(kinds.contains(&error.kind()), "{error}");
}

/// Writes until there is no room; the socket has no limit for writes afterwards.
fn fill(stream: &TcpStream) {
    let limit = Some(Duration::from_millis(20));
    stream.set_write_timeout(limit).expect("a limit");
    let mut stream = stream;
    let error = loop {
        if let Err(error) = stream.write(&[1; 1 << 16]) {
            break error;
        }
    };
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    stream.set_write_timeout(None).expect("no limit");
}
