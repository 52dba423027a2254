//! `kv`, tested with redis-cli and redis-benchmark, and compared with redis-server byte by byte.
#![allow(clippy::disallowed_methods, reason = "the tests are plain threads")]

mod peers;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use peers::{LIMIT, Program, connect, directory, peer, run};

fn serve() -> (Program, SocketAddr) {
    Program::serve(env!("CARGO_BIN_EXE_kv"), &[])
}

/// The answer to some requests, in the protocol.
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
        // The keys that it takes when it is not told to choose at random. Its values are of one
        // letter or of several.
        let asked = "GET key:__rand_int__\r\nGET counter:__rand_int__\r\n";
        stream.write_all(asked.as_bytes()).unwrap();
        let mut answer = vec![0; expected.len()];
        stream.read_exact(&mut answer).unwrap();
        let start = size.len() + 3;
        answer[start..start + value.len()].fill(b'x');
        assert_eq!(String::from_utf8_lossy(&answer), expected);
    }
}

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
        // It begins to live at some moment between the two, so it is there in an answer that
        // comes early enough, and in none to a question that is asked late enough.
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

#[test]
fn keys_that_nobody_asks_for_are_removed() {
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

#[test]
fn who_does_not_read_costs_no_memory() {
    let (server, address) = serve();
    let mut stream = connect(address);
    let value = "v".repeat(1 << 20);
    let len = value.len();
    ask(
        &mut stream,
        &format!("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n${len}\r\n{value}\r\n"),
        "+OK\r\n",
    );
    // A gigabyte of answers.
    stream
        .write_all("GET k\r\n".repeat(1000).as_bytes())
        .unwrap();
    let mut other = connect(address);
    for _ in 0..100 {
        ask(&mut other, "PING\r\n", "+PONG\r\n");
    }
    assert!(server.memory() < 128 << 20, "{} bytes", server.memory());
}

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

#[test]
fn it_ends_although_clients_are_there() {
    let (server, address) = serve();
    let mut stream = connect(address);
    ask(&mut stream, "PING\r\n", "+PONG\r\n");
    server.terminate();
    assert!(server.end().status.success());
    assert_eq!(stream.read(&mut [0]).unwrap(), 0);
}

#[test]
fn answers_are_those_of_redis() {
    let Some(mut command) = peer("redis-server", "redis-server") else {
        return;
    };
    let socket = directory("answers_are_those_of_redis").join("socket");
    command.args([
        "--port",
        "0",
        "--save",
        "",
        "--appendonly",
        "no",
        "--unixsocket",
    ]);
    let _redis = Program::start(command.arg(&socket));
    let start = Instant::now();
    while UnixStream::connect(&socket).is_err() {
        assert!(start.elapsed() < LIMIT, "redis-server does not listen");
        thread::sleep(Duration::from_millis(5));
    }
    let (_server, address) = serve();
    // Redis finds no end of a line behind a byte 0, and refuses the line when it is too long.
    let endless = ["\0\r\n", "PING\r\nGET a\0b\r\n"];
    let endless = endless.map(|start| [start.as_bytes(), &[b'x'; 64 << 10]].concat());
    for script in SCRIPTS
        .iter()
        .copied()
        .chain(endless.iter().map(Vec::as_slice))
    {
        // The database is empty, and at the end the server closes the connection.
        let script = [b"FLUSHALL\r\n", script, b"QUIT\r\n"].concat();
        let theirs = all(UnixStream::connect(&socket).unwrap(), &script);
        let ours = all(connect(address), &script);
        let shown = |bytes: &[u8]| bytes.escape_ascii().to_string();
        assert_eq!(shown(&ours), shown(&theirs), "to {}", shown(&script));
    }
}

/// Everything that is answered until the connection is closed.
fn all(mut stream: impl Read + Write, script: &[u8]) -> Vec<u8> {
    stream.write_all(script).unwrap();
    let mut answers = Vec::new();
    let mut buffer = [0; 4096];
    // Who closes a connection on which there is something to be read resets it.
    while let Ok(n @ 1..) = stream.read(&mut buffer) {
        answers.extend_from_slice(&buffer[..n]);
    }
    answers
}

const SCRIPTS: &[&[u8]] = &[
    b"PING\r\nping hi\r\nPING a b\r\nECHO\r\nECHO a b\r\nECHO ''\r\n",
    b"GET\r\nGET a b\r\nget k\r\nSET k\r\nSET k v\r\nGeT k\r\nEXISTS k k none\r\nDEL k none k\r\n",
    b"SET k 1 NX\r\nSET k 2 NX\r\nGET k\r\nSET k 3 XX\r\nSET n 4 XX\r\nGET k\r\nGET n\r\n",
    b"SET k v NX XX\r\nSET k v XX NX\r\nSET k v NX NX\r\nSET k v FOO\r\nSET k v EX\r\n\
      SET k v EX 10 PX 10\r\nSET k v EX x FOO\r\nSET k v EX 10 EX 20 XX\r\nSET k v KEEPTTL EX 1\r\n",
    b"SET k v EX 0\r\nSET k v PX -1\r\nSET k v EX 1.5\r\nSET k v EX 9223372036854775807\r\n\
      SET k v PX 9223372036854775807\r\nGET k\r\n",
    b"SET k v EX 100\r\nSET k w KEEPTTL\r\nPERSIST k\r\nTTL k\r\nPERSIST k\r\nPERSIST none\r\n\
      SET k v EX 100\r\nSET k v\r\nTTL k\r\nPTTL k\r\nTTL none\r\nPTTL none\r\nGET k\r\n",
    b"EXPIRE none 10\r\nSET k v\r\nEXPIRE k x\r\nEXPIRE k 9223372036854775807\r\n\
      PEXPIRE k 9223372036854775807\r\nEXPIRE k -9223372036854775808\r\nEXPIRE k -1\r\nGET k\r\n\
      SET k v\r\nPEXPIRE k 0\r\nEXISTS k\r\nEXPIRE k\r\nTTL\r\n",
    b"INCR k\r\nINCR k\r\nDECR k\r\nGET k\r\nSET k abc\r\nINCR k\r\nSET k ' 1'\r\nINCR k\r\n\
      SET k 01\r\nINCR k\r\nSET k -5\r\nINCR k\r\nSET k 9223372036854775807\r\nINCR k\r\n\
      SET k -9223372036854775808\r\nDECR k\r\nGET k\r\nINCR\r\nINCR a b\r\n",
    b"INCR k\r\nEXPIRE k 100\r\nINCR k\r\nPERSIST k\r\n",
    b"DBSIZE\r\nSET a 1\r\nSET b 2\r\nDBSIZE\r\nFLUSHALL\r\nDBSIZE\r\nSELECT 0\r\nSELECT x\r\nSELECT 99\r\n",
    b"CONFIG GET save\r\nCONFIG GET appendonly\r\nCONFIG GET nothing\r\nCONFIG\r\nCONFIG GET\r\n\
      CONFIG NOTHING\r\n",
    b"NOTHING\r\nNOTHING a 'b c' d\r\n*2\r\n$3\r\nn\ro\r\n$1\r\n\n\r\n",
    b"SET 'a b' \"c\\x41\\n\\\"d\"\r\nGET \"a b\"\r\nSET q 'it\\'s'\r\nGET q\r\n  GET   q  \r\n\r\nGET q\n",
    b"*3\r\n$3\r\nSET\r\n$0\r\n\r\n$4\r\n\r\n\0\xff\r\n*2\r\n$3\r\nGET\r\n$0\r\n\r\n*0\r\n*-1\r\n\r\n",
    b"PING\r\n*x\r\nPING\r\n",
    b"PING\r\n*1\r\nPING\r\n",
    b"*2\r\n$4\r\nECHO\r\n:1\r\n",
    b"*1\r\n$x\r\n",
    b"*1\r\n$-1\r\n",
    b"*1\r\n$999999999\r\n",
    b"*9999999999\r\n",
    b"GET \"k\r\n",
    b"GET 'k'x\r\n",
    b"GET \"k\"x\r\n",
    b"QUIT\r\nPING\r\n",
    b"quit now\r\n",
];
