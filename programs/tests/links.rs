//! The checker of links: what it finds, how many requests it makes at once, and how fast.
#![allow(clippy::disallowed_methods, reason = "the tests are plain threads")]

mod peers;

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use peers::{Ended, Program, directory, peer};

/// A server with pages that a function writes; it counts.
struct Site {
    address: SocketAddr,
    /// The requests, and when each began.
    requests: Arc<Mutex<Vec<(String, Instant)>>>,
    /// The most requests at once.
    peak: Arc<AtomicUsize>,
}

impl Site {
    /// Serves what `answer` returns for a method and a path: a status and a body.
    fn serve(answer: fn(&str, &str) -> (&'static str, String)) -> Site {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let site = Site {
            address: listener.local_addr().unwrap(),
            requests: Arc::default(),
            peak: Arc::default(),
        };
        let (requests, peak) = (Arc::clone(&site.requests), Arc::clone(&site.peak));
        let running = Arc::new(AtomicUsize::new(0));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (requests, peak) = (Arc::clone(&requests), Arc::clone(&peak));
                let running = Arc::clone(&running);
                thread::spawn(move || {
                    let now = running.fetch_add(1, Ordering::SeqCst) + 1;
                    peak.fetch_max(now, Ordering::SeqCst);
                    let begun = Instant::now();
                    let path = serve(&stream, answer);
                    requests.lock().unwrap().push((path, begun));
                    running.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        site
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn requests(&self) -> Vec<(String, Instant)> {
        let mut requests = self.requests.lock().unwrap().clone();
        requests.sort_by_key(|(_, begun)| *begun);
        requests
    }
}

/// Answers one request; returns its method and path.
fn serve(stream: &TcpStream, answer: fn(&str, &str) -> (&'static str, String)) -> String {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let first = lines.next().unwrap_or_default();
    let head: Vec<&str> = first.split(' ').collect();
    let [method, path, _] = head[..] else {
        return first;
    };
    lines.find(String::is_empty);
    let (status, body) = answer(method, path);
    let body = if method == "HEAD" {
        String::new()
    } else {
        body
    };
    // The client may have gone.
    let _ = write!(
        &mut &*stream,
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\n\r\n{body}"
    );
    format!("{method} {path}")
}

fn links(args: &[&str]) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_links"));
    Program::start(command.args(args).stderr(Stdio::piped())).end()
}

/// A site of files, served by Python: all broken links are found, and nothing else.
// Proves: N5-X-links.
#[test]
fn broken_links_of_a_site_are_found() {
    let Some(mut python) = peer("python3", "python3") else {
        return;
    };
    let directory = directory("links");
    fs::create_dir(directory.join("sub")).unwrap();
    let write = |name: &str, html: &str| fs::write(directory.join(name), html).unwrap();
    write(
        "index.html",
        r##"<a href="one.html#here">1</a> <a href=sub/>2</a> <A HREF='missing.html'>3</A>
            <img src="picture.png"> <img src="none.png"> <a href="mailto:x@example.org">4</a>
            <!-- <a href="commented.html"> --> <script>"<a href='scripted.html'>"</script>
            <a href="#"></a> <a href="#top"></a> <a href="one.html#nowhere">5</a>
            <a href="http://[">6</a> <a href="gr%C3%B6%C3%9Fe.html#gr%C3%B6%C3%9Fe">7</a>
            <noscript><a href="hidden.html">8</a></noscript> <a href="one.html#:~:text=x">9</a>
            <link rel="preconnect" href="//127.0.0.1:1/">"##,
    );
    let one = r#"<h1 id="here">x</h1> <a href="picture.png?query&amp;more">back</a>"#;
    write("one.html", one);
    write("größe.html", r#"<p id="größe">"#);
    write("picture.png", "no HTML: <a href='in-a-picture.html'>");
    let sub = r#"<a href="one.html">x</a> <base href="/"><a href="lost.html">y</a>"#;
    write("sub/index.html", sub);
    python.args(["-u", "-m", "http.server"]);
    python.args(["--bind", "127.0.0.1", "--directory"]);
    python.arg(&directory).arg("0").stderr(Stdio::null());
    let mut server = Program::start(&mut python);
    let line = server.line();
    let port = line.split(' ').nth(5).expect("a port").to_owned();
    let url = format!("http://{}:{port}/", Ipv4Addr::LOCALHOST);
    let ended = links(&[&url]);
    let expected = format!(
        "{url}: \"http://[\": invalid IPv6 address\n\
         {url}: {url}hidden.html: not found (404)\n\
         {url}: {url}missing.html: not found (404)\n\
         {url}: {url}none.png: not found (404)\n\
         {url}: {url}one.html#nowhere: the page has no place #nowhere\n\
         {url}sub/: {url}lost.html: not found (404)\n\
         10 URLs checked, 4 of them pages of the site, 6 links broken\n"
    );
    assert_eq!(ended.output, expected);
    assert_eq!(ended.errors, "links: 6 links are broken\n");
    assert_eq!(ended.status.code(), Some(1));
    let good = links(&[&format!("{url}one.html")]);
    assert!(good.status.success(), "{good:?}");
}

/// Each URL is requested once, and at most four requests run at once.
// Proves: N5-X-links.
#[test]
fn requests_are_bounded() {
    // Each page links to all.
    fn answer(_: &str, _: &str) -> (&'static str, String) {
        thread::sleep(Duration::from_millis(20));
        let links = (0..100).map(|page| format!("<a href='/{page}'>x</a>"));
        ("200 OK", links.collect())
    }
    let site = Site::serve(answer);
    let ended = links(&["--at-once", "4", "--rate", "10000", &site.url("/0")]);
    assert!(ended.status.success(), "{ended:?}");
    let said = "100 URLs checked, 100 of them pages of the site, 0 links broken\n";
    assert_eq!(ended.output, said);
    let mut paths: Vec<_> = site.requests().into_iter().map(|(path, _)| path).collect();
    paths.sort();
    paths.dedup();
    assert_eq!(paths.len(), 100);
    assert_eq!(site.requests().len(), 100, "a page was requested twice");
    let peak = site.peak.load(Ordering::SeqCst);
    assert!((2..=4).contains(&peak), "{peak} at once");
}

/// The beginnings of requests are as far apart as the rate says, those of redirections too.
// Proves: N5-X-links.
#[test]
fn requests_have_a_rate() {
    // Each page has a link to all; every second one redirects to the other kind.
    fn answer(_: &str, path: &str) -> (&'static str, String) {
        if path.ends_with('1') {
            return ("302 Found\r\nLocation: /0", String::new());
        }
        let links =
            (0..40).map(|page| format!("<a href='/{}{}'>x</a>", page / 2, page % 2));
        ("200 OK", links.collect())
    }
    let site = Site::serve(answer);
    let start = Instant::now();
    let ended = links(&["--rate", "40", &site.url("/00")]);
    let took = start.elapsed();
    assert!(ended.status.success(), "{ended:?}");
    // The pages, and where the redirections lead.
    assert_eq!(site.requests().len(), 41);
    // 40 gaps of 25 ms.
    assert!(took >= Duration::from_secs(1), "{took:?}");
}

/// Other servers may refuse HEAD, redirect in a circle, answer slowly or not at all; a page of the
/// site may redirect to another one. Pages there are not read.
// Proves: N5-X-links.
#[test]
fn pages_of_other_sites_are_not_read() {
    fn other(method: &str, path: &str) -> (&'static str, String) {
        match (method, path) {
            ("HEAD", "/no-head") => ("405 Method Not Allowed", String::new()),
            (_, "/gone") => ("410 Gone", String::new()),
            (_, "/circle") => ("302 Found\r\nLocation: /circle", String::new()),
            (_, "/silent") => {
                thread::sleep(Duration::from_secs(20));
                ("200 OK", String::new())
            }
            _ => ("200 OK", "<a href='/never'>x</a>".to_owned()),
        }
    }
    static OTHER: Mutex<Option<SocketAddr>> = Mutex::new(None);
    fn answer(_: &str, path: &str) -> (&'static str, String) {
        let other = OTHER.lock().unwrap().expect("a site");
        let moved = "301 Moved Permanently\r\nLocation: ";
        match path {
            "/moved" => return (leaked(format!("{moved}/moved-here")), String::new()),
            "/away" => {
                return (
                    leaked(format!("{moved}http://{other}/there")),
                    String::new(),
                );
            }
            _ => {}
        }
        let paths = ["", "no-head", "gone", "circle", "silent"];
        let links = paths.map(|path| format!("<a href='http://{other}/{path}'>x</a>"));
        let own = "<a href='/moved'>x</a><a href='/away'>x</a>";
        ("200 OK", links.concat() + own)
    }
    let outside = Site::serve(other);
    *OTHER.lock().unwrap() = Some(outside.address);
    let site = Site::serve(answer);
    let ended = links(&["--limit", "4", "--rate", "1000", &site.url("/")]);
    let broken: Vec<_> = ended.output.lines().collect();
    let of = |path: &str| {
        let link = format!(": {}: ", outside.url(path));
        let mut lines = broken.iter().filter(|line| line.contains(&link));
        lines
            .next()
            .map(|line| line.split(&link).nth(1).unwrap_or_default())
    };
    assert_eq!(of("/"), None);
    assert_eq!(of("/no-head"), None);
    assert_eq!(of("/gone"), Some("the server says 410 Gone"));
    assert_eq!(of("/circle"), Some("more than 10 redirections"));
    assert_eq!(of("/silent"), Some("timeout: no whole answer in 4s"));
    let requests = outside.requests();
    let count = |name: &str| {
        requests
            .iter()
            .filter(|(path, _)| path.contains(name))
            .count()
    };
    assert_eq!((count("never"), count("circle"), count("there")), (0, 1, 1));
    // The pages of the site are `/` and `/moved-here`, and each links to three.
    assert_eq!(broken.len(), 7, "{ended:?}");
}

/// A first page that redirects to another site makes that one the site.
// Proves: N5-X-links.
#[test]
fn the_site_is_where_the_first_page_leads_to() {
    static NEW: Mutex<Option<SocketAddr>> = Mutex::new(None);
    let new = Site::serve(|_, path| match path {
        "/" => (
            "200 OK",
            "<a href='/one'>x</a><a href='/one#no'>x</a>".to_owned(),
        ),
        _ => ("200 OK", String::new()),
    });
    *NEW.lock().unwrap() = Some(new.address);
    let old = Site::serve(|_, _| {
        let new = NEW.lock().unwrap().expect("a site");
        let status = format!("308 Permanent Redirect\r\nLocation: http://{new}/");
        (leaked(status), String::new())
    });
    let ended = links(&["--rate", "1000", &old.url("/")]);
    let expected = format!(
        "{}: {}: the page has no place #no\n\
         3 URLs checked, 2 of them pages of the site, 1 links broken\n",
        new.url("/"),
        new.url("/one#no"),
    );
    assert_eq!(ended.output, expected);
}

/// A server that sends a byte now and then does not keep a request for ever.
// Proves: N5-X-links.
#[test]
fn a_page_that_trickles_is_left() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            thread::spawn(move || {
                let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
                let mut sent = stream.write_all(head);
                while sent.is_ok() {
                    thread::sleep(Duration::from_millis(100));
                    sent = stream.write_all(b"x");
                }
            });
        }
    });
    let ended = links(&["--limit", "1", &format!("http://{address}/")]);
    assert_eq!(ended.status.code(), Some(1));
    assert!(
        ended.output.contains("timeout: no whole answer in 1s"),
        "{ended:?}"
    );
}

