//! The socket of a runtime: its path, its permissions, and clients that misbehave.

use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use pirn::Runtime;
use serde_json::Value;
#[cfg(target_os = "linux")]
use socket2::{Domain, SockAddr, Socket, Type};

use crate::inspect::{Ends, ask, ask_all, crowd, of_kind, raw};
use crate::unmeasured::unmeasured;
use crate::util::{Directory, LONG, apart_unprivileged, eventually, scaled};

/// The socket is its owner's: by its mode under any mask of the process, and by the identity
/// of the client, if the mode is changed.
// Proves: P15.
#[test]
fn another_user_is_refused() {
    const ASKED: &str = "PIRN_TEST_SOCKET";
    let name = "inspect_access::another_user_is_refused";
    let unprivileged = || {
        let path = std::env::var_os(ASKED).expect("set for this process");
        match raw(Path::new(&path), b"snapshot\n") {
            Ok(answer) => eprintln!("answered: {answer}"),
            Err(error) => eprintln!("error: {:?}", error.kind()),
        }
        std::process::exit(0);
    };
    if std::env::var_os(ASKED).is_some() {
        unprivileged();
    }
    let directory = Directory::new();
    let path = directory.at("socket");
    let runtime = Runtime::builder()
        .workers(1)
        .inspect(&path)
        .build()
        .unwrap();
    let file = fs::symlink_metadata(&path).unwrap();
    assert_eq!(file.permissions().mode() & 0o777, 0o600);
    assert_eq!(directory.names(), ["socket"], "nothing else is left there");
    let own = fs::metadata("/proc/self").map_or(0, |own| own.uid());
    if own != 0 {
        return unmeasured("not root: cannot be another user");
    }
    let asked = path.to_str().expect("text");
    let ended =
        apart_unprivileged(name, &[(ASKED, asked)], unprivileged).expect("the parent");
    assert!(
        ended.stderr.contains("error: PermissionDenied"),
        "{}",
        ended.stderr
    );
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    let ended =
        apart_unprivileged(name, &[(ASKED, asked)], unprivileged).expect("the parent");
    assert!(ended.stderr.contains("answered: "), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("refused: another user"),
        "{}",
        ended.stderr
    );
    assert!(!ended.stderr.contains("runtime"), "{}", ended.stderr);
    // Its own user is still served.
    assert_eq!(ask(&path, "snapshot")[0]["kind"], "runtime");
    drop(runtime);
}

/// Returns the error of `build` for the socket's path.
#[track_caller]
fn refused(path: &Path) -> io::Error {
    let built = Runtime::builder().workers(1).inspect(path).build();
    let error = built.expect_err("refused");
    let said = error.to_string();
    let begins = format!("inspect is '{}': ", path.display());
    assert!(said.starts_with(&begins), "{said}");
    error
}

/// An unusable path is an error of `build` that names it; the socket of a dead process is replaced,
/// that of a living one is not.
// Proves: P15.
#[test]
fn what_is_at_the_path() {
    let directory = Directory::new();
    let path = directory.at("socket");
    // A socket without a listener.
    drop(UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let first = Runtime::builder()
        .workers(1)
        .inspect(&path)
        .build()
        .unwrap();
    assert_eq!(ask(&path, "snapshot")[0]["kind"], "runtime");

    assert_eq!(refused(&path).kind(), ErrorKind::AddrInUse);
    assert_eq!(ask(&path, "snapshot")[0]["kind"], "runtime", "it goes on");
    // By another path to the same place, too.
    symlink(&path, directory.at("link")).unwrap();
    assert_eq!(
        refused(&directory.at("link")).kind(),
        ErrorKind::AlreadyExists
    );
    fs::remove_file(directory.at("link")).unwrap();

    fs::write(directory.at("file"), "precious").unwrap();
    assert_eq!(
        refused(&directory.at("file")).kind(),
        ErrorKind::AlreadyExists
    );
    assert_eq!(
        fs::read_to_string(directory.at("file")).unwrap(),
        "precious"
    );
    assert_eq!(refused(&directory.at("")).kind(), ErrorKind::AlreadyExists);
    assert_eq!(
        refused(&directory.at("no/such")).kind(),
        ErrorKind::NotFound
    );
    assert_eq!(refused(Path::new("")).kind(), ErrorKind::InvalidInput);
    assert_eq!(refused(Path::new("/")).kind(), ErrorKind::InvalidInput);
    let long = directory.at(&"x".repeat(200));
    refused(&long);
    assert_eq!(
        directory.names(),
        ["file", "socket"],
        "nothing is left behind"
    );

    drop(first);
    assert_eq!(
        directory.names(),
        ["file"],
        "the socket goes with its runtime"
    );
    let second = Runtime::builder()
        .workers(1)
        .inspect(&path)
        .build()
        .unwrap();
    // By now it belongs to another process: it stays.
    fs::remove_file(&path).unwrap();
    fs::write(&path, "precious").unwrap();
    drop(second);
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
}

/// A living owner with a full queue of clients keeps its place, and a start does not wait for it.
// Proves: P15.
#[cfg(target_os = "linux")]
#[test]
fn an_owner_that_accepts_no_clients() {
    let directory = Directory::new();
    let path = directory.at("socket");
    let address = SockAddr::unix(&path).unwrap();
    let socket = || {
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
        socket.set_nonblocking(true).unwrap();
        socket
    };
    let owner = socket();
    owner.bind(&address).unwrap();
    owner.listen(0).unwrap();
    let mut clients = Vec::new();
    let full = loop {
        let client = socket();
        if let Err(error) = client.connect(&address) {
            break error;
        }
        clients.push(client);
    };
    assert_eq!(full.kind(), ErrorKind::WouldBlock);
    let theirs = path.clone();
    let start = thread::spawn(move || refused(&theirs).kind());
    eventually("an answer", || start.is_finished());
    assert_eq!(start.join().unwrap(), ErrorKind::AddrInUse);
    assert!(path.exists());
}

/// Of runtimes that start at the same time at the same path, beside a dead socket, one gets it and
/// answers.
// Proves: P15.
#[test]
fn one_of_many_gets_the_place() {
    let directory = Directory::new();
    let path = directory.at("socket");
    for _ in 0..scaled(20) {
        drop(UnixListener::bind(&path).unwrap());
        let build = || Runtime::builder().workers(1).inspect(&path).build();
        let built: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(build)).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        let winners = built.iter().filter(|built| built.is_ok()).count();
        assert_eq!(winners, 1, "{built:?}");
        assert_eq!(ask(&path, "snapshot")[0]["kind"], "runtime");
        drop(built);
        assert!(directory.names().is_empty(), "{:?}", directory.names());
    }
}

