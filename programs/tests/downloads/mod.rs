//! Runs of `fetch`, and scripted servers for it.
#![allow(dead_code, reason = "each test file uses some of it")]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;

use crate::peers::LIMIT;

/// The outcome of a run of the program: its exit code and both outputs.
pub(crate) type Outcome = (Option<i32>, String, String);

/// Returns the command of the program.
pub(crate) fn command(directory: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fetch"));
    command.args(["--directory", &directory.display().to_string()]);
    command.args(args);
    command
}

/// Runs the program to its end.
pub(crate) fn fetch(directory: &Path, args: &[&str]) -> Outcome {
    let ended = command(directory, args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (ended.status.code(), text(ended.stdout), text(ended.stderr))
}

/// A scripted server: handles each connection and its request by a closure, and sends the text
/// of the request to the test.
pub(crate) fn server(
    answer: impl Fn(usize, &str, &mut TcpStream) + Send + Sync + 'static,
) -> (SocketAddr, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, requests) = mpsc::channel();
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for (n, stream) in listener.incoming().enumerate() {
            let (answer, sender) = (Arc::clone(&answer), sender.clone());
            thread::spawn(move || {
                let mut stream = stream.unwrap();
                stream.set_read_timeout(Some(LIMIT)).unwrap();
                let mut request = String::new();
                let mut lines = BufReader::new(stream.try_clone().unwrap());
                while !request.ends_with("\r\n\r\n") {
                    if lines.read_line(&mut request).unwrap_or(0) == 0 {
                        return;
                    }
                }
                let _ = sender.send(request.clone());
                answer(n, &request, &mut stream);
            });
        }
    });
    (address, requests)
}

/// Writes the head of an answer, and some of its body.
pub(crate) fn write(
    stream: &mut TcpStream,
    status: &str,
    headers: &str,
    length: usize,
    body: &[u8],
) {
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n{headers}\r\n");
    let _ = stream.write_all(&[head.as_bytes(), body].concat());
}

/// Returns data without repetition.
pub(crate) fn content(len: usize) -> Vec<u8> {
    (0..len)
        .map(|n| (n * n / 7 % 251).to_le_bytes()[0])
        .collect()
}

/// The names in a directory.
pub(crate) fn listing(directory: &Path) -> Vec<String> {
    let names = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> = names
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Writes a head unchanged, and a body.
pub(crate) fn raw(stream: &mut TcpStream, head: &str, body: &[u8]) {
    let _ = stream.write_all(&[head.as_bytes(), b"\r\n", body].concat());
}

/// A body in one chunk, with its end.
pub(crate) fn chunked(body: &[u8]) -> Vec<u8> {
    let head = format!("{:x}\r\n", body.len());
    [head.as_bytes(), body, b"\r\n0\r\n\r\n"].concat()
}
