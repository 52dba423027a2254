//! redis-server, and its answers.
#![allow(dead_code, reason = "each test file uses some of it")]

pub(crate) mod scripts;

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use crate::peers::{LIMIT, Program, directory, peer};

/// A redis-server without persistence.
#[derive(Debug)]
pub(crate) struct Redis {
    _program: Program,
    socket: PathBuf,
}

impl Redis {
    /// Starts a server for this test. `None`, for a test that is skipped, if there is none.
    pub(crate) fn start(test: &str, args: &[&str]) -> Option<Redis> {
        let mut command = peer("redis-server", "redis-server")?;
        let socket = directory(test).join("socket");
        command.args(["--port", "0", "--save", "", "--appendonly", "no"]);
        command.args(args).arg("--unixsocket").arg(&socket);
        let program = Program::start(&mut command);
        let start = Instant::now();
        while UnixStream::connect(&socket).is_err() {
            assert!(start.elapsed() < LIMIT, "redis-server does not listen");
            thread::sleep(Duration::from_millis(5));
        }
        Some(Redis {
            _program: program,
            socket,
        })
    }

    pub(crate) fn connect(&self) -> UnixStream {
        let stream = UnixStream::connect(&self.socket).expect("a server that accepts");
        let limit = stream.set_read_timeout(Some(LIMIT));
        limit.expect("a limit that can be set");
        stream
    }
}

/// Returns all answers to the parts of a script, with a pause between them, until the connection is
/// closed. The number of a client is left out of the answers to `HELLO`.
pub(crate) fn answers(
    mut stream: impl Read + Write,
    parts: &[&[u8]],
    pause: Duration,
) -> String {
    let mut answers = Vec::new();
    let mut buffer = [0; 4096];
    for (n, part) in parts.iter().enumerate() {
        if n > 0 {
            // The pause begins when the part before has been run.
            let n = stream.read(&mut buffer).expect("an answer");
            answers.extend_from_slice(&buffer[..n]);
            thread::sleep(pause);
        }
        stream.write_all(part).expect("a server that reads");
    }
    // A connection that is closed with unread input is reset.
    while let Ok(n @ 1..) = stream.read(&mut buffer) {
        answers.extend_from_slice(&buffer[..n]);
    }
    let shown = answers.escape_ascii().to_string();
    let mut pieces = shown.split("$2\\r\\nid\\r\\n:");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| {
        text + "(id)" + piece.trim_start_matches(|c: char| c.is_ascii_digit())
    })
}
