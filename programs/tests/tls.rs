//! `tls`: the server with openssl as its client, the client with openssl as its server, and both
//! with each other.
#![allow(clippy::disallowed_methods, reason = "the tests are plain threads")]

mod peers;

use std::io::{Read as _, Write as _};
use std::iter;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use std::{fs, thread};

use peers::{
    Ended, Program, await_close, connect, directory, full_pipe, identity, listening,
    peer, trickle,
};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection};

const TLS: &str = env!("CARGO_BIN_EXE_tls");

/// A server with a certificate of its own, and the file with that.
fn serve(test: &str) -> (Program, SocketAddr, PathBuf) {
    let cert = directory(test).join("cert.pem");
    let (server, address) =
        Program::serve(TLS, &["--save-cert", &cert.display().to_string()]);
    (server, address, cert)
}

/// Returns the outcome of the client with a server and an input.
fn client(address: SocketAddr, ca: &Path, args: &[&str], input: &str) -> Ended {
    let mut command = Command::new(TLS);
    command
        .args(["--connect", &address.to_string(), "--ca"])
        .arg(ca)
        .args(args)
        .stderr(Stdio::piped());
    let mut client = Program::start(&mut command);
    let mut pipe = client.input();
    let input = input.to_owned();
    let writer = thread::spawn(move || pipe.write_all(input.as_bytes()).ok());
    let ended = client.end();
    writer.join().unwrap();
    ended
}

/// A server that sends records of these lengths, the close notification, and more bytes, all in one
/// piece, to one client. Returns its address, and the file with its certificate.
fn sends(
    test: &str,
    records: &'static [usize],
    behind: &'static [u8],
) -> (SocketAddr, PathBuf) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let ca = directory(test).join("cert.pem");
    fs::write(&ca, made.cert.pem()).unwrap();
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let config = ServerConfig::builder().with_no_client_auth();
    let config = config.with_single_cert(vec![made.cert.der().clone()], key);
    let config = Arc::new(config.unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        let mut connection = ServerConnection::new(config).unwrap();
        while connection.is_handshaking() {
            connection.complete_io(&mut stream).unwrap();
        }
        for length in records {
            let record = vec![b'x'; *length];
            connection.writer().write_all(&record).unwrap();
        }
        connection.send_close_notify();
        let mut bytes = Vec::new();
        while connection.wants_write() {
            connection.write_tls(&mut bytes).unwrap();
        }
        bytes.extend(behind);
        stream.write_all(&bytes).unwrap();
        // Until the client has ended.
        let _ = stream.read_to_end(&mut Vec::new());
    });
    (address, ca)
}

/// The client has failed, and its report has these parts.
#[track_caller]
fn failed(ended: &Ended, parts: &[&str]) {
    let said = &ended.errors;
    assert_eq!(ended.status.code(), Some(1), "{said}");
    for part in parts {
        assert!(said.contains(part), "no `{part}` in: {said}");
    }
    assert_eq!(said.lines().count(), 1, "{said}");
}

/// Sends lines through openssl and back, in this version of TLS.
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

// Proves: N5-X-tls.
#[test]
fn openssl_is_served() {
    let (_server, address, cert) = serve("openssl_is_served");
    through_openssl(address, &cert, "-tls1_3");
    through_openssl(address, &cert, "-tls1_2");
}

// Proves: N5-X-tls.
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

// Proves: N5-X-tls.
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
        // It sends back each line reversed.
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

// Proves: N5-X-tls.
#[test]
fn both_directions_go_on_at_once() {
    let (_server, address, cert) = serve("both_directions_go_on_at_once");
    // More than sockets hold: a client that only sent, or only received, would block indefinitely.
    let sent: String = (0..1_000_000).map(|n| format!("line {n}\n")).collect();
    let ended = client(address, &cert, &[], &sent);
    assert!(ended.status.success());
    assert!(ended.output == sent, "not what was sent");
}

