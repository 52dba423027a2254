//! Waits for sockets: which event wakes which waiter, and what else ends the wait.

use std::io::{self, ErrorKind, Read, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use pirn::cancel::{Token, with_deadline};
use pirn::diag::{ObjectKind, Reason};
use pirn::net::{
    Interest, ListenOptions, TcpListener, TcpStream, UdpSocket, UnixDatagram,
    UnixListener, UnixStream,
};
use pirn::select::Select;
use pirn::{Interrupt, Runtime, timeout};

use crate::executor_kind::runtime;
use crate::report_util::{named, waiting};
use crate::sockets_util::{connection, converse, echo, listener};
use crate::util::{Directory, LONG, compute_until, eventually, scaled};

const SOON: Duration = Duration::from_millis(5);

/// A limit of the call itself is an error of kind `TimedOut` and no interrupt; data that arrives
/// later is not lost.
// Proves: N5-X-interrupts.
#[test]
fn a_limit_loses_nothing() {
    runtime(2).run(|| {
        let (one, other) = connection();
        one.set_read_timeout(Some(SOON)).unwrap();
        let mut buffer = [0; 4];
        let error = (&one).read(&mut buffer).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        assert!(Interrupt::of(&error).is_none());
        (&other).write_all(b"late").unwrap();
        one.set_read_timeout(None).unwrap();
        (&one).read_exact(&mut buffer).unwrap();
        assert_eq!(&buffer, b"late");
        // A full pipe.
        one.set_write_timeout(Some(SOON)).unwrap();
        let error = loop {
            if let Err(error) = (&one).write(&[1; 1 << 16]) {
                break error;
            }
        };
        assert_eq!(error.kind(), ErrorKind::TimedOut);
    });
}

/// Deadlines of the surrounding code end each wait for a socket, as interrupts; so does a
/// cancellation. On fibers and on plain threads.
// Proves: N5-X-interrupts.
#[test]
fn waits_are_interrupted() {
    let interrupted = || {
        let (one, _other) = connection();
        let result = timeout(SOON, || (&one).read(&mut [0; 1]));
        assert!(result.is_err(), "the limit was reported");
        let at = pirn::time::now() + SOON;
        let error = with_deadline(at, || (&one).read(&mut [0; 1])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        assert_eq!(Interrupt::of(&error), Some(Interrupt::TimedOut));
        let token = Token::new();
        token.cancel();
        let listener = listener();
        token.enter(|| {
            let error = listener.accept().unwrap_err();
            assert_eq!(Interrupt::of(&error), Some(Interrupt::Cancelled));
            let mut incoming = listener.incoming();
            let error = incoming.next().unwrap().unwrap_err();
            assert_eq!(Interrupt::of(&error), Some(Interrupt::Cancelled));
            assert!(incoming.next().is_none(), "it ends");
            let address = listener.local_addr().unwrap();
            assert!(TcpStream::connect(address).is_err());
        });
    };
    runtime(1).run(interrupted);
    std::thread::spawn(interrupted).join().unwrap();
}

/// A call that waits for a socket, and that only an interrupt ends; it returns the error.
type Waits = Box<dyn FnOnce() -> io::Error + Send>;

/// Makes a call ready, with a socket of its own.
type Prepare = fn() -> Waits;

/// A call of each kind.
const WAITS: &[(&str, Prepare)] = &[
    ("read", || {
        let (one, other) = connection();
        waits((other, move || (&one).read(&mut [0])))
    }),
    ("peek", || {
        let (one, other) = connection();
        waits((other, move || one.peek(&mut [0])))
    }),
    ("write", || {
        let (one, other) = connection();
        waits((other, move || (&one).write_all(&vec![1; 64 << 20])))
    }),
    ("accept", || {
        let listener = listener();
        waits(((), move || listener.accept()))
    }),
    ("connect", || {
        let (listener, queued) = full_listener();
        let address = listener.local_addr().unwrap();
        waits(((listener, queued), move || TcpStream::connect(address)))
    }),
    ("UdpSocket::recv", || {
        let socket = datagrams();
        waits(((), move || socket.recv(&mut [0])))
    }),
    ("UdpSocket::recv_from", || {
        let socket = datagrams();
        waits(((), move || socket.recv_from(&mut [0])))
    }),
    ("UdpSocket::peek", || {
        let socket = datagrams();
        waits(((), move || socket.peek(&mut [0])))
    }),
    ("UdpSocket::peek_from", || {
        let socket = datagrams();
        waits(((), move || socket.peek_from(&mut [0])))
    }),
    ("UnixStream::read", || {
        let (one, other) = UnixStream::pair().unwrap();
        waits((other, move || (&one).read(&mut [0])))
    }),
    ("UnixStream::write", || {
        let (one, other) = UnixStream::pair().unwrap();
        waits((other, move || (&one).write_all(&vec![1; 64 << 20])))
    }),
    ("UnixListener::accept", || {
        let directory = Directory::new();
        let listener = UnixListener::bind(directory.at("listener")).unwrap();
        waits((directory, move || listener.accept()))
    }),
    ("UnixDatagram::recv", || {
        let (one, other) = UnixDatagram::pair().unwrap();
        waits((other, move || one.recv(&mut [0])))
    }),
    ("UnixDatagram::recv_from", || {
        let (one, other) = UnixDatagram::pair().unwrap();
        waits((other, move || one.recv_from(&mut [0])))
    }),
    ("UnixDatagram::send", || {
        let (one, other) = UnixDatagram::pair().unwrap();
        // More than any queue holds.
        let send = move || (0..1_000_000).try_for_each(|_| one.send(&[1]).map(drop));
        waits((other, send))
    }),
    ("ready_case", || {
        let (one, other) = connection();
        let ready = move || {
            let mut ready = one.ready_case(Interest::Readable);
            let mut select = Select::new();
            select.add(&mut ready);
            select.wait().map_err(io::Error::from)
        };
        waits((other, ready))
    }),
    ("accept_case", || {
        let listener = listener();
        let accept = move || {
            let mut accept = listener.accept_case();
            let mut select = Select::new();
            select.add(&mut accept);
            select.wait().map_err(io::Error::from)
        };
        waits(((), accept))
    }),
];

/// Returns a call that keeps what belongs to its socket for as long as it takes.
fn waits<T>(
    (kept, call): (
        impl Send + 'static,
        impl FnOnce() -> io::Result<T> + Send + 'static,
    ),
) -> Waits {
    Box::new(move || {
        let error = call().err().expect("nothing ends it but an interrupt");
        drop(kept);
        error
    })
}

fn datagrams() -> UdpSocket {
    UdpSocket::bind("127.0.0.1:0").unwrap()
}

/// Returns a listener with a full queue, for which the system drops the packets.
fn full_listener() -> (TcpListener, Vec<TcpStream>) {
    let options = ListenOptions::new().backlog(1);
    let listener = TcpListener::bind_with("127.0.0.1:0", &options).unwrap();
    let address = listener.local_addr().unwrap();
    let connect = || TcpStream::connect_timeout(&address, 10 * SOON);
    let queued = std::iter::from_fn(|| connect().ok());
    (listener, queued.take(1_000).collect())
}

/// Each of them ends at a deadline, on a fiber and on a plain thread; and when its fiber is
/// cancelled, or a token around it, while it waits.
// Proves: N5-X-interrupts.
#[test]
fn every_wait_for_a_socket_is_interrupted() {
    let runtime = runtime(2);
    for &(name, prepare) in WAITS {
        let times_out = move || {
            let call = prepare();
            let at = pirn::time::now() + SOON;
            let error = with_deadline(at, call);
            assert_eq!(Interrupt::of(&error), Some(Interrupt::TimedOut), "{name}");
            assert!(pirn::time::now() >= at, "{name} ended early");
        };
        runtime.run(times_out);
        std::thread::spawn(times_out).join().unwrap();
        for by_token in [false, true] {
            let (token, call) = (Token::new(), runtime.run(prepare));
            let within = token.clone();
            let call = move || match by_token {
                true => within.enter(call),
                false => call(),
            };
            let fiber = runtime.run(|| named(name, call));
            waiting(&runtime, name);
            match by_token {
                true => token.cancel(),
                false => fiber.cancel(),
            }
            let error = fiber.join().unwrap();
            assert_eq!(Interrupt::of(&error), Some(Interrupt::Cancelled), "{name}");
        }
    }
}

/// A pending interrupt is reported before any attempt: received data stays in the socket.
// Proves: N5-X-interrupts.
#[test]
fn an_interrupted_call_takes_nothing() {
    runtime(1).run(|| {
        let (one, other) = connection();
        (&other).write_all(b"kept").unwrap();
        let mut buffer = [0; 4];
        let token = Token::new();
        token.cancel();
        assert!(token.enter(|| (&one).read(&mut buffer)).is_err());
        assert_eq!(buffer, [0; 4]);
        (&one).read_exact(&mut buffer).unwrap();
        assert_eq!(&buffer, b"kept");
    });
}

/// Thousands of deadlines, some of them just as data arrives: each byte is read once, however the
/// previous wait ended.
// Proves: N5-X-interrupts.
#[test]
fn deadlines_and_data_cross() {
    for workers in [1, 2, 4] {
        runtime(workers).run(|| {
            let (one, other) = connection();
            let total = scaled(2_000);
            let writer = pirn::spawn(move || {
                for i in 0..total {
                    (&one).write_all(&[i as u8]).unwrap();
                    pirn::sleep(Duration::from_micros((i % 7) as u64 * 50)).unwrap();
                }
            });
            let mut next = 0;
            while next < total {
                let limit = Duration::from_micros((next % 5) as u64 * 60 + 20);
                let mut byte = [0; 1];
                match timeout(limit, || (&other).read(&mut byte)) {
                    Ok(Ok(n)) => {
                        assert_eq!((n, byte[0]), (1, next as u8));
                        next += 1;
                    }
                    Ok(Err(error)) => panic!("{error}"),
                    Err(_) => {}
                }
            }
            writer.join().unwrap();
        });
    }
}

/// One socket, read and written by fibers of different workers and by threads, all at once.
// Proves: N5-X-shared.
#[test]
fn one_socket_serves_many() {
    for workers in [1, 2, 4] {
        runtime(workers).run(|| {
            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            let address = socket.local_addr().unwrap();
            let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
            let received = Arc::new(AtomicUsize::new(0));
            let total = scaled(2_000).max(200);
            let read_all = |socket: UdpSocket, received: Arc<AtomicUsize>| {
                move || {
                    loop {
                        let mut kind = [0; 1];
                        socket.recv(&mut kind).unwrap();
                        if kind[0] == 1 {
                            return;
                        }
                        received.fetch_add(1, Ordering::SeqCst);
                    }
                }
            };
            let readers: Vec<_> = (0..6)
                .map(|_| {
                    let clone = socket.try_clone().unwrap();
                    pirn::spawn(read_all(clone, Arc::clone(&received)))
                })
                .collect();
            let clone = socket.try_clone().unwrap();
            let thread = std::thread::spawn(read_all(clone, Arc::clone(&received)));
            for sent in 1..=total {
                sender.send_to(&[0], address).unwrap();
                // Few enough that the system drops none.
                while received.load(Ordering::SeqCst) + 16 < sent {
                    pirn::yield_now();
                }
            }
            while received.load(Ordering::SeqCst) < total {
                pirn::yield_now();
            }
            // Sent again until it has been read: the system may drop one.
            for reader in readers {
                while !reader.is_finished() {
                    sender.send_to(&[1], address).unwrap();
                    pirn::sleep(Duration::from_millis(1)).unwrap();
                }
            }
            while !thread.is_finished() {
                sender.send_to(&[1], address).unwrap();
                pirn::sleep(Duration::from_millis(1)).unwrap();
            }
            thread.join().unwrap();
        });
    }
}

/// A socket that passes from fiber to fiber, and so from worker to worker, keeps working.
// Proves: N5-X-shared.
#[test]
fn a_socket_changes_hands() {
    let runtime = runtime(4);
    runtime.run(|| {
        let (one, other) = connection();
        let server = pirn::spawn(move || echo(&other).unwrap());
        let one = Arc::new(one);
        for round in 0..scaled(400) {
            let one = Arc::clone(&one);
            // On any worker: an idle one takes it.
            pirn::spawn(move || converse(&one, round, 2))
                .join()
                .unwrap();
        }
        drop(one);
        server.join().unwrap();
    });
}

/// A worker that blocks its thread does not delay a fiber of another worker that waits for a socket
/// formerly in the first worker's driver.
// Proves: N4.
#[test]
fn a_stuck_worker_is_asked_for() {
    let runtime = runtime(2);
    let (one, other) = runtime.run(|| {
        let (one, other) = UnixStream::pair().unwrap();
        (Arc::new(one), other)
    });
    let (stuck, release) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicBool::new(false)),
    );
    let threads = [mpsc::channel(), mpsc::channel()];
    let [(tell_a, thread_a), (tell_b, thread_b)] = threads;
    // Waits for the socket, which puts it in the driver of its worker, and is interrupted there.
    let holder = {
        let (one, stuck) = (Arc::clone(&one), Arc::clone(&stuck));
        let release = Arc::clone(&release);
        runtime.spawn(move || {
            tell_a.send(std::thread::current().id()).unwrap();
            // At the same time as the other one, so that it does not move.
            let _ = timeout(Duration::from_millis(300), || (&*one).read(&mut [0; 1]));
            stuck.store(true, Ordering::SeqCst);
            compute_until("it is released", || release.load(Ordering::SeqCst));
        })
    };
    let holder_thread = thread_a.recv().unwrap();
    let mut waiter = None;
    eventually("a fiber on the other worker waits", || {
        let (one, tell) = (Arc::clone(&one), tell_b.clone());
        let fiber = runtime.spawn(move || {
            let own = std::thread::current().id();
            tell.send(own).unwrap();
            let mut byte = [0; 1];
            (own != holder_thread)
                .then(|| (&*one).read_exact(&mut byte).map(|()| byte[0]))
        });
        if thread_b.recv().unwrap() == holder_thread {
            assert!(fiber.join().unwrap().is_none());
            return false;
        }
        waiter = Some(fiber);
        true
    });
    eventually("the worker is stuck", || stuck.load(Ordering::SeqCst));
    (&other).write_all(b"!").unwrap();
    let got = waiter.expect("found").join().unwrap();
    assert_eq!(got.expect("on the other worker").unwrap(), b'!');
    release.store(true, Ordering::SeqCst);
    holder.join().unwrap();
}

