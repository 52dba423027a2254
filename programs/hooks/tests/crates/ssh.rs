//! libssh2, against OpenSSH.

use std::env::temp_dir;
use std::fs;
use std::io::Read as _;
use std::net::TcpStream;
use std::process::{self, Stdio};

use ssh2::Session;

use crate::fixture::{REQUESTS, at_once, await_port, free_port};
use crate::peers::{Program, peer, run, unmeasured};

#[test]
fn ssh2_parks() {
    if !rustix::process::geteuid().is_root() {
        unmeasured("OpenSSH is started as the superuser alone");
        return;
    }
    let (Some(mut keygen), Some(mut server)) = (
        peer("ssh-keygen", "openssh-client"),
        peer("sshd", "openssh-server"),
    ) else {
        return;
    };
    let directory = temp_dir().join(format!("pirn-ssh-{}", process::id()));
    fs::create_dir_all(&directory).unwrap();
    // The server wants it to exist.
    fs::create_dir_all("/run/sshd").unwrap();
    let key = directory.join("key");
    run(
        keygen
            .args(["-q", "-t", "ecdsa", "-m", "PEM", "-N", "", "-f"])
            .arg(&key),
        "",
    );
    let public = directory.join("key.pub");
    let port = free_port();
    server.args(["-D", "-e", "-f", "/dev/null", "-p", &port.to_string()]);
    server.arg("-h").arg(&key);
    let options = [
        format!("AuthorizedKeysFile={}", public.display()),
        String::from("ListenAddress=127.0.0.1"),
        String::from("StrictModes=no"),
        String::from("PidFile=none"),
        String::from("MaxStartups=1000"),
    ];
    for option in options {
        server.args(["-o", &option]);
    }
    let _server = Program::start(server.stderr(Stdio::null()));
    await_port(port);
    at_once("ssh2", REQUESTS / 5, |number| {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let mut session = Session::new().unwrap();
        session.set_tcp_stream(stream);
        session.handshake().unwrap();
        session
            .userauth_pubkey_file("root", Some(&public), &key, None)
            .unwrap();
        let mut channel = session.channel_session().unwrap();
        channel.exec(&format!("sleep 0.2; echo {number}")).unwrap();
        let mut said = String::new();
        channel.read_to_string(&mut said).unwrap();
        assert_eq!(said.trim(), number.to_string());
        channel.wait_close().unwrap();
    })
    .check_within(REQUESTS / 5);
    fs::remove_dir_all(&directory).unwrap();
}