// Proves: N5-X-tls.
#[test]
fn the_client_believes_no_other_server() {
    let (_server, address, cert) = serve("the_client_believes_no_other_server");
    let (_other, _, foreign) = serve("the_client_believes_nobody_else_but");
    let trusted = client(address, &cert, &[], "");
    assert!(trusted.status.success() && trusted.errors.is_empty());
    let agree = format!("tls: cannot agree with {address}: ");
    let stranger = client(address, &foreign, &[], "");
    failed(
        &stranger,
        &[&agree, "invalid peer certificate: BadSignature"],
    );
    let misnamed = client(address, &cert, &["--name", "example.org"], "");
    failed(&misnamed, &[&agree, "certificate not valid for name"]);
}

// Proves: N5-X-tls.
#[test]
fn what_is_no_tls_ends_its_connection_only() {
    let (_server, address, cert) = serve("what_is_no_tls_ends_its_connection_only");
    speak_plainly(address);
    let ended = client(address, &cert, &[], "still there\n");
    assert_eq!(ended.output, "still there\n");
}

/// A client without TLS, until it is cut off.
fn speak_plainly(address: SocketAddr) {
    let mut plain = connect(address);
    plain.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    // An alert perhaps, then the end.
    await_close(&plain);
}

/// Lines for standard error wait, but no connection does. Each failure has a line, or is counted
/// among those left out.
// Proves: N5-X-tls.
#[test]
fn a_standard_error_that_is_full_holds_up_nothing() {
    let cert =
        directory("a_standard_error_that_is_full_holds_up_nothing").join("cert.pem");
    let (mut errors, full) = full_pipe();
    let mut command = listening(TLS);
    let command = command.arg("--save-cert").arg(&cert).stderr(full);
    let (server, address) = Program::serve_by(command);
    // The pipe ends with the server.
    command.stderr(Stdio::null());
    // More than are queued until they can be written.
    let failures = 600;
    for _ in 0..failures {
        speak_plainly(address);
    }
    let ended = client(address, &cert, &[], "still there\n");
    assert_eq!(ended.output, "still there\n");
    let reader = thread::spawn(move || {
        let mut text = String::new();
        errors.read_to_string(&mut text).unwrap();
        text
    });
    server.terminate();
    assert!(server.end().status.success());
    let text = reader.join().unwrap();
    let written = text
        .lines()
        .filter(|l| l.starts_with("connection from "))
        .count();
    let left_out = text
        .lines()
        .filter_map(|line| line.split_once(" lines left out"));
    let counted: usize = left_out.map(|(n, _)| n.parse::<usize>().unwrap()).sum();
    assert!(
        written > 0 && counted > 0,
        "{written} lines, {counted} left out"
    );
    assert_eq!(written + counted, failures);
}

/// One limit applies to the whole handshake: a client that sends a byte now and then is cut off
/// like a silent one.
// Proves: N5-X-tls.
#[test]
fn a_handshake_that_trickles_is_cut_off() {
    let cert = directory("a_handshake_that_trickles_is_cut_off").join("cert.pem");
    let args = ["--handshake", "3", "--save-cert", cert.to_str().unwrap()];
    let (_server, address) = Program::serve(TLS, &args);
    let silent = connect(address);
    // The head of a handshake record that announces 16 KiB.
    let hello = [22, 3, 1, 0x40, 0, 1, 0, 0x3f, 0xfc, 3, 3];
    trickle(&connect(address), hello.into_iter().chain(iter::repeat(0)));
    await_close(&silent);
    // The time ends with the handshake.
    let mut command = Command::new(TLS);
    command.args(["--connect", &address.to_string(), "--ca"]);
    let mut client = Program::start(command.arg(&cert));
    let mut input = client.input();
    for line in ["at first", "after the limit"] {
        writeln!(input, "{line}").unwrap();
        assert_eq!(client.line(), line);
        thread::sleep(Duration::from_secs(4));
    }
}

