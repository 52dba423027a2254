//! hyper's servers and clients on fibers.

use std::convert::Infallible;
use std::io::{Read, Write};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::{Either, select};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::rt::Executor as _;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper::{client, server};
use pirn::Interrupt;
use pirn::channel::bounded;
use pirn::future::hyper::{Executor, Io, Timer};
use pirn::future::{fiber, wait};
use pirn::net::{TcpListener, TcpStream, UnixStream};
use pirn::sync::Event;

use crate::executor_kind::runtime;
use crate::sockets_util::{connection, listener};
use crate::util::on_every_shape;

/// Returns the body and its length.
async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let method = request.method().clone();
    let body = request.into_body().collect().await.map_or_else(
        |_| Bytes::from_static(b"cut"),
        |collected| collected.to_bytes(),
    );
    let answer = match method {
        Method::POST => body,
        _ => Bytes::from_static(b"hello"),
    };
    Ok(Response::new(Full::new(answer)))
}

fn serve(stream: impl hyper::rt::Read + hyper::rt::Write + Unpin) -> hyper::Result<()> {
    let connection = server::conn::http1::Builder::new()
        .timer(Timer)
        .serve_connection(stream, service_fn(answer));
    wait(connection).unwrap_or(Ok(()))
}

fn serve_all(listener: &TcpListener) {
    for stream in listener.incoming() {
        match stream {
            Ok(stream) => {
                stream.set_nodelay(true).unwrap();
                drop(pirn::spawn(move || serve(stream)));
            }
            Err(error) => assert_eq!(Interrupt::of(&error), Some(Interrupt::Cancelled)),
        }
    }
}

/// Sends `requests` one after the other over one connection.
fn ask(
    stream: impl hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
    requests: usize,
) {
    let handshake = client::conn::http1::handshake(stream);
    let (mut sender, connection) = wait(handshake).unwrap().unwrap();
    Executor.execute(async { connection.await.unwrap() });
    for i in 0..requests {
        let body = Bytes::from(vec![i as u8; 1 + i * 5_000 % 100_000]);
        let request = Request::post("/")
            .header("host", "here")
            .body(Full::new(body.clone()))
            .unwrap();
        let got = wait(async {
            sender.ready().await.unwrap();
            let response = sender.send_request(request).await.unwrap();
            response.into_body().collect().await.unwrap().to_bytes()
        });
        assert!(got.unwrap() == body, "the body came back changed");
    }
}

/// Persistent connections, with bodies short and long.
// Proves: N5-X-hyper.
#[test]
fn hyper_serves_and_asks_on_fibers() {
    on_every_shape(|runtime| {
        runtime.run(|| {
            let listener = listener();
            let address = listener.local_addr().unwrap();
            let server = pirn::spawn(move || serve_all(&listener));
            let askers: Vec<_> = (0..6)
                .map(|i| {
                    pirn::spawn(move || ask(TcpStream::connect(address).unwrap(), 5 + i))
                })
                .collect();
            askers.into_iter().for_each(|asker| asker.join().unwrap());
            server.cancel();
            server.join().unwrap();
        });
    });
}

/// Other streams are used in a wrapper, which also accepts ours.
// Proves: N5-X-hyper.
#[test]
fn streams_are_wrapped_for_hyper() {
    runtime(2).run(|| {
        let (one, other) = UnixStream::pair().unwrap();
        let server = pirn::spawn(|| serve(Io::new(one)).unwrap());
        ask(Io::new(other), 10);
        server.join().unwrap();
        let (one, other) = UnixStream::pair().unwrap();
        let server = pirn::spawn(|| serve(one).unwrap());
        ask(other, 10);
        server.join().unwrap();
    });
}

/// A client that sends no request in time gets a timeout; hyper's limits use our clock.
// Proves: N5-X-hyper.
#[test]
fn hypers_limits_hold() {
    runtime(1).run(|| {
        let (one, other) = connection();
        let server = pirn::spawn(|| {
            let connection = server::conn::http1::Builder::new()
                .timer(Timer)
                .header_read_timeout(Duration::from_millis(5))
                .serve_connection(one, service_fn(answer));
            wait(connection).unwrap()
        });
        Write::write_all(&mut &other, b"GET / HTTP/1.1\r\nhost:").unwrap();
        Read::read_to_end(&mut &other, &mut Vec::new()).unwrap();
        assert!(server.join().unwrap().unwrap_err().is_timeout());
    });
}

/// Requests in flight when the server is shut down are answered; then the connection ends.
// Proves: N5-X-hyper.
#[test]
fn a_server_ends_gracefully() {
    runtime(2).run(|| {
        let (one, other) = connection();
        let begun = Arc::new(AtomicBool::new(false));
        let go_on = Arc::new(Event::manual());
        let (stop, stopped) = bounded(1);
        let server = pirn::spawn({
            let (begun, go_on) = (Arc::clone(&begun), Arc::clone(&go_on));
            move || {
                let slow = service_fn(move |_: Request<Incoming>| {
                    begun.store(true, Ordering::SeqCst);
                    let go_on = Arc::clone(&go_on);
                    let waits = fiber(move || go_on.wait().unwrap());
                    async {
                        waits.await.unwrap();
                        Ok::<_, Infallible>(Response::new("late".to_owned()))
                    }
                });
                let connection =
                    server::conn::http1::Builder::new().serve_connection(one, slow);
                let mut connection = pin!(connection);
                let told = pin!(stopped.recv_async());
                match wait(select(connection.as_mut(), told)).unwrap() {
                    Either::Left(_) => panic!("it has been asked for, and not answered"),
                    Either::Right(_) => {
                        connection.as_mut().graceful_shutdown();
                        wait(connection).unwrap()
                    }
                }
            }
        });
        Write::write_all(&mut &other, b"GET / HTTP/1.1\r\nhost: here\r\n\r\n").unwrap();
        while !begun.load(Ordering::SeqCst) {
            pirn::yield_now();
        }
        stop.send(()).unwrap();
        go_on.set();
        let mut answer = String::new();
        Read::read_to_string(&mut &other, &mut answer).unwrap();
        assert!(answer.ends_with("late"), "{answer}");
        server.join().unwrap().unwrap();
    });
}