/// A worker that always has ready fibers polls its sockets all the same.
// Proves: N4.
#[test]
fn a_busy_worker_asks_too() {
    runtime(1).run(|| {
        let over = Arc::new(AtomicBool::new(false));
        for _ in 0..10 {
            let over = Arc::clone(&over);
            pirn::spawn(move || {
                while !over.load(Ordering::SeqCst) {
                    pirn::yield_now();
                }
            });
        }
        let (one, other) = connection();
        let server = pirn::spawn(move || echo(&other).unwrap());
        converse(&one, 3, 50);
        over.store(true, Ordering::SeqCst);
        drop(one);
        server.join().unwrap();
    });
}

/// The sockets of an ended worker keep working elsewhere: for fibers of another runtime, and for
/// threads.
// Proves: N5-X-shared.
#[test]
fn sockets_outlive_their_runtime() {
    for round in 0..scaled(40) {
        let (one, other) = connection();
        let one = Arc::new(one);
        let first = runtime(2);
        let second = runtime(1);
        // Puts the socket into a driver of the first runtime.
        let clone = Arc::clone(&one);
        first.run(move || {
            let _ = timeout(Duration::from_micros(200), || (&*clone).read(&mut [0; 1]));
        });
        let clone = Arc::clone(&one);
        let read = move || {
            let mut byte = [0; 1];
            (&*clone).read_exact(&mut byte).map(|()| byte[0])
        };
        if round % 2 == 0 {
            let reader = second.spawn(read);
            first.shutdown(LONG).unwrap();
            (&other).write_all(b"2").unwrap();
            assert_eq!(reader.join().unwrap().unwrap(), b'2');
        } else {
            let reader = std::thread::spawn(read);
            first.shutdown(LONG).unwrap();
            (&other).write_all(b"3").unwrap();
            assert_eq!(reader.join().unwrap().unwrap(), b'3');
        }
    }
}