/// Malformed requests are rejected, and a client that sends or reads nothing delays neither
/// the others for long nor the runtime.
// Proves: P15.
#[test]
fn clients_that_misbehave() {
    let directory = Directory::new();
    let path = directory.at("socket");
    let built = Runtime::builder()
        .workers(2)
        .inspect(&path)
        .build()
        .unwrap();
    let runtime = Ends(Some(built));
    crowd(&runtime, 2_000);
    let garbage: [&[u8]; 5] = [
        b"\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\xff\xfe\x00snapshot\n",
        &[b'x'; 100_000],
        b"fiber 99999999999999999999\n",
    ];
    for bytes in garbage {
        // A write after the rejection may be an error there.
        if let Ok(answer) = raw(&path, bytes) {
            let line: Value = serde_json::from_str(&answer).expect("one line");
            assert_eq!(line["kind"], "error", "{answer}");
            assert_eq!(line["why"], "request", "{answer}");
        }
    }
    // Sends nothing; sends half of a request; disconnects.
    let silent = UnixStream::connect(&path).unwrap();
    let mut half = UnixStream::connect(&path).unwrap();
    half.write_all(b"snap").unwrap();
    drop(UnixStream::connect(&path).unwrap());
    // Sends a request, and has disconnected when the answer is sent: far more than the socket's
    // buffer holds.
    let mut gone = UnixStream::connect(&path).unwrap();
    gone.write_all(b"snapshot\n").unwrap();
    drop(gone);
    assert_eq!(of_kind(&ask_all(&path, "snapshot"), "fiber").len(), 2_000);
    drop((silent, half));
    // Shuts down its sending side, and reads.
    let mut shut = UnixStream::connect(&path).unwrap();
    shut.write_all(b"snapshot 1").unwrap();
    shut.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    shut.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("line feed"), "{answer}");
    // Sends a request and does not read: the runtime's end does not wait for it.
    let mut stuck = UnixStream::connect(&path).unwrap();
    stuck.write_all(b"snapshot\n").unwrap();
    let mut one = [0];
    stuck.read_exact(&mut one).unwrap();
    let start = Instant::now();
    runtime.now();
    assert!(start.elapsed() < LONG, "{:?}", start.elapsed());
    assert!(directory.names().is_empty());
    // And it sees the end of the connection.
    let mut rest = Vec::new();
    let _ = stuck.read_to_end(&mut rest);
    assert!(!rest.ends_with(b"{\"kind\":\"end\"}\n"), "it was cut off");
}

/// A client that reads slowly costs those that have asked meanwhile time, not their answers.
// Proves: P15.
#[test]
fn a_request_waits_for_another_answer() {
    let directory = Directory::new();
    let path = directory.at("socket");
    let built = Runtime::builder()
        .workers(1)
        .inspect(&path)
        .build()
        .unwrap();
    let runtime = Ends(Some(built));
    crowd(&runtime, 2_000);
    // Both are connected before either asks.
    let [mut slow, mut patient] = [(); 2].map(|()| UnixStream::connect(&path).unwrap());
    thread::sleep(Duration::from_millis(50));
    // More than the socket's buffer holds.
    slow.write_all(b"snapshot\n").unwrap();
    slow.read_exact(&mut [0]).unwrap();
    patient.write_all(b"snapshot 1\n").unwrap();
    // More than are accepted at a time.
    let late = (0..100).map(|_| {
        let mut client = UnixStream::connect(&path).unwrap();
        client.write_all(b"snapshot 1\n").unwrap();
        client
    });
    let clients: Vec<UnixStream> = [patient].into_iter().chain(late).collect();
    // Longer than a client may take for its request.
    thread::sleep(Duration::from_millis(1_200));
    let mut rest = Vec::new();
    slow.read_to_end(&mut rest).unwrap();
    for (i, mut client) in clients.into_iter().enumerate() {
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        assert!(answer.contains("\"kind\":\"end\""), "{i}: {answer:?}");
    }
    runtime.now();
}
