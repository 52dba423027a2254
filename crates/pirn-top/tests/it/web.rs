//! `--web`, `--record`, `--replay`: the addresses of the page, the token, and recordings.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::mem::ManuallyDrop;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use pirn_top::wire::{Snapshot, read};
use rustix::process::{Pid, Signal, kill_process};

use crate::browser::Browser;
use crate::sandbox::{Directory, LONG, PROGRAM, Shop, crowd, eventually, quarrel, run};
use crate::unmeasured::unmeasured;

/// A `pirn-top` that serves a page. Killed on drop.
pub(crate) struct Served {
    program: Child,
    stdout: BufReader<ChildStdout>,
    address: SocketAddr,
    /// `token=…`
    token: String,
}

impl Served {
    pub(crate) fn start(args: &[&str]) -> Served {
        let mut command = Command::new(PROGRAM);
        command.args(["--web", "127.0.0.1:0"]).args(args);
        let mut program = command.stdout(Stdio::piped()).spawn().expect("it runs");
        let mut stdout = BufReader::new(program.stdout.take().expect("a pipe"));
        let mut url = String::new();
        stdout.read_line(&mut url).expect("a line");
        let url = url.trim_end().strip_prefix("http://").expect("an address");
        let (address, token) = url.split_once("/?").expect("a token");
        Served {
            program,
            stdout,
            address: address.parse().expect("an address"),
            token: token.to_owned(),
        }
    }

