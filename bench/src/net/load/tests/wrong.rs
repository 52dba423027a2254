//! Whole loads on servers in this process.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use clap::Parser;

use crate::net::load::drive::load;
use crate::net::load::options::Load;

/// A server's change of the bytes that it has read, before it writes them.
type Twist = fn(served: u64, words: &mut Vec<u8>);

/// Starts a server with `serve` on each connection, and returns the options of a load on it.
fn beside(
    options: &str,
    serve: impl Fn(&TcpStream) -> io::Result<()> + Copy + Send + 'static,
) -> Load {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            // A deliberately wrong server ignores the end of a connection.
            thread::spawn(move || stream.and_then(|stream| serve(&stream)));
        }
    });
    let options = format!("load --port {port} {options}");
    Load::parse_from(options.split(' '))
}

/// Returns a load of 200 requests on 4 connections to a server with `twist`.
fn under(depth: usize, twist: Twist) -> Load {
    let options = format!("--connections 4 --depth {depth} --requests 200");
    beside(&options, move |stream| serve(stream, twist))
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

/// Returns the error of a load on a server with `twist`.
fn error_under(twist: Twist) -> String {
    load(&under(1, twist)).unwrap_err()
}

fn value(samples: &[(String, f64)], name: &str) -> f64 {
    let sample = samples.iter().find(|(series, _)| series == name);
    sample.unwrap_or_else(|| panic!("no {name}")).1
}

#[test]
fn a_right_server_has_figures() {
    for depth in [1, 16] {
        let samples = load(&under(depth, |_, _| {})).unwrap();
        assert_eq!(value(&samples, "requests"), 200.0);
        assert!(value(&samples, "rate") > 0.0);
        let [p50, p99, p999, max] =
            ["p50", "p99", "p999", "max"].map(|name| value(&samples, name));
        assert!(0.1 < p50 && p50 <= p99 && p99 <= p999 && p999 <= max);
    }
}

#[test]
fn a_load_by_the_clock_has_figures() {
    let own = std::process::id();
    let options = format!("--pid {own} --connections 8 --warmup 10 --time 100");
    let samples = load(&beside(&options, |stream| serve(stream, |_, _| {}))).unwrap();
    assert!(value(&samples, "requests") > 0.0);
    assert!(value(&samples, "cpu") > 0.0);
}

// Proves: R9.
#[test]
fn one_byte_that_is_changed_late_is_found() {
    let said = error_under(|served, words| words[63] ^= u8::from(served == 30));
    assert!(said.contains("byte 63 of answer 30 is"), "{said}");
}

// Proves: R9.
#[test]
fn bytes_that_are_lost_are_missed() {
    let lost = Load {
        patience: Duration::from_millis(300),
        ..under(1, |served, words| {
            words.truncate(64 - usize::from(served == 5))
        })
    };
    let said = load(&lost).unwrap_err();
    assert!(said.contains("silent"), "{said}");
}

// Proves: R9.
#[test]
fn bytes_that_come_twice_are_found() {
    let said = error_under(|served, words| {
        if served == 5 {
            words.extend_from_within(..);
        }
    });
    assert!(said.starts_with("connection "), "{said}");
}

// Proves: R9.
#[test]
fn bytes_after_the_last_answer_are_found() {
    // The greeting and fifty requests on each connection.
    let said = error_under(|served, words| {
        if served == 50 {
            words.push(0);
        }
    });
    assert!(said.starts_with("connection "), "{said}");
}

#[test]
fn a_server_that_closes_early_is_found() {
    let options = beside("--connections 1 --requests 10", |mut stream| {
        let mut buffer = [0; 64];
        stream.read_exact(&mut buffer)?;
        stream.write_all(&buffer)
    });
    // Both sides may see the other one close; the load reports its error.
    let said = load(&options).unwrap_err();
    assert!(said.starts_with("connection "), "{said}");
}

#[test]
fn requests_larger_than_a_socket_takes_at_once_come_back_whole() {
    let options = "--connections 2 --depth 256 --size 65536 --requests 1000";
    let samples = load(&beside(options, |stream| serve(stream, |_, _| {}))).unwrap();
    assert_eq!(value(&samples, "requests"), 1000.0);
}