/// A silent server does not block the client indefinitely, nor does one that sends a byte now and
/// then.
// Proves: N5-X-tls.
#[test]
fn a_client_waits_so_long_for_the_handshake() {
    let (_server, _, cert) = serve("a_client_waits_so_long_for_the_handshake");
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let ended = client(address, &cert, &["--handshake", "0.3"], "");
    let limit = format!("no TLS handshake with {address} in 300ms");
    failed(&ended, &[&limit]);
    let slow = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = slow.local_addr().unwrap();
    // The head of a record that announces 16 KiB.
    let hello = [22, 3, 3, 0x40, 0].into_iter().chain(iter::repeat(0));
    let sends = thread::spawn(move || trickle(&slow.accept().unwrap().0, hello));
    let ended = client(address, &cert, &["--handshake", "0.3"], "");
    let limit = format!("no TLS handshake with {address} in 300ms");
    failed(&ended, &[&limit]);
    sends.join().unwrap();
}

/// A client without a handshake does not delay the shutdown.
// Proves: N5-X-tls.
#[test]
fn the_end_waits_for_no_handshake() {
    let args = ["--handshake", "600", "--grace", "600"];
    let (server, address) = Program::serve(TLS, &args);
    let _silent = connect(address);
    // Connections are accepted in order: the first is accepted when the second is served.
    speak_plainly(address);
    server.terminate();
    assert!(server.end().status.success());
}

// Proves: N5-X-tls.
#[test]
fn what_is_cut_off_is_no_end() {
    let (server, address, cert) = serve("what_is_cut_off_is_no_end");
    let mut command = Command::new(TLS);
    command.args(["--connect", &address.to_string(), "--ca"]);
    let mut client = Program::start(command.arg(&cert).stderr(Stdio::piped()));
    let mut input = client.input();
    writeln!(input, "all of it").unwrap();
    assert_eq!(client.line(), "all of it");
    // The system closes its connections, without a close notification of TLS.
    drop(server);
    failed(
        &client.end(),
        &["tls: cannot receive: ", "without sending TLS close_notify"],
    );
    // Nor does the server take a client that is cut off for one that has ended.
    let cert = directory("what_is_cut_off_is_no_end_of_a_client").join("cert.pem");
    let mut command = listening(TLS);
    let command = command.arg("--save-cert").arg(&cert).stderr(Stdio::piped());
    let (server, address) = Program::serve_by(command);
    let mut command = Command::new(TLS);
    command.args(["--connect", &address.to_string(), "--ca"]);
    let mut client = Program::start(command.arg(&cert));
    let mut input = client.input();
    writeln!(input, "all of it").unwrap();
    assert_eq!(client.line(), "all of it");
    // It is killed while its input is open.
    drop(client);
    server.terminate();
    let said = server.end().errors;
    assert!(said.contains("without sending TLS close_notify"), "{said}");
}

/// More plaintext than the client keeps arrives at once.
// Proves: N5-X-tls.
#[test]
fn records_that_arrive_together_are_received() {
    for (case, records) in [&[16_384, 100, 16_384][..], &[6_000; 6]].iter().enumerate() {
        let (address, ca) = sends(&format!("records_together/{case}"), records, b"");
        let ended = client(address, &ca, &[], "");
        assert!(ended.status.success(), "{}", ended.errors);
        assert_eq!(ended.output.len(), records.iter().sum::<usize>());
    }
}

// Proves: N5-X-tls.
#[test]
fn bytes_behind_the_close_notification_are_ignored() {
    let (address, ca) = sends("bytes_behind_the_close", &[5], &[0; 8_192]);
    let ended = client(address, &ca, &[], "");
    assert!(ended.status.success(), "{}", ended.errors);
    assert_eq!(ended.output, "xxxxx");
}

/// The client does not wait for answers if its input is not readable.
// Proves: N5-X-tls.
#[test]
fn an_unreadable_input_ends_the_client() {
    let (_server, address, cert) = serve("an_unreadable_input_ends_the_client");
    let mut command = Command::new("sh");
    let script = "exec \"$0\" \"$@\" < /";
    command.args(["-c", script, TLS, "--connect", &address.to_string(), "--ca"]);
    command.arg(&cert).stderr(Stdio::piped());
    let ended = Program::start(&mut command).end();
    failed(&ended, &["tls: cannot read the input: Is a directory"]);
}
