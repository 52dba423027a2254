//! A process that does not answer: the program explains it within two seconds, and repeats the
//! request.

use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, connect, listen};
use rustix::process::{Pid, Signal, kill_process};

use crate::sandbox::{Directory, Shop, eventually, run};
use crate::terminal::Session;

/// The time in which the program answers or explains, plus a margin for a busy machine.
const SOON: Duration = Duration::from_secs(2);
const BUSY: Duration = Duration::from_secs(3);

/// Set in the inspected process, which is this test again.
const PART: &str = "PIRN_TOP_TEST_SOCKET";

/// A process with a runtime that listens; killed when it is dropped.
struct Looked(Child);

impl Looked {
    fn start(test: &str, socket: &Path) -> Looked {
        let mut command = Command::new(std::env::current_exe().expect("this binary"));
        command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
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

/// Asserts that the program fails with this message, soon.
#[track_caller]
fn explains(socket: &Path, why: &str) {
    let start = Instant::now();
    let output = run(socket, &["--once"]);
    let took = start.elapsed();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(why), "{said}");
    assert!(took < SOON + BUSY, "{took:?}");
}

// Proves: P15.
#[test]
fn a_stopped_process_is_explained() {
    if let Some(socket) = std::env::var_os(PART) {
        let _shop = Shop::open(1, Path::new(&socket));
        // Until it is killed, or its parent has ended without doing so.
        std::thread::sleep(Duration::from_secs(120));
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
    explains(&socket, "has been stopped; `kill -CONT");
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
    explains(&socket, "no answer on ");
    let mut clients = Vec::new();
    let mut is_full = false;
    while !is_full {
        assert!(clients.len() < 100, "there is always room");
        let client = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None);
        let client = UnixStream::from(client.expect("a socket"));
        client.set_nonblocking(true).expect("it does not block");
        let address = SocketAddrUnix::new(&socket).expect("a path");
        is_full = match connect(&client, &address) {
            Ok(()) => false,
            Err(Errno::AGAIN) => true,
            Err(error) => panic!("{error}"),
        };
        clients.push(client);
    }
    explains(&socket, "too many clients wait");
}
