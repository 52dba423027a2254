//! A process that does not answer, or not to the end: the program explains it within two seconds,
//! or at the limit of an answer, and repeats the request. Beside other tests the bound is five
//! seconds.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, connect, listen};
use rustix::process::{Pid, Signal, kill_process};

use crate::fixture;
use crate::sandbox::{Directory, Shop, crowd, eventually, run};
use crate::terminal::Session;
use crate::web::text;

/// The time in which the program answers or explains.
const SOON: Duration = Duration::from_secs(2);

/// A margin for a machine on which other tests run.
const BUSY: Duration = Duration::from_secs(3);

/// The limit on the time of an answer.
const LIMIT: Duration = Duration::from_secs(12);

/// Set in the inspected process, which is this test again.
const PART: &str = "PIRN_TOP_TEST_SOCKET";

/// A process with a runtime that listens; killed when it is dropped.
struct Looked(Child);

impl Looked {
    fn start(test: &str, socket: &Path) -> Looked {
        let mut command = Command::new(std::env::current_exe().expect("this binary"));
        command.args(["--exact", test, "--include-ignored", "--test-threads=1"]);
        command.env(PART, socket).stdout(Stdio::null());
        let looked = Looked(command.stdin(Stdio::null()).spawn().expect("it runs"));
        eventually("it answers", || run(socket, &["--once"]).status.success());
        looked
    }

    fn send(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).expect("it is there");
    }
}

impl Drop for Looked {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns the output of the program with `--once`, and the time that it took.
fn timed(socket: &Path) -> (Output, Duration) {
    let start = Instant::now();
    let output = run(socket, &["--once"]);
    (output, start.elapsed())
}

/// Asserts that the program fails with these messages, in less than `bound`.
#[track_caller]
fn explains(socket: &Path, whys: &[&str], bound: Duration) {
    let (output, took) = timed(socket);
    let said = String::from_utf8_lossy(&output.stderr);
    println!("after {took:?}: {said}");
    assert_eq!(output.status.code(), Some(1), "{said}");
    for why in whys {
        assert!(said.contains(why), "{said}");
    }
    assert!(took < bound, "{took:?}: {said}");
}

/// Connects clients to `socket`, from which no process accepts, until its queue is full.
fn fill(socket: &Path) -> Vec<UnixStream> {
    let mut clients = Vec::new();
    loop {
        assert!(clients.len() < 10_000, "there is always room");
        let client = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None);
        let client = UnixStream::from(client.expect("a socket"));
        client.set_nonblocking(true).expect("it does not block");
        let address = SocketAddrUnix::new(socket).expect("a path");
        match connect(&client, &address) {
            Ok(()) => clients.push(client),
            Err(Errno::AGAIN) => return clients,
            Err(error) => panic!("{error}"),
        }
    }
}

// Proves: P15.
#[test]
fn a_stopped_process_is_explained() {
    if let Some(socket) = std::env::var_os(PART) {
        let _shop = Shop::open(1, Path::new(&socket));
        // Until it is killed, or its parent has ended without doing so.
        thread::sleep(Duration::from_secs(120));
        return;
    }
    let directory = Directory::new();
    let socket = directory.at("socket");
    let looked = Looked::start("silence::a_stopped_process_is_explained", &socket);
    let mut session = Session::start(&socket, &["--interval", "0.05"]);
    session.shows("pirn-top shop of process");
    looked.send(Signal::STOP);
    let start = Instant::now();
    session.shows("NO ANSWER");
    session.shows("has been stopped; `kill -CONT");
    assert!(start.elapsed() < SOON + BUSY, "{:?}", start.elapsed());
    explains(&socket, &["has been stopped; `kill -CONT"], SOON + BUSY);
    // The process resumes, and so do the updates.
    looked.send(Signal::CONT);
    eventually("it is asked again", || {
        !session.screen().text().contains("NO ANSWER")
    });
    eventually("it answers", || run(&socket, &["--once"]).status.success());
    session.press("q");
    assert!(session.end("").success());
}

/// A socket with a full backlog, from which no process accepts.
// Proves: P15.
#[test]
fn a_full_queue_is_explained() {
    let directory = Directory::new();
    let socket = directory.at("socket");
    let listener = UnixListener::bind(&socket).expect("a socket");
    listen(&listener, 1).expect("a short queue");
    explains(&socket, &["no answer on "], SOON + BUSY);
    let _clients = fill(&socket);
    explains(&socket, &["too many clients wait"], SOON + BUSY);
}

/// A stopped process is explained within two seconds: on the screen, by `--once`, and when the
/// queue of its socket is full.
// Proves: P15.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_a_stopped_process_is_explained_in_time() {
    if let Some(socket) = std::env::var_os(PART) {
        let _shop = Shop::open(1, Path::new(&socket));
        thread::sleep(Duration::from_secs(120));
        return;
    }
    let directory = Directory::new();
    let socket = directory.at("socket");
    let test = "silence::alone_a_stopped_process_is_explained_in_time";
    let looked = Looked::start(test, &socket);
    let mut session = Session::start(&socket, &["--interval", "0.05"]);
    session.shows("pirn-top shop of process");
    looked.send(Signal::STOP);
    let start = Instant::now();
    session.shows("has been stopped; `kill -CONT");
    let took = start.elapsed();
    println!("on the screen after {took:?}");
    assert!(took < SOON, "{took:?}");
    session.press("q");
    assert!(session.end("").success());
    explains(&socket, &["has been stopped; `kill -CONT"], SOON);
    let _clients = fill(&socket);
    explains(&socket, &["too many clients wait"], SOON);
}

