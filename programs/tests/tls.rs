//! `tls`: the server with openssl as its client, the client with openssl as its server, and both
//! with each other.
#![allow(clippy::disallowed_methods, reason = "the tests are plain threads")]

mod peers;

use std::io::{Read as _, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use peers::{Ended, Program, connect, directory, identity, peer};

const TLS: &str = env!("CARGO_BIN_EXE_tls");

/// A server with a certificate of its own, and the file with that.
fn serve(test: &str) -> (Program, SocketAddr, PathBuf) {
    let cert = directory(test).join("cert.pem");
    let (server, address) =
        Program::serve(TLS, &["--save-cert", &cert.display().to_string()]);
    (server, address, cert)
}

/// What the client makes of a server and an input.
fn client(address: SocketAddr, ca: &Path, args: &[&str], input: &str) -> Ended {
    let mut command = Command::new(TLS);
    command
        .args(["--connect", &address.to_string(), "--ca"])
        .arg(ca)
        .args(args);
    let mut client = Program::start(&mut command);
    let mut pipe = client.input();
    let input = input.to_owned();
    let writer = thread::spawn(move || pipe.write_all(input.as_bytes()).ok());
    let ended = client.end();
    writer.join().unwrap();
    ended
}

/// Lines there and back through openssl, in this version of TLS.
fn through_openssl(address: SocketAddr, ca: &Path, version: &str) {
    let Some(mut openssl) = peer("openssl", "openssl") else {
        return;
    };
    openssl
        .args(["s_client", "-quiet", "-verify_return_error", version])
        .args(["-servername", "localhost", "-verify_hostname", "localhost"])
        .args(["-connect", &address.to_string(), "-CAfile"])
        .arg(ca);
    let mut openssl = Program::start(&mut openssl);
    let mut input = openssl.input();
    for n in 0..100 {
        let line = format!("line {n} {}", "x".repeat(n * 100 + 1));
        writeln!(input, "{line}").unwrap();
        assert_eq!(openssl.line(), line);
    }
}

#[test]
fn openssl_is_served() {
    let (_server, address, cert) = serve("openssl_is_served");
    through_openssl(address, &cert, "-tls1_3");
    through_openssl(address, &cert, "-tls1_2");
}

#[test]
fn certificates_come_from_files() {
    let Some((cert, key)) = identity(&directory("certificates_come_from_files")) else {
        return;
    };
    let (cert_path, key_path) = (cert.display().to_string(), key.display().to_string());
    let (_server, address) =
        Program::serve(TLS, &["--cert", &cert_path, "--key", &key_path]);
    through_openssl(address, &cert, "-tls1_3");
}

#[test]
fn a_server_of_openssl_is_understood() {
    let Some((cert, key)) = identity(&directory("a_server_of_openssl_is_understood"))
    else {
        return;
    };
    for version in ["-tls1_3", "-tls1_2"] {
        let Some(mut openssl) = peer("openssl", "openssl") else {
            return;
        };
        // It sends back each line with its letters turned round.
        openssl
            .args([
                "s_server",
                "-accept",
                "127.0.0.1:0",
                "-rev",
                version,
                "-cert",
            ])
            .arg(&cert)
            .arg("-key")
            .arg(&key);
        let mut server = Program::start(&mut openssl);
        let address = loop {
            let line = server.line();
            if let Some(address) = line.strip_prefix("ACCEPT ") {
                break address.parse().unwrap();
            }
        };
        let ended = client(address, &cert, &[], "hello\nworld\n");
        assert!(ended.status.success());
        assert_eq!(ended.output, "olleh\ndlrow\n");
    }
}

#[test]
fn both_directions_go_on_at_once() {
    let (_server, address, cert) = serve("both_directions_go_on_at_once");
    // More than sockets hold: who only sent, or only received, would wait for ever.
    let sent: String = (0..1_000_000).map(|n| format!("line {n}\n")).collect();
    let ended = client(address, &cert, &[], &sent);
    assert!(ended.status.success());
    assert!(ended.output == sent, "not what was sent");
}

#[test]
fn the_client_believes_nobody_else() {
    let (_server, address, cert) = serve("the_client_believes_nobody_else");
    let (_other, _, foreign) = serve("the_client_believes_nobody_else_but");
    assert!(client(address, &cert, &[], "").status.success());
    assert_eq!(client(address, &foreign, &[], "").status.code(), Some(1));
    let misnamed = client(address, &cert, &["--name", "example.org"], "");
    assert_eq!(misnamed.status.code(), Some(1));
}

#[test]
fn what_is_no_tls_ends_its_connection_only() {
    let (_server, address, cert) = serve("what_is_no_tls_ends_its_connection_only");
    let mut plain = connect(address);
    plain.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    // An alert perhaps, then the end.
    let mut answer = Vec::new();
    plain.read_to_end(&mut answer).unwrap_or_default();
    let ended = client(address, &cert, &[], "still there\n");
    assert_eq!(ended.output, "still there\n");
}

#[test]
fn what_is_cut_off_is_no_end() {
    let (server, address, cert) = serve("what_is_cut_off_is_no_end");
    let mut command = Command::new(TLS);
    command.args(["--connect", &address.to_string(), "--ca"]);
    let mut client = Program::start(command.arg(&cert));
    let mut input = client.input();
    writeln!(input, "all of it").unwrap();
    assert_eq!(client.line(), "all of it");
    // The system closes its connections, without a word in TLS.
    drop(server);
    assert_eq!(client.end().status.code(), Some(1));
}