/// A page that is nested deeply, one with too many links, and endless redirections.
// Proves: N5-X-links.
#[test]
fn hostile_pages_are_reported() {
    let site = Site::serve(|_, path| match path {
        "/" => ("200 OK", "<noscript>".repeat(10_000)),
        "/many" => {
            let links = (0..10_001).map(|link| format!("<a href='/ok?{link}'>x</a>"));
            ("200 OK", links.collect())
        }
        "/twice" => ("200 OK", "<a href='/ok'>x</a>".repeat(20_000)),
        path if path.starts_with("/more") => {
            let status = format!("302 Found\r\nLocation: {path}x");
            (leaked(status), String::new())
        }
        _ => ("200 OK", String::new()),
    });
    let ended = links(&[&site.url("/")]);
    assert!(ended.status.success(), "{ended:?}");
    let ended = links(&[&site.url("/twice")]);
    assert!(ended.status.success(), "{ended:?}");
    let ended = links(&["--most", "10", &site.url("/many")]);
    let cut = format!(
        "{}: too long, so a part was not checked\n",
        site.url("/many")
    );
    assert!(ended.output.contains(&cut), "{ended:?}");
    let ended = links(&[&site.url("/more")]);
    assert!(
        ended.output.contains("more than 10 redirections"),
        "{ended:?}"
    );
    assert_eq!(
        site.requests()
            .iter()
            .filter(|(path, _)| path.contains("more"))
            .count(),
        11
    );
}

