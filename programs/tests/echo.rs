//! `echo`, tested with netcat and with sockets of the standard library.
#![allow(clippy::disallowed_methods, reason = "the tests are plain threads")]

mod peers;

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::process::Command;
use std::thread;
use std::time::Duration;

use peers::{
    LIMIT, Program, await_close, await_refusal, connect, full_pipe, listening, peer, run,
};

fn serve(args: &[&str]) -> (Program, SocketAddr) {
    Program::serve(env!("CARGO_BIN_EXE_echo"), args)
}

fn exchange(stream: &mut TcpStream, text: &str) {
    stream.write_all(text.as_bytes()).unwrap();
    let mut answer = vec![0; text.len()];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(answer, text.as_bytes());
}

// Proves: N5-X-echo.
#[test]
fn netcat_gets_back_what_it_sends() {
    let Some(mut netcat) = peer("nc", "netcat-openbsd") else {
        return;
    };
    let (_server, address) = serve(&[]);
    netcat.args(["-N", "127.0.0.1", &address.port().to_string()]);
    // More than sockets hold, so that both directions are active at once.
    let sent: String = (0..200_000).map(|n| format!("line {n}\n")).collect();
    assert!(run(&mut netcat, &sent) == sent, "not what was sent");
}

// Proves: N5-X-echo.
#[test]
fn many_connections_are_served_at_once() {
    let (_server, address) = serve(&[]);
    let mut streams: Vec<_> = (0..200).map(|_| connect(address)).collect();
    for round in 0..5 {
        for (n, stream) in streams.iter_mut().enumerate() {
            exchange(stream, &format!("round {round} of connection {n}"));
        }
    }
}

// Proves: N5-X-echo.
#[test]
fn a_slow_reader_holds_up_no_other() {
    let (_server, address) = serve(&[]);
    let mut greedy = connect(address);
    // It writes until the buffers are full, and reads nothing.
    greedy.set_nonblocking(true).unwrap();
    while greedy.write(&[b'x'; 64 << 10]).is_ok() {}
    exchange(&mut connect(address), "served all the same");
}

/// Above the limit connections wait to be accepted, and are served when a permit becomes available.
// Proves: N5-X-echo.
#[test]
fn there_are_no_more_connections_than_may_be() {
    let (server, address) = serve(&["--connections", "2"]);
    let mut first = connect(address);
    let mut second = connect(address);
    exchange(&mut first, "the first");
    exchange(&mut second, "the second");
    let mut third = connect(address);
    third.write_all(b"the third").unwrap();
    third
        .set_read_timeout(Some(Duration::from_millis(300)))
        .unwrap();
    let waits = third.read(&mut [0; 9]).unwrap_err();
    assert_eq!(waits.kind(), ErrorKind::WouldBlock);
    drop(first);
    third.set_read_timeout(Some(LIMIT)).unwrap();
    let mut answer = [0; 9];
    third.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"the third");
    // A connection that waits for a permit does not delay the shutdown.
    let fourth = connect(address);
    server.terminate();
    await_close(&fourth);
    drop((second, third));
    assert!(server.end().status.success());
}

// Proves: N5-X-echo.
#[test]
fn a_server_that_ends_serves_present_clients() {
    let (server, address) = serve(&[]);
    let mut stream = connect(address);
    exchange(&mut stream, "before");
    server.terminate();
    await_refusal(address);
    exchange(&mut stream, "after");
    stream.shutdown(Shutdown::Write).unwrap();
    let ended = server.end();
    assert!(ended.status.success(), "{}", ended.status);
}

// Proves: N5-X-echo.
#[test]
fn a_client_that_does_not_end_is_cut_off() {
    let (server, address) = serve(&["--grace", "1"]);
    let mut stream = connect(address);
    exchange(&mut stream, "before");
    server.terminate();
    let waits = thread::spawn(move || stream.read(&mut [0]).unwrap());
    assert_eq!(server.end().status.code(), Some(1));
    assert_eq!(waits.join().unwrap(), 0);
}

/// The last line, with the failure, is abandoned after a while.
// Proves: N5-X-echo.
#[test]
fn a_standard_error_that_is_full_does_not_put_off_the_end() {
    let (_errors, full) = full_pipe();
    let mut command = listening(env!("CARGO_BIN_EXE_echo"));
    let (server, address) =
        Program::serve_by(command.args(["--grace", "1"]).stderr(full));
    let mut stream = connect(address);
    exchange(&mut stream, "before");
    server.terminate();
    assert_eq!(server.end().status.code(), Some(1));
}

// Proves: N5-X-echo.
#[test]
fn a_wrong_command_line_is_reported() {
    let started = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_echo"));
        let ended = command.args(args).output().unwrap();
        (
            ended.status.code(),
            String::from_utf8(ended.stderr).unwrap(),
        )
    };
    let (code, said) = started(&["--grace", "soon"]);
    assert!(code == Some(2) && said.contains("soon"), "{code:?} {said}");
    let (code, said) = started(&["--listen", "nowhere"]);
    assert!(
        code == Some(1) && said.contains("cannot listen on nowhere"),
        "{code:?} {said}"
    );
}
