//! Virtual time is held during waits for real events, and no longer than that.

use std::io::{Read, Write};
use std::net;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use pirn::future::block_on;
use pirn::net::{TcpListener, TcpStream, UnixStream, lookup_host};
use pirn::process::{Command, Stdio};
use pirn::runtime::Handle;
use pirn::time::{now, sleep, timeout};
use pirn::{Runtime, spawn};

use crate::util::LONG;

const HOUR: Duration = Duration::from_secs(3_600);
const SOON: Duration = Duration::from_millis(30);

/// Like [`pirn::runtime::test`], for threads that a busy machine may delay by more than a second.
fn test(f: impl FnOnce(&Handle) + Send) {
    Runtime::builder().outside_limit(LONG).test(f);
}

/// A server on a plain thread that answers each connection, one after the other, after a while of
/// real time.
fn slow_server(connections: usize) -> (net::SocketAddr, thread::JoinHandle<()>) {
    let listener = net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = thread::spawn(move || {
        for _ in 0..connections {
            let (mut stream, _) = listener.accept().unwrap();
            thread::sleep(SOON);
            stream.write_all(b"!").unwrap();
        }
    });
    (address, server)
}

/// Data that a thread sends through a socket a moment later arrives within an hour, and takes no
/// virtual time: for a reading fiber, and for a future.
// Proves: P13-X-outside.
#[test]
fn answers_of_threads_come_in_time() {
    test(|_| {
        let (address, server) = slow_server(2);
        let start = now();
        let answer = timeout(HOUR, || {
            let mut stream = TcpStream::connect(address)?;
            stream.read(&mut [0; 1])
        });
        assert_eq!(answer.unwrap().unwrap(), 1);
        let answer = timeout(HOUR, || {
            let mut stream = TcpStream::connect(address)?;
            let mut byte = [0; 1];
            block_on(async {
                futures_util::AsyncReadExt::read(&mut stream, &mut byte).await
            })
        });
        assert_eq!(answer.unwrap().unwrap(), 1);
        assert_eq!(now(), start);
        server.join().unwrap();
    });
}

/// A sleeping fiber does not let time pass.
#[test]
fn sleepers_do_not_overtake_an_answer() {
    test(|_| {
        let (address, server) = slow_server(1);
        let sleeper = spawn(|| sleep(HOUR));
        let mut stream = TcpStream::connect(address).unwrap();
        assert_eq!(stream.read(&mut [0; 1]).unwrap(), 1);
        assert!(!sleeper.is_finished());
        sleeper.join().unwrap().unwrap();
        server.join().unwrap();
    });
}

/// Waits for pipes and for the ends of children hold time as those for sockets do.
// Proves: P13-X-outside.
#[test]
fn children_come_in_time() {
    test(|_| {
        let start = now();
        let mut shell = Command::new("sh");
        shell
            .args(["-c", "sleep 0.03; echo x"])
            .stdout(Stdio::piped());
        let output = timeout(HOUR, || shell.output()).unwrap().unwrap();
        assert_eq!(output.stdout, b"x\n");
        let mut shell = Command::new("sh");
        let mut child = shell.args(["-c", "sleep 0.03; exit 3"]).spawn().unwrap();
        let status = timeout(HOUR, || child.wait()).unwrap().unwrap();
        assert_eq!(status.code(), Some(3));
        let found = timeout(Duration::from_micros(1), || lookup_host("localhost:80"));
        assert!(!found.unwrap().unwrap().is_empty());
        assert_eq!(now(), start);
    });
}

/// A listener that a thread waits for too: its events take another path.
// Proves: P13-X-outside.
#[test]
fn a_shared_listener_is_waited_for() {
    let listener = Arc::new(TcpListener::bind("127.0.0.1:0").unwrap());
    let address = listener.local_addr().unwrap();
    let accepts = |listener: &Arc<TcpListener>| {
        let listener = Arc::clone(listener);
        thread::spawn(move || drop(listener.accept().unwrap()))
    };
    let (first, _) = (accepts(&listener), thread::sleep(SOON));
    let shared = Arc::clone(&listener);
    test(move |_| {
        let client = thread::spawn(move || {
            let connect = || {
                thread::sleep(SOON);
                net::TcpStream::connect(address).unwrap()
            };
            [connect(), connect()]
        });
        let start = now();
        let accepted = timeout(HOUR, || shared.accept().map(drop));
        accepted.expect("within the hour").unwrap();
        assert_eq!(now(), start);
        drop(client.join().unwrap());
    });
    first.join().unwrap();
}