/// Many fibers accept from one listener: each connection is accepted once.
// Proves: N5-X-shared.
#[test]
fn many_accept_from_one_listener() {
    for workers in [1, 4] {
        runtime(workers).run(|| {
            let listener = Arc::new(listener());
            let address = listener.local_addr().unwrap();
            let accepted = Arc::new(AtomicUsize::new(0));
            let servers: Vec<_> = (0..8)
                .map(|_| {
                    let (listener, accepted) =
                        (Arc::clone(&listener), Arc::clone(&accepted));
                    pirn::spawn(move || {
                        // Counted while it is open: the client waits for its end.
                        while let Ok(_open) = listener.accept() {
                            accepted.fetch_add(1, Ordering::SeqCst);
                        }
                    })
                })
                .collect();
            let total = scaled(400).max(40);
            for _ in 0..total {
                let stream = TcpStream::connect(address).unwrap();
                // The fiber that accepts it closes it.
                assert_eq!((&stream).read(&mut [0; 1]).unwrap(), 0);
            }
            assert_eq!(accepted.load(Ordering::SeqCst), total);
            for server in servers {
                server.cancel();
                server.join().unwrap();
            }
        });
    }
}

/// A select completes with an incoming connection and with a ready socket, not with one that is not
/// ready, nor with one that another fiber has drained.
// Proves: N5-X-select.
#[test]
fn sockets_are_cases_of_a_select() {
    for workers in [1, 2] {
        runtime(workers).run(|| {
            let listener = listener();
            let address = listener.local_addr().unwrap();
            let (one, other) = connection();
            let (tx, rx) = pirn::channel::bounded::<()>(1);
            let mut accept = listener.accept_case();
            let mut ready = one.ready_case(Interest::Readable);
            let mut value = rx.recv_case();
            let mut wait = |clue: &str| {
                let mut select = Select::new();
                select.add(&mut accept);
                select.add(&mut ready);
                select.add(&mut value);
                let won = match clue {
                    "now" => select.try_wait(),
                    _ => select.wait_timeout(LONG).unwrap(),
                };
                let came = won == Some(0) && accept.take().is_ok();
                let got = won == Some(2) && value.take().is_ok();
                assert!(won.is_none() || won == Some(1) || came || got);
                won
            };
            assert_eq!(wait("now"), None);
            let client = pirn::spawn(move || TcpStream::connect(address).unwrap());
            assert_eq!(wait("a connection"), Some(0));
            drop(client.join().unwrap());
            let writer = pirn::spawn(move || {
                (&other).write_all(b"x").unwrap();
                other
            });
            assert_eq!(wait("something to read"), Some(1));
            assert_eq!(wait("now"), Some(1), "it is there still");
            (&one).read_exact(&mut [0; 1]).unwrap();
            assert_eq!(wait("now"), None);
            tx.send(()).unwrap();
            assert_eq!(wait("a value"), Some(2));
            drop(writer.join().unwrap());
            assert_eq!(wait("the end"), Some(1));
            let mut writable = one.ready_case(Interest::Writable);
            let mut select = Select::new();
            select.add(&mut writable);
            assert_eq!(select.try_wait(), Some(0));
        });
    }
}

