//! An HTTP service of blocking code: sockets of `std`, and a client for Redis.
//!
//! `service ADDRESS REDIS threads` serves each connection on a thread, `… fibers` on a fiber. The
//! code of the service is the same. Each request counts one up in Redis, and gets the count. A
//! fourth argument is the number of seconds that a client has for the next bytes, else it has 60.

use std::env;
use std::error::Error;
use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use pirn::Runtime;
use pirn::sync::Pool;
use pirn_hooks as _;
use redis::Commands as _;

/// Connections to Redis.
const CONNECTIONS: usize = 64;

/// Maximum bytes of a line. Arbitrary.
const LONGEST_LINE: u64 = 8 << 10;

/// Interval between two attempts to accept, for instance while no descriptor is left.
const PAUSE: Duration = Duration::from_millis(50);

type Counter = Pool<redis::Connection>;

fn main() -> ExitCode {
    let args: Vec<_> = env::args().skip(1).collect();
    let [address, redis, mode, seconds @ ..] = &args[..] else {
        eprintln!("usage: service ADDRESS REDIS threads|fibers [SECONDS]");
        return ExitCode::from(2);
    };
    match start(address, redis, mode, seconds.first()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("service: {error}");
            ExitCode::FAILURE
        }
    }
}

fn start(
    address: &str,
    redis: &str,
    mode: &str,
    seconds: Option<&String>,
) -> Result<(), Box<dyn Error>> {
    let limit = Duration::from_secs(seconds.map_or(Ok(60), |it| it.parse())?);
    let client = redis::Client::open(format!("redis://{redis}/"))?;
    let connect = move || client.get_connection().expect("a Redis that accepts");
    let counter = Arc::new(Pool::new(CONNECTIONS, connect));
    let listener = TcpListener::bind(address)?;
    println!("listening on {}", listener.local_addr()?);
    match mode {
        // Without a thread the connection is closed.
        "threads" => serve_all(&listener, &counter, limit, |serve| {
            drop(thread::Builder::new().spawn(serve));
        }),
        // What puts the service on fibers.
        "fibers" => Runtime::builder().hooks(true).build()?.run(|| {
            serve_all(&listener, &counter, limit, |serve| drop(pirn::spawn(serve)));
        }),
        _ => return Err(format!("`{mode}`: use `threads` or `fibers`").into()),
    }
    Ok(())
}

/// Accepts connections for ever, and starts to serve each of them by `spawn`.
fn serve_all(
    listener: &TcpListener,
    counter: &Arc<Counter>,
    limit: Duration,
    spawn: impl Fn(Box<dyn FnOnce() + Send>),
) {
    loop {
        let Ok((stream, _)) = listener.accept() else {
            thread::sleep(PAUSE);
            continue;
        };
        let counter = Arc::clone(counter);
        spawn(Box::new(move || {
            // The client has gone, or exceeds a limit.
            let _ = serve(&stream, &counter, limit);
        }));
    }
}

/// Answers requests until the client closes the connection.
fn serve(stream: &TcpStream, counter: &Counter, limit: Duration) -> io::Result<()> {
    stream.set_read_timeout(Some(limit))?;
    stream.set_write_timeout(Some(limit))?;
    let mut reader = BufReader::new(stream);
    while let Some(request) = line(&mut reader)? {
        // The rest of the head.
        while line(&mut reader)?.is_some_and(|line| !line.is_empty()) {}
        let path = request.split(' ').nth(1).unwrap_or("/");
        let count = count(counter, path).map_err(io::Error::other)?;
        let body = format!("{path} {count}\n");
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        let mut stream = stream;
        stream.write_all((head + &body).as_bytes())?;
    }
    Ok(())
}

/// Returns the next line, without its end; `None` at the end of the stream.
fn line(reader: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = String::new();
    let length = reader.take(LONGEST_LINE).read_line(&mut line)?;
    if length as u64 == LONGEST_LINE && !line.ends_with('\n') {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok((length > 0).then(|| line.trim_end().to_owned()))
}

fn count(counter: &Counter, path: &str) -> Result<u64, Box<dyn Error + Send + Sync>> {
    let mut connection = counter.get()?;
    let counted = connection.incr(path, 1);
    if counted.is_err() {
        // Its reply may still come: no other request may receive it.
        drop(connection.discard());
    }
    Ok(counted?)
}
