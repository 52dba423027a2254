//! Whole loads on servers in this process.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use crate::net::load::{Failure, Load, Report, Until, load};

/// A server's change of the bytes that it has read, before it writes them.
type Twist = fn(served: u64, words: &mut Vec<u8>);

/// Serves connections with `twist` and puts a load on them: 200 requests on 4 connections.
fn under(depth: usize, twist: Twist) -> Result<Report, Failure> {
    under_for(Duration::from_secs(10), depth, twist)
}

/// The same with this timeout.
fn under_for(patience: Duration, depth: usize, twist: Twist) -> Result<Report, Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            // A deliberately wrong server ignores the end of a connection.
            thread::spawn(move || stream.and_then(|stream| serve(&stream, twist)));
        }
    });
    load(&Load {
        port,
        connections: 4,
        depth,
        until: Until::Requests(200),
        patience,
        ..Load::default()
    })
}

fn serve(mut stream: &TcpStream, twist: Twist) -> io::Result<()> {
    let mut buffer = [0; 4096];
    let mut served = 0;
    loop {
        let count = stream.read(&mut buffer)?;
        if count == 0 {
            return Ok(());
        }
        let mut words = buffer[..count].to_vec();
        twist(served, &mut words);
        stream.write_all(&words)?;
        served += count as u64 / 64;
    }
}

#[test]
fn a_right_server_has_figures() {
    for depth in [1, 16] {
        let report = under(depth, |_, _| {}).unwrap();
        assert_eq!(report.requests, 200);
        assert!(report.rate() > 0.0);
        let [p50, p99, p999, max] = report.percentiles;
        assert!(0.1 < p50 && p50 <= p99 && p99 <= p999 && p999 <= max);
    }
}

#[test]
fn a_load_by_the_clock_has_figures() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || stream.and_then(|stream| serve(&stream, |_, _| {})));
        }
    });
    let report = load(&Load {
        port,
        server: Some(std::process::id()),
        connections: 8,
        until: Until::Time {
            warmup: Duration::from_millis(10),
            window: Duration::from_millis(100),
        },
        ..Load::default()
    });
    let report = report.unwrap();
    assert!(report.requests > 0);
    assert!(report.window >= Duration::from_millis(100));
    assert!(report.processor.unwrap() > Duration::ZERO);
}

#[test]
fn one_byte_that_is_changed_late_is_found() {
    let changed = under(1, |served, words| words[63] ^= u8::from(served == 30));
    let said = changed.unwrap_err().to_string();
    assert!(said.contains("byte 63 of answer 30 is"), "{said}");
}

#[test]
fn bytes_that_are_lost_are_missed() {
    let patience = Duration::from_millis(300);
    let lost = under_for(patience, 1, |served, words| {
        words.truncate(64 - usize::from(served == 5))
    });
    let said = lost.unwrap_err().to_string();
    assert!(said.contains("silent"), "{said}");
}

#[test]
fn bytes_that_come_twice_are_found() {
    let twice = under(1, |served, words| {
        if served == 5 {
            words.extend_from_within(..);
        }
    });
    assert!(matches!(twice, Err(Failure::Wrong { .. })), "{twice:?}");
}

#[test]
fn bytes_after_the_last_answer_are_found() {
    // The greeting and fifty requests on each connection.
    let more = under(1, |served, words| {
        if served == 50 {
            words.push(0);
        }
    });
    assert!(matches!(more, Err(Failure::Wrong { .. })), "{more:?}");
}

#[test]
fn a_server_that_closes_early_is_found() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut buffer = [0; 64];
            // Both sides may see the other one close; the load reports its error.
            let _ = stream.and_then(|mut stream| {
                stream.read_exact(&mut buffer)?;
                stream.write_all(&buffer)
            });
        }
    });
    let closed = load(&Load {
        port,
        until: Until::Requests(10),
        ..Load::default()
    });
    assert!(
        matches!(closed, Err(Failure::Wrong { .. } | Failure::Io { .. })),
        "{closed:?}"
    );
}

#[test]
fn requests_larger_than_a_socket_takes_at_once_come_back_whole() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || stream.and_then(|stream| serve(&stream, |_, _| {})));
        }
    });
    let report = load(&Load {
        port,
        connections: 2,
        depth: 256,
        size: 65_536,
        until: Until::Requests(1000),
        ..Load::default()
    });
    assert_eq!(report.unwrap().requests, 1000);
}