/// Reports name the socket wait of a fiber; a wait for a socket is no deadlock.
#[test]
fn reports_tell_of_sockets() {
    let runtime = runtime(1);
    let (one, other) = runtime.run(connection);
    let reader = runtime.run(|| {
        named("reader", move || {
            let mut text = String::new();
            (&other).read_to_string(&mut text).map(|_| text)
        })
    });
    let told = waiting(&runtime, "reader");
    assert_eq!(told.reason, Some(Reason::Readable));
    let kind = told.waits_for.expect("an object").kind;
    assert_eq!(
        kind,
        ObjectKind::Socket {
            reading: 1,
            writing: 0
        }
    );
    (&one).write_all(b"done").unwrap();
    drop(one);
    assert_eq!(reader.join().unwrap().unwrap(), "done");
}

/// A fiber that unwinds blocks its thread, and receives its socket's events all the same.
// Proves: N4.
#[test]
fn a_fiber_that_unwinds_can_wait_for_a_socket() {
    struct Farewell(TcpStream);
    impl Drop for Farewell {
        fn drop(&mut self) {
            self.0.write_all(b"bye").unwrap();
            let mut answer = [0; 3];
            self.0.read_exact(&mut answer).unwrap();
            assert_eq!(&answer, b"bye");
        }
    }
    runtime(1).run(|| {
        let (one, other) = connection();
        let server = pirn::spawn(move || echo(&other).unwrap());
        let fiber = pirn::spawn(move || {
            let _farewell = Farewell(one);
            std::panic::resume_unwind(Box::new("over"));
        });
        assert!(fiber.join().is_err());
        assert_eq!(server.join().unwrap(), 3);
    });
}

/// On a runtime that the calling thread drives, and with virtual time.
// Proves: N5-X-std.
#[test]
fn by_hand_and_in_virtual_time() {
    let by_hand = Runtime::builder().workers(0).build().unwrap();
    let done = by_hand.run(|| {
        let (one, other) = connection();
        let server = pirn::spawn(move || echo(&other).unwrap());
        converse(&one, 1, 10);
        drop(one);
        server.join().unwrap()
    });
    assert!(done > 0);
    let seeded = Runtime::builder().deterministic(7).build().unwrap();
    seeded.run(|| {
        let (one, other) = connection();
        let server = pirn::spawn(move || echo(&other).unwrap());
        converse(&one, 2, 10);
        let began = pirn::time::now();
        let silent = timeout(Duration::from_secs(3_600), || (&one).read(&mut [0; 1]));
        assert!(silent.is_err());
        assert_eq!(pirn::time::now() - began, Duration::from_secs(3_600));
        drop(one);
        server.join().unwrap();
    });
}
