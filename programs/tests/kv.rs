//! `kv`, tested with redis-cli and redis-benchmark, and compared with redis-server byte by byte.
#![allow(clippy::disallowed_methods, reason = "the tests are plain threads")]

mod peers;
mod redis;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use peers::{LIMIT, Program, connect, peer, run};
use redis::{Redis, answers, scripts};

fn serve() -> (Program, SocketAddr) {
    Program::serve(env!("CARGO_BIN_EXE_kv"), &[])
}

/// Returns the answer to some requests, in the protocol.
fn ask(stream: &mut TcpStream, requests: &str, answer: &str) {
    stream.write_all(requests.as_bytes()).unwrap();
    let mut read = vec![0; answer.len()];
    stream.read_exact(&mut read).unwrap();
    assert_eq!(String::from_utf8_lossy(&read), answer, "to {requests}");
}

fn client(program: &str, address: SocketAddr) -> Option<Command> {
    let mut client = peer(program, "redis-tools")?;
    client.args(["-p", &address.port().to_string()]);
    Some(client)
}

// Proves: N5-X-kv.
#[test]
fn redis_cli_is_served() {
    let (_server, address) = serve();
    let Some(mut cli) = client("redis-cli", address) else {
        return;
    };
    let script = "PING\nSET greeting 'hello world'\nGET greeting\nEXISTS greeting nothing\n\
        INCR count\nINCR count\nINCR greeting\nDEL greeting count\nGET greeting\nTTL greeting\n\
        SET short lived EX 100\nTTL short\nPERSIST short\nTTL short\nECHO bye\nDBSIZE\n";
    let lines = "PONG\nOK\nhello world\n1\n1\n2\n\
        ERR value is not an integer or out of range\n\n2\n\n-2\nOK\n100\n1\n-1\nbye\n1\n";
    assert_eq!(run(&mut cli, script), lines);
}

// Proves: N5-X-kv.
#[test]
fn redis_benchmark_is_served() {
    for (pipeline, size) in [("1", "3"), ("16", "1024")] {
        let (_server, address) = serve();
        let Some(mut benchmark) = client("redis-benchmark", address) else {
            return;
        };
        let load = ["-t", "ping,set,get,incr", "-c", "50", "-n", "4800", "--csv"];
        let said = run(benchmark.args(load).args(["-P", pipeline, "-d", size]), "");
        // A line of names; two of pings, three of the others.
        assert_eq!(said.lines().count(), 6, "{said}");
        let value = "x".repeat(size.parse().unwrap());
        let mut stream = connect(address);
        let expected = format!("${size}\r\n{value}\r\n$4\r\n4800\r\n");
        // Its keys without the option for random ones. Its values have one letter or several.
        let asked = "GET key:__rand_int__\r\nGET counter:__rand_int__\r\n";
        stream.write_all(asked.as_bytes()).unwrap();
        let mut answer = vec![0; expected.len()];
        stream.read_exact(&mut answer).unwrap();
        let start = size.len() + 3;
        answer[start..start + value.len()].fill(b'x');
        assert_eq!(String::from_utf8_lossy(&answer), expected);
    }
}

// Proves: N5-X-kv.
#[test]
fn no_increment_is_lost() {
    let (_server, address) = serve();
    thread::scope(|s| {
        for _ in 0..8 {
            s.spawn(|| {
                let mut stream = connect(address);
                for _ in 0..50 {
                    stream
                        .write_all("INCR total\r\n".repeat(100).as_bytes())
                        .unwrap();
                    let mut answers = 0;
                    let mut buffer = [0; 4096];
                    while answers < 100 {
                        let n = stream.read(&mut buffer).unwrap();
                        assert_ne!(n, 0);
                        answers += buffer[..n].iter().filter(|b| **b == b':').count();
                    }
                }
            });
        }
    });
    ask(&mut connect(address), "GET total\r\n", "$5\r\n40000\r\n");
}

