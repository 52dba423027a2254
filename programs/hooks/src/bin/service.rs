//! An HTTP service of blocking code: sockets of `std`, and a client for Redis.
//!
//! `service ADDRESS REDIS threads` serves each connection on a thread, `… fibers` on a fiber. The
//! code of the service is the same. Each request counts one up in Redis, and gets the count. One
//! with a body ends its connection. A fourth argument is the number of seconds, above 0, that a
//! client has for the next bytes, else it has 60.

use std::env;
use std::error::Error;
use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
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

/// Maximum bytes of a body that is read. Arbitrary.
const LONGEST_BODY: u64 = 1 << 20;

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
    let seconds: u64 = seconds.map_or(Ok(60), |it| it.parse())?;
    if seconds == 0 {
        return Err("SECONDS is 0: a number above 0 is needed".into());
    }
    let limit = Duration::from_secs(seconds);
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

/// Answers requests until the client closes the connection, or sends a body.
fn serve(stream: &TcpStream, counter: &Counter, limit: Duration) -> io::Result<()> {
    stream.set_read_timeout(Some(limit))?;
    stream.set_write_timeout(Some(limit))?;
    let mut reader = BufReader::new(stream);
    while let Some(request) = line(&mut reader)? {
        // The rest of the head.
        let mut has_body = false;
        while let Some(field) = line(&mut reader)?.filter(|line| !line.is_empty()) {
            has_body |= announces_body(&field);
        }
        let mut words = request.split(' ');
        let method = words.next();
        let path = words.next().unwrap_or("/");
        let count = count(counter, path).map_err(io::Error::other)?;
        let body = format!("{path} {count}\n");
        let end = match has_body {
            true => "Connection: close\r\n",
            false => "",
        };
        let length = body.len();
        let mut answer =
            format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n{end}\r\n");
        if method != Some("HEAD") {
            answer += &body;
        }
        let mut stream = stream;
        stream.write_all(answer.as_bytes())?;
        if has_body {
            // It is no request. It is read, so that a reset does not discard the answer.
            stream.shutdown(Shutdown::Write)?;
            io::copy(&mut reader.take(LONGEST_BODY), &mut io::sink())?;
            return Ok(());
        }
    }
    Ok(())
}

/// Returns true for a header of a request with a body.
fn announces_body(field: &str) -> bool {
    let (name, value) = field.split_once(':').unwrap_or_default();
    name.eq_ignore_ascii_case("Transfer-Encoding")
        || name.eq_ignore_ascii_case("Content-Length")
            && value.trim().parse::<u64>() != Ok(0)
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
