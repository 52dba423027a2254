//! An HTTP service of blocking code: sockets of `std`, and a client for Redis.
//!
//! `service ADDRESS REDIS threads` serves each connection on a thread, `… fibers` on a fiber. The
//! code of the service is the same. Each request counts one up in Redis, and gets the count.

use std::env;
use std::error::Error;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use pirn::Runtime;
use pirn::sync::Pool;
use pirn_hooks as _;
use redis::Commands as _;

/// Connections to Redis.
const CONNECTIONS: usize = 64;

type Counter = Pool<redis::Connection>;

fn main() -> ExitCode {
    let args: Vec<_> = env::args().skip(1).collect();
    let [address, redis, mode] = &args[..] else {
        eprintln!("usage: service ADDRESS REDIS threads|fibers");
        return ExitCode::from(2);
    };
    match start(address, redis, mode) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("service: {error}");
            ExitCode::FAILURE
        }
    }
}

fn start(address: &str, redis: &str, mode: &str) -> Result<(), Box<dyn Error>> {
    let client = redis::Client::open(format!("redis://{redis}/"))?;
    let connect = move || client.get_connection().expect("a Redis that accepts");
    let counter = Arc::new(Pool::new(CONNECTIONS, connect));
    let listener = TcpListener::bind(address)?;
    println!("listening on {}", listener.local_addr()?);
    match mode {
        "threads" => serve_all(&listener, &counter, |serve| drop(thread::spawn(serve)))?,
        // What puts the service on fibers.
        "fibers" => Runtime::builder()
            .hooks(true)
            .build()?
            .run(|| serve_all(&listener, &counter, |serve| drop(pirn::spawn(serve))))?,
        _ => return Err(format!("`{mode}`: use `threads` or `fibers`").into()),
    }
    Ok(())
}

/// Accepts connections, and starts to serve each of them by `spawn`.
fn serve_all(
    listener: &TcpListener,
    counter: &Arc<Counter>,
    spawn: impl Fn(Box<dyn FnOnce() + Send>),
) -> io::Result<()> {
    loop {
        let (stream, _) = listener.accept()?;
        let counter = Arc::clone(counter);
        spawn(Box::new(move || {
            // The client has gone.
            let _ = serve(&stream, &counter);
        }));
    }
}

/// Answers requests until the client closes the connection.
fn serve(stream: &TcpStream, counter: &Counter) -> io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    while let Some(request) = lines.next() {
        let request = request?;
        // The rest of the head.
        while lines
            .next()
            .transpose()?
            .is_some_and(|line| !line.is_empty())
        {}
        let path = request.split(' ').nth(1).unwrap_or("/");
        let count = count(counter, path).map_err(io::Error::other)?;
        let body = format!("{path} {count}\n");
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        let mut stream = stream;
        stream.write_all((head + &body).as_bytes())?;
    }
    Ok(())
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