// Proves: N5-X-kv.
#[test]
fn keys_live_exactly_as_long_as_they_may() {
    let (_server, address) = serve();
    let life = Duration::from_millis(250);
    let limits = [
        "SET key value PX 250\r\n",
        "SET key value\r\nPEXPIRE key 250\r\n",
    ];
    for limit in limits {
        let mut stream = connect(address);
        let sent = Instant::now();
        let answer = if limit.contains("PEXPIRE") {
            "+OK\r\n:1\r\n"
        } else {
            "+OK\r\n"
        };
        ask(&mut stream, limit, answer);
        let answered = Instant::now();
        // Its time to live begins between the two moments. So it exists in an answer that arrives
        // early enough, and not in the answer to a request that is sent late enough.
        let gone = loop {
            let asked = Instant::now();
            stream.write_all(b"GET key\r\n").unwrap();
            let mut answer = [0; 5];
            stream.read_exact(&mut answer).unwrap();
            if &answer == b"$-1\r\n" {
                break Instant::now();
            }
            stream.read_exact(&mut [0; 6]).unwrap();
            assert!(asked < answered + life, "there for too long");
        };
        assert!(gone >= sent + life, "gone too early");
        ask(&mut stream, "TTL key\r\nEXISTS key\r\n", ":-2\r\n:0\r\n");
    }
}

// Proves: N5-X-kv.
#[test]
fn keys_that_are_not_read_are_removed() {
    let (_server, address) = serve();
    let mut stream = connect(address);
    for n in 0..1000 {
        ask(
            &mut stream,
            &format!("SET key{n} value PX 1\r\n"),
            "+OK\r\n",
        );
    }
    ask(&mut stream, "SET other value\r\n", "+OK\r\n");
    let start = Instant::now();
    loop {
        stream.write_all(b"DBSIZE\r\n").unwrap();
        let mut answer = [0; 16];
        let n = stream.read(&mut answer).unwrap();
        if &answer[..n] == b":1\r\n" {
            break;
        }
        assert!(start.elapsed() < LIMIT, "they stay");
        thread::sleep(Duration::from_millis(10));
    }
}

// Proves: N5-X-kv.
#[test]
fn requests_come_together_or_in_pieces() {
    let (_server, address) = serve();
    let mut stream = connect(address);
    let count = 20_000;
    let writer = stream.try_clone().unwrap();
    thread::scope(|s| {
        s.spawn(|| {
            let mut writer = &writer;
            for n in 0..count {
                let text = format!("*2\r\n$4\r\nECHO\r\n$5\r\n{n:05}\r\n");
                writer.write_all(text.as_bytes()).unwrap();
            }
        });
        for n in 0..count {
            let mut answer = [0; 11];
            stream.read_exact(&mut answer).unwrap();
            assert_eq!(answer, format!("$5\r\n{n:05}\r\n").as_bytes());
        }
    });
    stream.set_nodelay(true).unwrap();
    for byte in b"*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\n\r\n\0\xff\n\r\nGET \"key\"\r\n" {
        stream.write_all(&[*byte]).unwrap();
    }
    let mut answer = [0; 16];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"+OK\r\n$5\r\n\r\n\0\xff\n\r\n");
}

// Proves: N5-X-kv.
#[test]
fn a_client_that_does_not_read_costs_no_memory() {
    // A gigabyte of answers, of which large ones are the value itself, and small ones copies; the
    // small ones are requested by few bytes.
    for (len, requests) in [(1 << 20, 1000), (30_000, 35_000)] {
        let (server, address) = serve();
        let mut stream = connect(address);
        let value = "v".repeat(len);
        ask(
            &mut stream,
            &format!("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n${len}\r\n{value}\r\n"),
            "+OK\r\n",
        );
        stream.set_nonblocking(true).unwrap();
        // As many as the server and the sockets take.
        let _ = stream.write_all("GET k\r\n".repeat(requests).as_bytes());
        stream.set_nonblocking(false).unwrap();
        // The first of them is sent with all that were collected before.
        stream.peek(&mut [0]).unwrap();
        let mut other = connect(address);
        for _ in 0..100 {
            ask(&mut other, "PING\r\n", "+PONG\r\n");
        }
        assert!(server.memory() < 48 << 20, "{} bytes", server.memory());
    }
}

