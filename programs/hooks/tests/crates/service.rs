//! The service, with many clients at once, each of which keeps its connection.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Command;
use std::time::Instant;

use pirn::net::TcpStream;

use crate::fixture::allow_many_files;
use crate::peers::{LIMIT, Program};
use crate::pools::redis_server;

#[test]
fn the_service_on_threads() {
    serve("threads", 200);
}

#[test]
fn the_service_on_fibers() {
    serve("fibers", 10_000);
}

/// Starts the service, and sends two requests from each of the clients, the second one when all
/// have had an answer to the first.
fn serve(mode: &str, clients: usize) {
    let Some((_redis, client)) = redis_server() else {
        return;
    };
    allow_many_files();
    let redis::ConnectionAddr::Tcp(host, port) = client.get_connection_info().addr()
    else {
        panic!("a server on TCP");
    };
    let mut service = Command::new(env!("CARGO_BIN_EXE_service"));
    service.args(["127.0.0.1:0", &format!("{host}:{port}"), mode]);
    let (service, address) = Program::serve_by(&mut service);
    let start = Instant::now();
    pirn::run(|| {
        // At the same time: a backlog that is full delays each of them by a second.
        let streams: Vec<_> = pirn::scope(|s| {
            let connect = |_| s.spawn(move || TcpStream::connect(address).unwrap());
            let all: Vec<_> = (0..clients).map(connect).collect();
            all.into_iter().map(|fiber| fiber.join().unwrap()).collect()
        });
        for round in 1..=2 {
            pirn::scope(|s| {
                for (number, stream) in streams.iter().enumerate() {
                    s.spawn(move || ask(stream, number, round));
                }
            });
        }
    });
    let took = start.elapsed();
    println!(
        "service on {mode}: {clients} clients, {} requests in {took:?}, {} KiB",
        2 * clients,
        service.peak_memory() >> 10
    );
}

/// Sends a request, and checks the answer.
fn ask(mut stream: &TcpStream, number: usize, round: u32) {
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let request = format!("GET /{number} HTTP/1.1\r\nHost: here\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    // The status, a header, an empty line, the body.
    for _ in 0..4 {
        line.clear();
        reader.read_line(&mut line).unwrap();
    }
    assert_eq!(line, format!("/{number} {round}\n"));
}