/// The redirections of a link count from the link, whatever has led to its URL before. No URL is
/// requested again for that.
// Proves: N5-X-links.
#[test]
fn redirections_count_from_each_link() {
    // How many of the two chains have been followed to their last redirection.
    static LAST: AtomicUsize = AtomicUsize::new(0);
    let site = Site::serve(|_, path| {
        let links = |paths: &[&str]| -> String {
            let links = paths.iter().map(|path| format!("<a href='{path}'>x</a>"));
            links.collect()
        };
        match path {
            "/" => ("200 OK", links(&["/a0", "/b0", "/slow"])),
            "/slow" => {
                let start = Instant::now();
                while LAST.load(Ordering::SeqCst) < 2 && start.elapsed() < peers::LIMIT {
                    thread::sleep(Duration::from_millis(10));
                }
                ("200 OK", links(&["/a10", "/b5"]))
            }
            "/end" => ("200 OK", links(&["/missing"])),
            "/missing" => ("404 Not Found", String::new()),
            path => {
                let (chain, number) = path.split_at(2);
                let next = number.parse().map_or(0, |number: usize| number + 1);
                let target = match next {
                    11 => "/end".to_owned(),
                    _ => format!("{chain}{next}"),
                };
                LAST.fetch_add(usize::from(next == 11), Ordering::SeqCst);
                (
                    leaked(format!("302 Found\r\nLocation: {target}")),
                    String::new(),
                )
            }
        }
    });
    let ended = links(&["--rate", "1000", &site.url("/")]);
    let url = |path: &str| site.url(path);
    let expected = format!(
        "{}: {}: more than 10 redirections\n\
         {}: {}: more than 10 redirections\n\
         {}: {}: not found (404)\n\
         26 URLs checked, 3 of them pages of the site, 3 links broken\n",
        url("/"),
        url("/a0"),
        url("/"),
        url("/b0"),
        url("/end"),
        url("/missing"),
    );
    assert_eq!(ended.output, expected);
    let mut paths: Vec<_> = site.requests().into_iter().map(|(path, _)| path).collect();
    let count = paths.len();
    paths.sort();
    paths.dedup();
    assert_eq!(paths.len(), count, "a page was requested twice");
}

