//! The common part of all servers, tested by a server with connections that never end.
#![allow(clippy::disallowed_methods, reason = "the tests are plain threads")]

mod peers;

use std::env;
use std::hint;
use std::io::{Read as _, Write as _};
use std::process::Command;
use std::time::Duration;

use peers::{Program, connect};
use pirn_programs::Server;

/// Computes for each connection, without a wait at which it could be interrupted, on the only
/// worker.
#[test]
#[ignore = "the program that another test starts"]
fn computing_server() {
    let runtime = pirn::Runtime::builder().workers(1).build().unwrap();
    runtime.run(|| {
        let server = Server::new("127.0.0.1:0", Duration::from_millis(100)).unwrap();
        let ended = server.run(|mut stream| {
            stream.write_all(b"begun")?;
            loop {
                hint::spin_loop();
            }
        });
        unreachable!("{ended:?}");
    });
}

/// The shutdown ends soon after the grace period although no worker runs a fiber any more.
// Proves: N5-X-echo.
#[test]
fn connections_that_compute_do_not_put_off_the_end() {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "computing_server", "--ignored", "--nocapture"]);
    let mut server = Program::start(&mut command);
    let address = loop {
        let line = server.line();
        if let Some((_, address)) = line.split_once("listening on ") {
            break address.parse().unwrap();
        }
    };
    // From then on it holds the only worker.
    connect(address).read_exact(&mut [0; 5]).unwrap();
    server.terminate();
    assert_eq!(server.end().status.code(), Some(1));
}