    /// Returns the URL of the page.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/?{}", self.address, self.token)
    }

    /// Sends a request; returns the status and the body.
    fn ask(&self, method: &str, target: &str) -> (u16, String) {
        let (head, body) = self.whole(method, target);
        let status = head.split(' ').nth(1).expect("a status");
        (status.parse().expect("a number"), body)
    }

    fn whole(&self, method: &str, target: &str) -> (String, String) {
        let mut socket = TcpStream::connect(self.address).expect("it listens");
        socket.set_read_timeout(Some(LONG)).expect("a limit");
        let host = self.address;
        write!(
            socket,
            "{method} {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        )
        .expect("it reads");
        let mut answer = Vec::new();
        socket.read_to_end(&mut answer).expect("an answer");
        let answer = String::from_utf8(answer).expect("text");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        let chunked = head.to_lowercase().contains("transfer-encoding: chunked");
        let body = if chunked {
            joined(body)
        } else {
            body.to_owned()
        };
        (head.to_owned(), body)
    }

    /// Returns the body at `target`, requested with the token.
    #[track_caller]
    fn get(&self, target: &str) -> String {
        let mark = if target.contains('?') { '&' } else { '?' };
        let (status, body) = self.ask("GET", &format!("{target}{mark}{}", self.token));
        assert_eq!(status, 200, "{target}: {body}");
        body
    }

    /// Sends SIGINT; returns the rest of its output.
    fn end(mut self) -> String {
        let id = Pid::from_child(&self.program);
        kill_process(id, Signal::INT).expect("it runs");
        let mut said = String::new();
        self.stdout.read_to_string(&mut said).expect("text");
        assert!(self.program.wait().expect("a status").success(), "{said}");
        said
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// Joins the chunks of a body.
fn joined(mut body: &str) -> String {
    let mut whole = String::new();
    loop {
        let (length, rest) = body.split_once("\r\n").expect("a length");
        let length = usize::from_str_radix(length, 16).expect("a number");
        if length == 0 {
            return whole;
        }
        whole.push_str(&rest[..length]);
        body = &rest[length + 2..];
    }
}

fn snapshot(text: &str) -> Snapshot {
    read(&mut text.as_bytes()).expect("an answer")
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().expect("text")
}

/// A page and its data: the fibers of the runtime, and one with its frames.
// Proves: P15-web.
#[test]
fn the_page_gets_what_the_runtime_answers() {
    let directory = Directory::new();
    let socket = directory.at("socket");
    let runtime = Shop::open(2, &socket);
    crowd(&runtime);
    let served = Served::start(&[text(&socket), "--interval", "0.05"]);
    let page = served.get("/");
    assert!(page.starts_with("<!doctype html>"), "{page}");
    let about = served.get("/about");
    assert!(about.contains(r#""interval_ms":50"#), "{about}");
    let answer = snapshot(&served.get("/snapshot"));
    assert_eq!((answer.counted(), answer.fibers.len()), (1_000, 1_000));
    let fiber = answer.fibers.iter().find(|fiber| fiber.object.is_some());
    let id = &fiber.expect("one that waits").id;
    let one = snapshot(&served.get(&format!("/fiber?id={id}")));
    assert!(!one.fibers[0].frames.is_empty());
    let (status, said) = served.ask("GET", &format!("/fiber?id=7&{}", served.token));
    assert_eq!(status, 502, "{said}");
    assert!(said.starts_with("the runtime says: "), "{said}");
    assert_eq!(served.end(), "");
}

/// Without the token there is nothing, not even the page; and nothing can be changed.
// Proves: P15-web.
#[test]
fn only_the_token_opens_the_page() {
    let directory = Directory::new();
    let socket = directory.at("socket");
    let _runtime = Shop::open(1, &socket);
    let served = Served::start(&[text(&socket)]);
    let wrong = format!("token={}", "0".repeat(32));
    for query in ["", "?token=", &format!("?{wrong}")] {
        for path in ["/", "/about", "/snapshot", "/fiber"] {
            let (status, said) = served.ask("GET", &format!("{path}{query}"));
            assert_eq!(status, 403, "{path}{query}: {said}");
            assert!(said.contains("the token is missing or wrong"), "{said}");
        }
    }
    let own = &served.token;
    for (method, target, expected) in [
        ("POST", format!("/snapshot?{own}"), 405),
        ("DELETE", format!("/?{own}"), 405),
        ("GET", format!("/elsewhere?{own}"), 404),
        ("GET", format!("/fiber?id=x&{own}"), 400),
    ] {
        let (status, said) = served.ask(method, &target);
        assert_eq!(status, expected, "{method} {target}: {said}");
    }
    let (head, _) = served.whole("GET", &format!("/?{own}"));
    let head = head.to_lowercase();
    assert!(
        head.contains("content-security-policy: default-src 'none'"),
        "{head}"
    );
    assert!(head.contains("cache-control: no-store"), "{head}");
}

/// Heads alone, the methods of a refusal, and targets with the name of the server.
// Proves: P15-web.
#[test]
fn the_rules_of_http_are_kept() {
    let directory = Directory::new();
    let socket = directory.at("socket");
    let _runtime = Shop::open(1, &socket);
    let served = Served::start(&[text(&socket)]);
    let (own, host) = (&served.token, served.address);
    let about = served.get("/about");
    let (head, body) = served.whole("HEAD", &format!("/about?{own}"));
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    let length = format!("\r\nContent-Length: {}\r\n", about.len());
    assert!(head.contains(&length) && body.is_empty(), "{head}{body}");
    let (status, body) = served.ask("HEAD", "/about");
    assert_eq!((status, &*body), (403, ""));
    let (head, _) = served.whole("POST", &format!("/about?{own}"));
    assert!(head.contains("\r\nAllow: GET, HEAD\r\n"), "{head}");
    for scheme in ["http", "HTTP"] {
        let whole = served.get(&format!("{scheme}://{host}/about"));
        assert_eq!(whole, about);
    }
    assert_eq!(served.get(&format!("http://{host}")), served.get("/"));
}

/// Clients that send nothing, too much, or nonsense delay no other, and do no harm.
// Proves: P15-web.
#[test]
fn strange_clients_delay_no_other() {
    let directory = Directory::new();
    let socket = directory.at("socket");
    let runtime = Shop::open(1, &socket);
    crowd(&runtime);
    let served = Served::start(&[text(&socket)]);
    let connect = || TcpStream::connect(served.address).expect("it listens");
    let silent: Vec<_> = (0..20).map(|_| connect()).collect();
    let token = &served.token;
    for strange in [
        "GET\r\n\r\n".to_owned(),
        "\r\n\r\n".to_owned(),
        format!("GET /?{token} HTTP/2.0\r\n\r\n"),
        format!(
            "GET /?{token} HTTP/1.1\r\nContent-Length: {}\r\n\r\n",
            u64::MAX
        ),
        format!("POST /?{token} HTTP/1.1\r\nContent-Length: 5\r\n\r\nabc"),
        "\0".repeat(17 << 10),
    ] {
        let mut client = connect();
        // It may have closed the connection already.
        let _ = client.write_all(strange.as_bytes());
        let _ = client.shutdown(std::net::Shutdown::Write);
        let _ = client.read_to_end(&mut Vec::new());
        assert_eq!(snapshot(&served.get("/snapshot")).fibers.len(), 1_000);
    }
    // More than it serves at a time: later it serves again.
    let many: Vec<_> = (0..200).map(|_| connect()).collect();
    drop((silent, many));
    eventually("it serves again", || {
        let mut client = connect();
        let _ = write!(client, "GET /about?{token} HTTP/1.1\r\n\r\n");
        let mut answer = String::new();
        client.read_to_string(&mut answer).is_ok() && answer.contains("200 OK")
    });
    assert_eq!(served.end(), "");
}

/// A page stays when its program has ended, and says so.
#[test]
fn the_end_of_the_program_is_reported() {
    let directory = Directory::new();
    let socket = directory.at("socket");
    let runtime = Shop::open(1, &socket);
    let served = Served::start(&[text(&socket), "--interval", "0.05"]);
    served.get("/snapshot");
    drop(runtime);
    eventually("the end is reported", || {
        let (status, said) = served.ask("GET", &format!("/snapshot?{}", served.token));
        status == 502 && said.contains("there is no socket")
    });
    served.get("/");
}

/// What is recorded can be shown without the program; a truncated end is left out.
// Proves: P15-record.
#[test]
fn a_recording_is_shown_again() {
    let directory = Directory::new();
    let (socket, file) = (directory.at("socket"), directory.at("recording"));
    let runtime = Shop::open(2, &socket);
    crowd(&runtime);
    let args = ["--interval", "0.05", "--record", text(&file)];
    let served = Served::start(&[&[text(&socket)][..], &args].concat());
    let ends = || {
        let text = fs::read_to_string(&file).unwrap_or_default();
        text.matches(r#"{"kind":"end""#).count()
    };
    eventually("three answers are recorded", || ends() >= 3);
    let said = served.end();
    let recorded = ends();
    assert_eq!(said, format!("{recorded} snapshots recorded\n"));
    // It was killed while it wrote one more.
    let whole = fs::read_to_string(&file).expect("text");
    let cut = &whole[..whole.len() / recorded / 2];
    fs::write(&file, format!("{whole}{cut}")).expect("space");
    let served = Served::start(&["--replay", text(&file)]);
    let about = served.get("/about");
    let times = about.split_once("[").expect("times").1;
    assert_eq!(times.split(',').count() - 1, recorded, "{about}");
    for number in 0..recorded {
        let answer = snapshot(&served.get(&format!("/snapshot?n={number}")));
        assert_eq!((answer.counted(), answer.fibers.len()), (1_000, 1_000));
    }
    let beyond = format!("/snapshot?n={recorded}");
    let last = recorded - 1;
    for (target, expected) in [
        (
            &*beyond,
            format!("it has the snapshots 0 to {last}, not {recorded}"),
        ),
        ("/fiber?id=1", "it has no frames".to_owned()),
    ] {
        let (status, said) = served.ask("GET", &format!("{target}&{}", served.token));
        assert_eq!(status, 404, "{said}");
        assert!(said.ends_with(&expected), "{said}");
    }
    assert_eq!(served.end(), "");
}

/// A recording without a page ends with the process.
// Proves: P15-record.
#[test]
fn a_recording_ends_with_its_program() {
    let directory = Directory::new();
    let (socket, file) = (directory.at("socket"), directory.at("recording"));
    let runtime = Shop::open(1, &socket);
    let mut command = Command::new(PROGRAM);
    command.args([text(&socket), "--interval", "0.05", "--record", text(&file)]);
    let program = command.stdout(Stdio::piped()).spawn().expect("it runs");
    eventually("it records", || {
        fs::read_to_string(&file).is_ok_and(|text| text.contains(r#"{"kind":"end""#))
    });
    drop(runtime);
    let output = program.wait_with_output().expect("an end");
    let said = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{said}");
    assert!(said.ends_with(" snapshots recorded\n"), "{said}");
}

/// Wrong arguments and files are named.
// Proves: P15-record.
#[test]
fn what_cannot_be_served_or_recorded_is_named() {
    let directory = Directory::new();
    let (socket, file) = (directory.at("socket"), directory.at("recording"));
    let refused = |args: &[&str], code: i32, words: &str| {
        let output = run(&socket, args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        assert!(said.contains(words), "{args:?}: {said}");
    };
    refused(&["--web", "0.0.0.0:0"], 2, "not a loopback address");
    refused(&["--web", "127.0.0.1"], 2, "not an IP address and a port");
    refused(&["--web", "127.0.0.1:0"], 1, "there is no socket");
    refused(&["--replay", text(&file)], 2, "--replay");
    let _runtime = Shop::open(1, &socket);
    fs::write(&file, "mine").expect("space");
    refused(&["--record", text(&file)], 1, "recording: File exists");
    refused(
        &["--record", "/dev/null/x"],
        1,
        "/dev/null/x: Not a directory",
    );
    assert_eq!(fs::read(&file).expect("it stays"), b"mine");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = listener.local_addr().expect("an address").to_string();
    refused(
        &["--web", &taken],
        1,
        &format!("cannot listen on {taken}: "),
    );
    drop(listener);
    let replayed = |contents: &str, words: &str| {
        fs::write(&file, contents).expect("space");
        let mut command = Command::new(PROGRAM);
        command.args(["--web", "127.0.0.1:0", "--replay", text(&file)]);
        let output = command.output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(words), "{contents:.80}: {said}");
    };
    replayed("", "it has no complete snapshot");
    replayed("mine\n", "recording: line 1: ");
    // It is not read to its end.
    replayed(
        &"x".repeat(17 << 20),
        "recording: line 1: longer than 16777216 bytes",
    );
    replayed(
        "{\"kind\":\"end\"}\n",
        "line 1: a snapshot without a `recorded` line before it",
    );
    replayed(
        "{\"kind\":\"recorded\",\"version\":2,\"at_ms\":1}\n",
        "line 1: its version is not 1",
    );
    replayed(
        "{\"kind\":\"recorded\",\"version\":1,\"at_ms\":1}\n{\"kind\":\"runtime\"",
        "it has no complete snapshot",
    );
}

/// A browser shows 100,000 fibers, of which the page holds only the visible ones, and marks the two
/// that wait for each other.
// Proves: P15-web.
#[test]
#[ignore = "alone: 100,000 fibers and a browser"]
fn alone_a_browser_shows_a_hundred_thousand_fibers() {
    const FIBERS: usize = 100_000;
    if !Browser::is_installed() {
        return unmeasured("no chromium on this machine");
    }
    let directory = Directory::new();
    let socket = directory.at("socket");
    // Two of its fibers will never end: a shutdown would wait for them.
    let runtime = ManuallyDrop::new(Shop::open(2, &socket));
    let (sender, receiver) = pirn::channel::bounded::<u8>(0);
    runtime.enter(|| {
        for _ in 0..FIBERS {
            let receiver = receiver.clone();
            drop(pirn::spawn(move || receiver.recv()));
        }
    });
    quarrel(&runtime);
    eventually("all wait", || {
        let tally = run(&socket, &["--once", "--most", "0"]).stdout;
        let tally = String::from_utf8(tally).expect("text");
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let lines: Vec<_> = tally.lines().map(words).collect();
        ["parked Recv 100000", "parked Mutex 2"]
            .iter()
            .all(|it| lines.iter().any(|l| l == it))
    });
    let served = Served::start(&[text(&socket), "--most", "1000000"]);
    let mut browser = Browser::open(&directory, &served.url());
    browser.until("$('#shown').textContent === '100,002 of 100,002'");
    let page = browser.eval("document.documentElement.outerHTML");
    let page = page.as_str().expect("text");
    let cycle = page.split("<li>Cycle: ").nth(1).expect("a cycle");
    let cycle = cycle.split("</li>").next().expect("its end");
    for words in ["'clerk' waits for mutex", "'manager' waits for mutex"] {
        assert_eq!(cycle.matches(words).count(), 1, "{cycle}");
    }
    let rows = page.matches(r#"class="row link""#).count();
    assert!((20..100).contains(&rows), "{rows} rows");
    assert!(page.matches(r#"class="lane""#).count() >= 2);
    assert!(page.contains("Deepest stack: "), "{page}");
    drop(sender);
}
