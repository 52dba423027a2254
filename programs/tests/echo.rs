//! `echo`, tested with netcat and with sockets of the standard library.
#![allow(clippy::disallowed_methods, reason = "the tests are plain threads")]

mod peers;

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::process::Command;
use std::thread;

use peers::{Program, await_refusal, connect, peer, run};

fn serve(args: &[&str]) -> (Program, SocketAddr) {
    Program::serve(env!("CARGO_BIN_EXE_echo"), args)
}

fn exchange(stream: &mut TcpStream, text: &str) {
    stream.write_all(text.as_bytes()).unwrap();
    let mut answer = vec![0; text.len()];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(answer, text.as_bytes());
}

#[test]
fn netcat_gets_back_what_it_sends() {
    let Some(mut netcat) = peer("nc", "netcat-openbsd") else {
        return;
    };
    let (_server, address) = serve(&[]);
    netcat.args(["-N", "127.0.0.1", &address.port().to_string()]);
    // More than sockets hold, so that both directions are under way at once.
    let sent: String = (0..200_000).map(|n| format!("line {n}\n")).collect();
    assert!(run(&mut netcat, &sent) == sent, "not what was sent");
}

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

#[test]
fn what_is_not_read_holds_up_nobody_else() {
    let (_server, address) = serve(&[]);
    let mut greedy = connect(address);
    // It writes for as long as there is room, and reads nothing.
    greedy.set_nonblocking(true).unwrap();
    while greedy.write(&[b'x'; 64 << 10]).is_ok() {}
    exchange(&mut connect(address), "served all the same");
}

#[test]
fn a_server_told_to_end_serves_on_who_is_there() {
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

#[test]
fn who_does_not_end_is_cut_off() {
    let (server, address) = serve(&["--grace", "1"]);
    let mut stream = connect(address);
    exchange(&mut stream, "before");
    server.terminate();
    let waits = thread::spawn(move || stream.read(&mut [0]).unwrap());
    assert_eq!(server.end().status.code(), Some(1));
    assert_eq!(waits.join().unwrap(), 0);
}

#[test]
fn a_wrong_command_line_is_told() {
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