/// A peer that never answers: time passes after the limit.
// Proves: P13-X-outside.
#[test]
fn silence_ends_after_the_limit() {
    let limit = Duration::from_millis(200);
    Runtime::builder().outside_limit(limit).test(|_| {
        let (one, _other) = UnixStream::pair().unwrap();
        let (start, real) = (now(), Instant::now());
        assert!(timeout(HOUR, || (&one).read(&mut [0; 1])).is_err());
        assert_eq!(now() - start, HOUR);
        assert!(real.elapsed() >= limit);
    });
}

/// Each wait without an event makes the next one shorter; an event restores the full limit.
// Proves: P13-X-outside.
#[test]
fn waits_in_vain_become_short() {
    let limit = Duration::from_millis(500);
    let real = Instant::now();
    Runtime::builder().outside_limit(limit).test(|_| {
        let (address, server) = slow_server(1);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let idle = spawn(move || listener.accept().map(drop));
        for _ in 0..200 {
            sleep(HOUR).unwrap();
        }
        // Half a millisecond would not suffice for this one, which restores the limit.
        let mut stream = TcpStream::connect(address).unwrap();
        assert_eq!(stream.read(&mut [0; 1]).unwrap(), 1);
        let before = Instant::now();
        sleep(HOUR).unwrap();
        assert!(before.elapsed() >= limit);
        idle.cancel();
        assert!(idle.join().unwrap().is_err());
        server.join().unwrap();
    });
    assert!(real.elapsed() < LONG / 2, "{:?}", real.elapsed());
}

/// With no limit at all, time jumps as without sockets.
// Proves: P13-X-outside.
#[test]
fn a_test_may_say_that_nothing_comes() {
    let real = Instant::now();
    Runtime::builder().outside_limit(Duration::ZERO).test(|_| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let idle = spawn(move || listener.accept().map(drop));
        for _ in 0..10_000 {
            sleep(HOUR / 10_000).unwrap();
        }
        idle.cancel();
        assert!(idle.join().unwrap().is_err());
    });
    assert!(real.elapsed() < LONG / 2);
}

/// A wait for another runtime takes no virtual time, and the limit of `shutdown` is real time.
#[test]
fn waits_for_another_runtime_take_no_time() {
    test(|_| {
        let busy = || {
            let other = Runtime::builder().workers(1).build().unwrap();
            drop(other.spawn(|| thread::sleep(SOON)));
            other
        };
        let sleeper = spawn(|| sleep(HOUR));
        let start = now();
        let other = busy();
        assert_eq!(timeout(SOON, || other.wait_idle()), Ok(Ok(())));
        assert_eq!(now(), start, "wait_idle");
        busy().shutdown(LONG).expect("it ends in time");
        assert_eq!(now(), start, "shutdown");
        drop(busy());
        assert_eq!(now(), start, "drop");

        let other = busy();
        let (tx, started) = std::sync::mpsc::channel();
        let parked = other.spawn(move || {
            tx.send(()).unwrap();
            pirn::park();
        });
        pirn::blocking(move || started.recv().unwrap());
        let begin = Instant::now();
        let left = other.shutdown(2 * SOON).unwrap_err();
        assert_eq!(left.fibers().len(), 1, "{left:?}");
        assert!(begin.elapsed() >= 2 * SOON);
        assert_eq!(now(), start, "shutdown in vain");
        parked.fiber().unpark();
        assert!(!sleeper.is_finished());
        sleeper.join().unwrap().unwrap();
    });
}

/// Fibers of another runtime that wait for a fiber that sleeps here do not hold time for good, nor
/// does one that never ends.
#[test]
fn waits_for_another_runtime_end() {
    let limit = Duration::from_millis(20);
    Runtime::builder().outside_limit(limit).test(|_| {
        let other = Runtime::builder().workers(1).build().unwrap();
        let (tx, rx) = pirn::channel::bounded(1);
        drop(other.spawn(move || rx.recv()));
        let elapsed = timeout(HOUR, || other.wait_idle());
        assert!(elapsed.is_err(), "{elapsed:?}");
        let sleeper = spawn(move || {
            sleep(HOUR).unwrap();
            tx.send(()).unwrap();
        });
        drop(other);
        sleeper.join().unwrap();
    });
}

/// A wait that is refused in a poll holds no time.
#[test]
fn a_refused_wait_holds_no_time() {
    test(|_| {
        let other = Runtime::builder().workers(1).build().unwrap();
        let handle = other.handle();
        let polls = spawn(move || pirn::future::wait(async move { handle.wait_idle() }));
        polls.join().expect_err("a poll must not wait");
        sleep(HOUR).unwrap();
    });
}