/// Time that passes until a connection is possible is part of the two seconds.
// Proves: P15.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_a_late_connection_is_explained_in_time() {
    let directory = Directory::new();
    let socket = directory.at("socket");
    let listener = UnixListener::bind(&socket).expect("a socket");
    listen(&listener, 1).expect("a short queue");
    let _clients = fill(&socket);
    // Makes room for one client, and answers none.
    let accepts = thread::spawn(move || {
        thread::sleep(Duration::from_millis(1_200));
        (listener.accept().expect("a client"), listener)
    });
    explains(&socket, &["no answer on "], SOON);
    accepts.join().expect("it accepts");
}

/// Fifty clients that send nothing or a part of a request do not delay the program: it shows the
/// runtime within two seconds. Behind fifty that do not read their answers it explains within two
/// seconds that the process answers others.
// Proves: P15.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_fifty_silent_clients_do_not_keep_it_waiting() {
    let directory = Directory::new();
    let socket = directory.at("socket");
    let shop = Shop::open(1, &socket);
    // Their description does not fit the buffer of a socket.
    crowd(&shop);
    let fifty = |request: &str| {
        let clients = (0..50).map(|_| {
            let mut client = UnixStream::connect(&socket).expect("it listens");
            client.write_all(request.as_bytes()).expect("it is sent");
            client
        });
        clients.collect::<Vec<_>>()
    };
    for part in ["", "snap"] {
        let _clients = fifty(part);
        let (output, took) = timed(&socket);
        println!("behind fifty that send '{part}': {took:?}");
        assert!(output.status.success(), "{output:?}");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("runtime 'shop' of process"), "{said}");
        assert!(took < SOON, "{took:?} behind fifty that send '{part}'");
    }
    let _clients = fifty("snapshot\n");
    explains(&socket, &["answers other clients"], SOON);
}

/// Serves clients on `socket`: sends the beginning of an answer, and then calls `send` until the
/// client disconnects.
fn peer(socket: &Path, send: impl Fn(&mut UnixStream) -> bool + Send + 'static) {
    let listener = UnixListener::bind(socket).expect("a socket");
    // It ends with the process.
    thread::spawn(move || {
        while let Ok((mut client, _)) = listener.accept() {
            let _ = client.read(&mut [0; 80]);
            let _ = client.write_all(b"{\"kind\":\"of a later version\"}\n");
            while send(&mut client) {}
        }
    });
}

/// A peer that sends a byte now and then, and never ends its answer, is given up at the limit of
/// twelve seconds, with the socket, the limit and the remedy.
// Proves: P15.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_an_answer_that_never_ends_is_given_up() {
    let directory = Directory::new();
    let socket = directory.at("socket");
    peer(&socket, |client| {
        thread::sleep(Duration::from_millis(500));
        client.write_all(b" ").is_ok()
    });
    let path = socket.display().to_string();
    let start = Instant::now();
    explains(
        &socket,
        &[&path, "takes more than 12 s", "`--most N`"],
        LIMIT + SOON,
    );
    assert!(start.elapsed() >= LIMIT, "before the limit");
}

/// An answer of more than a gibibyte is given up, with the socket, the limit and the remedy. It is
/// not reported as the end of the runtime.
// Proves: P15.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_an_answer_that_is_too_long_is_given_up() {
    let directory = Directory::new();
    let socket = directory.at("socket");
    let spaces = vec![b' '; 1 << 20];
    peer(&socket, move |client| client.write_all(&spaces).is_ok());
    let path = socket.display().to_string();
    let words = [&path, "has more than 1073741824 bytes", "`--most N`"];
    explains(&socket, &words, LIMIT);
}

/// A runtime disconnects clients while it lives, too: after an answer that is cut off and a
/// connection that is reset, a recording goes on. It ends when no process listens.
#[test]
fn a_recording_goes_on_after_a_truncated_answer() {
    let directory = Directory::new();
    let (socket, file) = (directory.at("socket"), directory.at("recording"));
    let listener = UnixListener::bind(&socket).expect("a socket");
    // It ends after the fourth client, or with the process.
    thread::spawn(move || {
        for number in 1..=4 {
            let (mut client, _) = listener.accept().expect("a client");
            // The end of a connection with an unread request is a reset.
            if number == 3 {
                continue;
            }
            let uptime = format!("\"uptime_ns\":{number},");
            let answer = fixture::text().replace("\"uptime_ns\":65000000000,", &uptime);
            let sent = if number == 2 { 100 } else { answer.len() };
            assert!(client.read(&mut [0; 80]).expect("a request") > 0);
            let sent = &answer.as_bytes()[..sent];
            client.write_all(sent).expect("it reads");
        }
    });
    let args = ["--interval", "0.05", "--record", text(&file)];
    let output = run(&socket, &args);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("the answer was cut off"), "{said}");
    let recorded = fs::read_to_string(&file).expect("text");
    assert!(recorded.contains("\"uptime_ns\":4,"), "{said}");
    assert!(!recorded.contains("\"uptime_ns\":2,"), "{recorded}");
}
