//! Clients and servers in Rust.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;

use lettre::{Message, SmtpTransport, Transport as _};
use pirn_hooks::within;

use crate::fixture::{
    MANY_REQUESTS, PAUSE, REQUESTS, answer_late, at_once, check_each_count, one_worker,
    serve,
};

#[test]
fn ureq_parks() {
    let address = serve(answer_late);
    check_each_count("ureq", |number| {
        let mut answer = ureq::get(format!("http://{address}/{number}"))
            .call()
            .unwrap();
        let body = answer.body_mut().read_to_string().unwrap();
        assert_eq!(body, format!("/{number}"));
    });
}

#[test]
fn attohttpc_parks() {
    let address = serve(answer_late);
    check_each_count("attohttpc", |number| {
        let answer = attohttpc::get(format!("http://{address}/{number}")).send();
        assert_eq!(answer.unwrap().text().unwrap(), format!("/{number}"));
    });
}

/// It has a runtime on a thread of its own, and blocks the caller's.
#[test]
fn reqwest_blocks_its_worker() {
    let address = serve(answer_late);
    let client = reqwest::blocking::Client::new();
    let get = |number| {
        let answer = client.get(format!("http://{address}/{number}")).send();
        assert_eq!(answer.unwrap().text().unwrap(), format!("/{number}"));
    };
    at_once("reqwest", 5, get).check_blocked();
    at_once("reqwest in blocking", REQUESTS, |number| {
        pirn::blocking(|| get(number));
    })
    .check_time();
}

#[test]
fn lettre_parks() {
    let address = serve(take_mail);
    check_each_count("lettre", |number| {
        let mail = Message::builder()
            .from("a@example.org".parse().unwrap())
            .to("b@example.org".parse().unwrap())
            .subject(number.to_string())
            .body(String::from("text"))
            .unwrap();
        let server = SmtpTransport::builder_dangerous("127.0.0.1");
        let sent = server.port(address.port()).build().send(&mail).unwrap();
        assert_eq!(sent.message().next(), Some(&*format!("Subject: {number}")));
    });
}

/// A mail server that answers late, with the subject of the mail.
fn take_mail(mut stream: TcpStream) {
    let lines = BufReader::new(stream.try_clone().unwrap()).lines();
    stream.write_all(b"220 here\r\n").unwrap();
    let (mut in_mail, mut subject) = (false, String::new());
    for line in lines.map_while(Result::ok) {
        let answer = match &*line {
            "." => {
                in_mail = false;
                thread::sleep(PAUSE);
                format!("250 {subject}")
            }
            _ if in_mail => {
                if line.starts_with("Subject:") {
                    subject = line;
                }
                continue;
            }
            "DATA" => {
                in_mail = true;
                String::from("354 go on")
            }
            "QUIT" => String::from("221 bye"),
            _ => String::from("250 yes"),
        };
        stream
            .write_all(format!("{answer}\r\n").as_bytes())
            .unwrap();
    }
}

/// Its own threads accept and read the heads; the handlers run on fibers.
#[test]
fn handlers_of_tiny_http_park() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    // The backlog that `std` sets is too short for 1,000 clients.
    rustix::net::listen(&listener, 4_096).unwrap();
    let server = tiny_http::Server::from_listener(listener, None).unwrap();
    let address = server.server_addr().to_ip().unwrap();
    let (requests, handlers) = pirn::channel::unbounded();
    let serving = thread::spawn(move || {
        one_worker().run(|| {
            pirn::scope(|s| {
                for request in &handlers {
                    s.spawn(move || within(|| handle(request)));
                }
            });
        });
    });
    let accepting = thread::spawn(move || {
        let all = (REQUESTS + MANY_REQUESTS) as usize;
        for request in server.incoming_requests().take(all) {
            requests.send(request).unwrap();
        }
    });
    check_each_count("tiny_http", |number| {
        let answer = attohttpc::post(format!("http://{address}/{number}"))
            .text("x".repeat(100_000))
            .send();
        assert_eq!(answer.unwrap().text().unwrap(), format!("/{number} 100000"));
    });
    accepting.join().unwrap();
    serving.join().unwrap();
}

fn handle(mut request: tiny_http::Request) {
    let mut body = String::new();
    request.as_reader().read_to_string(&mut body).unwrap();
    thread::sleep(PAUSE);
    let text = format!("{} {}", request.url(), body.len());
    request
        .respond(tiny_http::Response::from_string(text))
        .unwrap();
}