/// Large parts of a value are not copied for them, either.
// Proves: N5-X-kv.
#[test]
fn clients_that_do_not_read_share_a_value() {
    // More than the buffers of two sockets.
    const LEN: usize = 16 << 20;
    let (server, address) = serve();
    let value = "v".repeat(LEN);
    ask(
        &mut connect(address),
        &format!("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n${LEN}\r\n{value}\r\n"),
        "+OK\r\n",
    );
    let _clients: Vec<_> = (0..20)
        .map(|_| {
            let mut client = connect(address);
            client.write_all(b"GETRANGE k 1 -1\r\n").unwrap();
            // The answer has begun.
            client.peek(&mut [0]).unwrap();
            client
        })
        .collect();
    assert!(server.memory() < 64 << 20, "{} bytes", server.memory());
}

// Proves: N5-X-kv.
#[test]
fn what_is_promised_costs_no_memory() {
    let (server, address) = serve();
    let promise = "PING\r\n*1\r\n$536870912\r\n";
    let _promised: Vec<_> = (0..4)
        .map(|_| {
            let mut stream = connect(address);
            ask(&mut stream, promise, "+PONG\r\n");
            stream
        })
        .collect();
    assert!(server.memory() < 64 << 20, "{} bytes", server.memory());
}

// Proves: N5-X-kv.
#[test]
fn what_comes_behind_the_end_costs_no_answer() {
    let (_server, address) = serve();
    let ends = [
        ("QUIT\r\n", "+OK\r\n"),
        (
            "*x\r\n",
            "-ERR Protocol error: invalid multibulk length\r\n",
        ),
    ];
    for (end, answer) in ends {
        let mut stream = connect(address);
        // More than is read at once.
        let requests = format!("PING\r\n{end}{}", "PING\r\n".repeat(10_000));
        stream.write_all(requests.as_bytes()).unwrap();
        let mut answers = String::new();
        // A connection that was reset is an error.
        stream.read_to_string(&mut answers).unwrap();
        assert_eq!(answers, format!("+PONG\r\n{answer}"));
    }
}

// Proves: N5-X-kv.
#[test]
fn it_ends_although_clients_are_there() {
    let (server, address) = serve();
    let mut stream = connect(address);
    ask(&mut stream, "PING\r\n", "+PONG\r\n");
    server.terminate();
    assert!(server.end().status.success());
    assert_eq!(stream.read(&mut [0]).unwrap(), 0);
}

// Proves: N5-X-kv.
#[test]
fn answers_are_those_of_redis() {
    let Some(redis) = Redis::start("answers_are_those_of_redis", &[]) else {
        return;
    };
    let (_server, address) = serve();
    // Redis detects no end of a line behind a byte 0, and refuses the line when it is too long.
    let endless = ["\0\r\n", "PING\r\nGET a\0b\r\n"];
    let endless = endless.map(|start| [start.as_bytes(), &[b'x'; 64 << 10]].concat());
    let lines = scripts::LINES.trim().split("\n\n");
    let lines = lines.map(|script| script.replace('\n', "\r\n") + "\r\n");
    let lines: Vec<_> = lines.map(String::into_bytes).collect();
    let bytes = scripts::BYTES.iter().map(|script| script.to_vec());
    let mut different = Vec::new();
    for script in lines.into_iter().chain(bytes).chain(endless) {
        for protocol in [&b""[..], b"HELLO 3\r\n"] {
            // The database is empty, and at the end the server closes the connection.
            let script = [b"FLUSHALL\r\n", protocol, &script, b"QUIT\r\n"].concat();
            let theirs = answers(redis.connect(), &[&script], Duration::ZERO);
            let ours = answers(connect(address), &[&script], Duration::ZERO);
            let script = script.escape_ascii();
            for (n, (ours, theirs)) in pairs(&ours, &theirs).enumerate() {
                if ours != theirs {
                    let said = format!("{ours}, not {theirs}: line {n} to {script}");
                    different.push(said);
                    break;
                }
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// The lines of two texts, side by side.
fn pairs<'a>(a: &'a str, b: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let count = a.matches("\\n").count().max(b.matches("\\n").count()) + 1;
    let lines = |text: &'a str| text.split("\\n").chain(std::iter::repeat("(nothing)"));
    lines(a).zip(lines(b)).take(count)
}