/// A link behind the part of a page that is read is not checked, and that is an error.
// Proves: N5-X-links.
#[test]
fn a_page_that_is_too_long_is_reported() {
    let site = Site::serve(|_, path| match path {
        "/" => (
            "200 OK",
            " ".repeat(17 << 20) + "<a href='/missing'>broken</a>",
        ),
        _ => ("404 Not Found", String::new()),
    });
    let ended = links(&[&site.url("/")]);
    let cut = format!("{}: too long, so a part was not checked\n", site.url("/"));
    assert!(ended.output.starts_with(&cut), "{ended:?}");
    assert_eq!(ended.status.code(), Some(1));
}

/// After a signal the broken links that are known are printed.
// Proves: N5-X-links.
#[test]
fn a_signal_loses_no_result() {
    let site = Site::serve(|_, path| {
        let Ok(number) = path.trim_start_matches('/').parse::<u64>() else {
            return ("404 Not Found", String::new());
        };
        let next = number + 1;
        (
            "200 OK",
            format!("<a href='/{next}'>x</a><a href='/lost'>x</a>"),
        )
    });
    let mut command = Command::new(env!("CARGO_BIN_EXE_links"));
    let program = Program::start(command.arg(site.url("/0")).stderr(Stdio::piped()));
    let start = Instant::now();
    while site.requests().len() < 20 {
        assert!(start.elapsed() < peers::LIMIT, "too few requests");
        thread::sleep(Duration::from_millis(10));
    }
    program.terminate();
    let ended = program.end();
    assert_eq!(ended.status.code(), Some(1));
    assert!(
        ended.output.contains("/lost: not found (404)\n"),
        "{ended:?}"
    );
    assert_eq!(ended.errors, "links: interrupted\n");
}

/// Text for the rest of the process.
fn leaked(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

/// A site without an end is left after so many URLs, and that is a failure.
// Proves: N5-X-links.
#[test]
fn a_site_without_end_is_left() {
    fn answer(_: &str, path: &str) -> (&'static str, String) {
        let number: u64 = path.trim_start_matches('/').parse().unwrap_or_default();
        let (left, right) = (2 * number + 1, 2 * number + 2);
        let body = format!("<a href='/{left}'>x</a><a href='/{right}'>x</a>");
        ("200 OK", body)
    }
    let site = Site::serve(answer);
    let ended = links(&["--most", "50", "--rate", "10000", &site.url("/0")]);
    assert_eq!(ended.status.code(), Some(1));
    assert_eq!(ended.errors, "links: stopped after 50 URLs, the limit\n");
    assert!(ended.output.starts_with("50 URLs checked"), "{ended:?}");
}

/// A first argument that is not a URL, or that no server answers, is reported.
// Proves: N5-X-links.
#[test]
fn a_first_page_that_is_none_is_reported() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let ended = links(&[&format!("http://{address}/")]);
    assert_eq!(ended.status.code(), Some(1));
    assert!(ended.output.contains("refused"), "{ended:?}");
    let ended = links(&["mailto:x"]);
    assert_eq!(ended.status.code(), Some(1));
    assert!(ended.errors.contains("not a URL of HTTP"), "{ended:?}");
    assert_eq!(links(&["no-url"]).status.code(), Some(2));
}
