//! The socket ends with its runtime; runtimes, processes and clients come and go.

use std::fs;
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use pirn::runtime::Builder;
use pirn::{Runtime, cancel};

use crate::inspect::{Ends, ask, of_kind};
use crate::util::{Directory, LONG, apart, eventually, scaled};

/// However a runtime ends, its socket is removed, and connected clients see the end.
// Proves: P15.
#[test]
fn it_ends_with_its_runtime() {
    let directory = Directory::new();
    let path = directory.at("socket");
    let build = || {
        Runtime::builder()
            .workers(2)
            .inspect(&path)
            .build()
            .unwrap()
    };
    let connected = || {
        let client = UnixStream::connect(&path).unwrap();
        client.set_read_timeout(Some(LONG)).unwrap();
        client
    };
    let ended = |mut client: UnixStream| {
        assert_eq!(client.read(&mut [0]).unwrap_or(0), 0);
        assert!(directory.names().is_empty(), "{:?}", directory.names());
    };

    let runtime = build();
    let client = connected();
    drop(runtime);
    ended(client);

    // With fibers that do not end.
    let runtime = build();
    let fiber = runtime.spawn(pirn::park);
    eventually("it waits", || runtime.fibers().len() == 1);
    let client = connected();
    let left = runtime.shutdown(Duration::ZERO).expect_err("it parks on");
    assert_eq!(left.fibers().len(), 1);
    ended(client);
    fiber.fiber().unpark();
    fiber.join().unwrap();

    // By one of its own fibers, which cannot wait for it.
    let runtime = build();
    let handle = runtime.handle();
    let client = connected();
    handle.run(move || drop(runtime));
    eventually("its end", || directory.names().is_empty());
    ended(client);
}

/// The process under test: aborts the first time, exits the second.
fn come_and_go() {
    let path = std::env::var_os("PIRN_INSPECT").expect("set");
    let path = Path::new(&path);
    assert_eq!(
        pirn::run(|| ask(path, "snapshot")[0]["name"].clone()),
        "pirn"
    );
    let aside = path.with_file_name("killed");
    if !aside.exists() {
        fs::write(aside, "").unwrap();
        std::process::abort();
    }
    // The second listening runtime of the environment has a number.
    let second = Builder::new().name("second").workers(1).build().unwrap();
    let numbered = path.with_file_name("socket.2");
    assert_eq!(ask(&numbered, "snapshot")[0]["name"], "second");
    // The setting of the program takes precedence.
    let other = path.with_file_name("other");
    let third = Builder::new().workers(1).inspect(&other).build().unwrap();
    assert!(other.exists() && !path.with_file_name("socket.3").exists());
    drop((second, third));
    assert!(!other.exists() && !numbered.exists());
    std::process::exit(0);
}

/// A process that exits removes its socket, though its default runtime does not end; a killed
/// one leaves it, and the next one takes its place.
// Proves: P15.
#[test]
fn processes_come_and_go() {
    let name = "inspect_ends::processes_come_and_go";
    if std::env::var_os("PIRN_INSPECT").is_some() {
        come_and_go();
    }
    let directory = Directory::new();
    let path = directory.at("socket");
    let text = path.to_str().expect("text");
    for killed in [true, false] {
        let ended = apart(name, &[("PIRN_INSPECT", text)], come_and_go);
        let ended = ended.expect("the parent");
        assert_eq!(ended.status.success(), !killed, "{}", ended.stderr);
        let left = directory.names();
        match killed {
            true => assert_eq!(left, ["killed", "socket"]),
            false => assert_eq!(left, ["killed"]),
        }
    }
}

/// Many clients at once while fibers start and end: each gets a whole answer.
// Proves: P15.
#[test]
fn many_ask_amid_a_storm() {
    let directory = Directory::new();
    let path = directory.at("socket");
    let built = Runtime::builder()
        .workers(4)
        .inspect(&path)
        .build()
        .unwrap();
    let runtime = Ends(Some(built));
    runtime.spawn(|| {
        while cancel::check().is_ok() {
            pirn::scope(|s| {
                for _ in 0..50 {
                    s.spawn(pirn::yield_now);
                }
            });
        }
    });
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..scaled(50) {
                    let lines = ask(&path, "snapshot 20");
                    assert_eq!(lines[0]["kind"], "runtime");
                    for fiber in of_kind(&lines, "fiber").iter().take(2) {
                        let id = fiber["id"].as_str().unwrap();
                        assert!(!ask(&path, &format!("fiber {id}")).is_empty());
                    }
                }
            });
        }
    });
    runtime.now();
}
