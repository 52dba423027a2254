//! TLS by OpenSSL, with a full chain that is verified, and libcurl over it.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex};

use curl::easy::Easy;
use openssl::pkey::PKey;
use openssl::ssl::{SslAcceptor, SslConnector, SslMethod};
use openssl::x509::X509;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair,
};

use crate::fixture::{
    MANY_REQUESTS, REQUESTS, answer_late, at_once, check_each_count, serve,
};

/// The name in the certificate.
const HOST: &str = "localhost";

/// A chain of three certificates.
struct Chain {
    root: String,
    /// The root's file.
    file: PathBuf,
    middle: String,
    leaf: String,
    key: String,
}

static CHAIN: LazyLock<Chain> = LazyLock::new(Chain::new);

impl Chain {
    fn new() -> Chain {
        let key = KeyPair::generate().unwrap();
        let root = authority("the root");
        let root_text = root.self_signed(&key).unwrap().pem();
        let root = Issuer::new(root, key);
        let key = KeyPair::generate().unwrap();
        let middle = authority("the one between");
        let middle_text = middle.signed_by(&key, &root).unwrap().pem();
        let middle = Issuer::new(middle, key);
        let key = KeyPair::generate().unwrap();
        let leaf = CertificateParams::new([HOST.to_owned()]).unwrap();
        let leaf = leaf.signed_by(&key, &middle).unwrap().pem();
        let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("root.pem");
        fs::write(&file, &root_text).unwrap();
        Chain {
            root: root_text,
            file,
            middle: middle_text,
            leaf,
            key: key.serialize_pem(),
        }
    }
}

fn authority(name: &str) -> CertificateParams {
    let mut params = CertificateParams::new([]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params
}

/// Starts a server that answers requests for HTTP over TLS, late.
fn https() -> SocketAddr {
    let mut acceptor = SslAcceptor::mozilla_intermediate_v5(SslMethod::tls()).unwrap();
    let leaf = X509::from_pem(CHAIN.leaf.as_bytes()).unwrap();
    acceptor.set_certificate(&leaf).unwrap();
    let middle = X509::from_pem(CHAIN.middle.as_bytes()).unwrap();
    acceptor.add_extra_chain_cert(middle).unwrap();
    let key = PKey::private_key_from_pem(CHAIN.key.as_bytes()).unwrap();
    acceptor.set_private_key(&key).unwrap();
    let acceptor: &'static SslAcceptor = Box::leak(Box::new(acceptor.build()));
    serve(move |stream| {
        // One handshake at a time: many threads that compute would be what delays the worker.
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap();
        let accepted = acceptor.accept(stream);
        drop(turn);
        if let Ok(mut stream) = accepted {
            answer_late(&mut stream);
            let _ = stream.shutdown();
        }
    })
}

/// Sends a request over an encrypted stream, and checks the answer.
fn ask(mut stream: impl Read + Write, number: u32) {
    let request =
        format!("GET /{number} HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with(&format!("\r\n\r\n/{number}")), "{answer}");
}

#[test]
fn openssl_parks() {
    let address = https();
    let mut connector = SslConnector::builder(SslMethod::tls()).unwrap();
    connector.set_ca_file(&CHAIN.file).unwrap();
    let connector = Arc::new(connector.build());
    check_each_count("openssl", |number| {
        let stream = TcpStream::connect(address).unwrap();
        ask(connector.connect(HOST, stream).unwrap(), number);
    });
}

#[test]
fn native_tls_parks() {
    let address = https();
    let root = native_tls::Certificate::from_pem(CHAIN.root.as_bytes()).unwrap();
    let connector = native_tls::TlsConnector::builder()
        .disable_built_in_roots(true)
        .add_root_certificate(root)
        .build()
        .unwrap();
    check_each_count("native-tls", |number| {
        let stream = TcpStream::connect(address).unwrap();
        ask(connector.connect(HOST, stream).unwrap(), number);
    });
}

#[test]
fn libcurl_parks() {
    let plain = serve(answer_late);
    check_each_count("curl", |number| {
        fetch(&format!("http://{plain}"), number);
    });
}

#[test]
fn libcurl_over_tls_parks() {
    let port = https().port();
    let request = |number| fetch(&format!("https://{HOST}:{port}"), number);
    // Each transfer computes for 5 ms, since it makes a context of OpenSSL of its own. So it delays sleeps,
    // and only the time is checked.
    at_once("curl over TLS", REQUESTS, request).check_time();
    at_once("curl over TLS", MANY_REQUESTS, request).check_time();
}

fn fetch(server: &str, number: u32) {
    let mut easy = Easy::new();
    easy.url(&format!("{server}/{number}")).unwrap();
    easy.cainfo(&CHAIN.file).unwrap();
    let mut body = Vec::new();
    let mut transfer = easy.transfer();
    transfer
        .write_function(|part| {
            body.extend_from_slice(part);
            Ok(part.len())
        })
        .unwrap();
    transfer.perform().unwrap();
    drop(transfer);
    assert_eq!(body, format!("/{number}").as_bytes());
}

/// A certificate that is not known is refused, inside as outside.
#[test]
fn an_unknown_chain_is_refused() {
    let address = https();
    let connector = SslConnector::builder(SslMethod::tls()).unwrap().build();
    at_once("openssl refuses", 1, |_| {
        let stream = TcpStream::connect(address).unwrap();
        let error = connector.connect(HOST, stream).unwrap_err();
        assert!(
            error.to_string().contains("certificate verify failed"),
            "{error}"
        );
    });
}
