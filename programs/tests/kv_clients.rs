//! `kv` with many clients at once, with the requests of real libraries, and with hostile clients.
#![allow(clippy::disallowed_methods, reason = "the tests are plain threads")]

mod peers;
mod redis;

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use peers::{LIMIT, Program, connect};
use redis::{Redis, answers};

fn serve(args: &[&str]) -> (Program, SocketAddr) {
    Program::serve(env!("CARGO_BIN_EXE_kv"), args)
}

/// A client of RESP2 and RESP3 that reads answers as text: `(a b)` is an array.
struct Client(BufReader<TcpStream>);

impl Client {
    fn new(address: SocketAddr) -> Client {
        let stream = connect(address);
        stream.set_nodelay(true).expect("an option that can be set");
        Client(BufReader::new(stream))
    }

    /// Sends a request of words and reads its answer.
    fn ask(&mut self, words: &[&str]) -> String {
        self.send(words);
        self.answer()
    }

    /// As [`Client::ask`], with the words of one line.
    fn line(&mut self, line: &str) -> String {
        self.ask(&line.split(' ').collect::<Vec<_>>())
    }

    fn send(&mut self, words: &[&str]) {
        let mut request = format!("*{}\r\n", words.len());
        for word in words {
            request += &format!("${}\r\n{word}\r\n", word.len());
        }
        self.bytes(request.as_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.0
            .get_mut()
            .write_all(bytes)
            .expect("a server that reads");
    }

    fn answer(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).expect("a server that answers");
        let line = line.trim_end();
        let (mark, rest) = line.split_at_checked(1).expect("an answer");
        let count = rest.parse::<usize>();
        match (mark, count) {
            ("$" | "=", Ok(len)) => {
                let mut bytes = vec![0; len + 2];
                self.0.read_exact(&mut bytes).expect("the whole answer");
                bytes.truncate(len);
                String::from_utf8(bytes).expect("text")
            }
            ("*" | "%" | "~", Ok(len)) => {
                let len = if mark == "%" { 2 * len } else { len };
                let items: Vec<_> = (0..len).map(|_| self.answer()).collect();
                format!("({})", items.join(" "))
            }
            ("$" | "*", Err(_)) | ("_", _) => "nil".to_owned(),
            ("+" | ":", _) => rest.to_owned(),
            _ => line.to_owned(),
        }
    }
}

/// Ends the loops of other threads at the end of a test, also by a panic.
struct Until<'a>(&'a AtomicBool);

impl Drop for Until<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

// Proves: N5-X-kvclients.
#[test]
fn libraries_find_what_they_send_at_their_start() {
    let (_server, address) = serve(&[]);
    let hello = "(server redis version 7.0.15 proto 3 id ID mode standalone role master modules ())";
    // The requests of redis-py 8.1 and node-redis 6.3 with their defaults.
    let mut python = Client::new(address);
    let id = python.line("CLIENT ID");
    assert_eq!(python.line("HELLO 3"), hello.replace("ID", &id));
    // It continues without these announcements if they are refused.
    let maintenance = "CLIENT MAINT_NOTIFICATIONS ON moving-endpoint-type internal-fqdn";
    assert_eq!(
        python.line(maintenance),
        "-ERR unknown subcommand 'MAINT_NOTIFICATIONS'. Try CLIENT HELP."
    );
    assert_eq!(python.line("CLIENT SETINFO LIB-NAME redis-py"), "OK");
    assert_eq!(python.line("CLIENT SETINFO LIB-VER 8.1.0"), "OK");
    assert_eq!(python.line("INCRBY n 1"), "1");
    assert_eq!(python.line("DECRBY n 3"), "-2");
    for line in ["MULTI", "SET x 1", "INCRBY x 1", "EXEC"] {
        python.send(&line.split(' ').collect::<Vec<_>>());
    }
    let pipeline: Vec<_> = (0..4).map(|_| python.answer()).collect();
    assert_eq!(pipeline, ["OK", "QUEUED", "QUEUED", "(OK 2)"]);

    let mut node = Client::new(address);
    let id = node.line("CLIENT ID");
    for line in [
        "HELLO 3",
        "CLIENT SETINFO LIB-VER 6.3.1",
        "CLIENT SETINFO LIB-NAME node-redis",
    ] {
        node.send(&line.split(' ').collect::<Vec<_>>());
    }
    assert_eq!(node.answer(), hello.replace("ID", &id));
    assert_eq!((node.answer(), node.answer()), ("OK".into(), "OK".into()));
    assert_eq!(node.line("SET a 1 EX 10"), "OK");
    // In RESP3.
    node.bytes(b"GET none\r\nCONFIG GET save\r\n");
    let mut bytes = vec![0; "_\r\n%1\r\n$4\r\nsave\r\n$0\r\n\r\n".len()];
    node.0.read_exact(&mut bytes).unwrap();
    assert_eq!(bytes, b"_\r\n%1\r\n$4\r\nsave\r\n$0\r\n\r\n");

    let mut other = Client::new(address);
    assert_eq!(
        other.line("HELLO 4"),
        "-NOPROTO unsupported protocol version"
    );
    assert!(other.line("HELLO").contains("proto 2"));
    assert_eq!(
        other.ask(&["CLIENT", "SETINFO", "LIB-NAME", "a b"]),
        "-ERR LIB-NAME cannot contain spaces, newlines or special characters."
    );
    assert_eq!(
        other.line("CLIENT SETINFO x y"),
        "-ERR Unrecognized option 'x'"
    );
    let get = "(get 2 (readonly fast) 1 1 1 () () () ())";
    assert_eq!(other.line("COMMAND INFO get none"), format!("({get} nil)"));
    let all = other.line("COMMAND");
    assert!(all.contains(get) && all.contains("(mset -3 (write denyoom) 1 -1 2 "));
    assert_eq!(other.line("COMMAND DOCS"), "()");
    let info = other.line("INFO");
    for line in [
        "# Server",
        "redis_version:7.0.15",
        "db0:keys=3,expires=1,avg_ttl=0",
    ] {
        assert!(info.contains(line), "{info}");
    }
    assert!(!other.line("INFO memory").contains("# Server"));
}

// Proves: N5-X-kvclients.
#[test]
fn a_request_of_http_runs_no_command() {
    let (_server, address) = serve(&[]);
    let body = "SET k v\r\nPING\r\n";
    let post = format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 14\r\n\r\n{body}");
    for request in [
        &post,
        &post.replace("POST /", "GET k"),
        "PING\r\npost\r\nSET k v\r\n",
    ] {
        let mut stream = connect(address);
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        // Closed, or reset.
        let _ = stream.read_to_end(&mut answer);
        assert_eq!(answer, b"", "to {request}");
    }
    assert_eq!(Client::new(address).line("EXISTS k"), "0");
}

// Proves: N5-X-kvtogether.
#[test]
fn watched_counters_lose_no_step() {
    const CLIENTS: usize = 8;
    const STEPS: usize = 50;
    let (_server, address) = serve(&[]);
    thread::scope(|s| {
        for _ in 0..CLIENTS {
            s.spawn(|| {
                let mut client = Client::new(address);
                let mut steps = 0;
                let start = Instant::now();
                while steps < STEPS {
                    assert!(start.elapsed() < LIMIT, "no progress");
                    assert_eq!(client.line("WATCH total"), "OK");
                    let total = client.line("GET total").parse().unwrap_or(0) + 1;
                    assert_eq!(client.line("MULTI"), "OK");
                    assert_eq!(client.line(&format!("SET total {total}")), "QUEUED");
                    match client.line("EXEC").as_str() {
                        "(OK)" => steps += 1,
                        "nil" => {}
                        other => panic!("{other}"),
                    }
                }
            });
        }
    });
    let total = (CLIENTS * STEPS).to_string();
    assert_eq!(Client::new(address).line("GET total"), total);
}

// Proves: N5-X-kvtogether.
#[test]
fn commands_on_several_keys_are_one() {
    let (_server, address) = serve(&[]);
    let done = AtomicBool::new(false);
    // Each writer gives all keys one value, in an order of its own.
    let writers = [
        "MSET a W b W c W d W e W",
        "MSET e W d W c W b W a W",
        "MULTI;SET c W;SET e W;SET a W;SET d W;SET b W;EXEC",
        "FLUSHALL",
        "DEL e c a b d",
        "MULTI;DEL b;SET b W;RENAME b c;MSET a W b W;SET d W;SET e W;EXEC",
    ];
    thread::scope(|s| {
        let until = Until(&done);
        for (n, lines) in writers.iter().enumerate() {
            let (done, lines) = (&done, lines.replace('W', &n.to_string()));
            s.spawn(move || {
                let mut client = Client::new(address);
                while !done.load(Ordering::Relaxed) {
                    lines.split(';').for_each(|line| {
                        client.line(line);
                    });
                }
            });
        }
        let mut client = Client::new(address);
        let mut seen = BTreeMap::new();
        let end = Instant::now() + Duration::from_secs(1);
        let mut mixed = None;
        while mixed.is_none() && (Instant::now() < end || seen.len() < 2) {
            let mget = client.line("MGET a b c d e");
            for line in ["MULTI", "GET e", "GET a", "MGET c b d"] {
                client.line(line);
            }
            let exec = client.line("EXEC");
            for answer in [mget, exec] {
                let mut values = answer.split([' ', '(', ')']).filter(|v| !v.is_empty());
                let first = values.next().unwrap_or_default().to_owned();
                if values.any(|value| value != first) {
                    mixed = Some(answer);
                }
                *seen.entry(first).or_insert(0) += 1;
            }
        }
        drop(until);
        assert_eq!(mixed, None, "of two writers");
    });
}

// Proves: N5-X-kvtogether.
#[test]
fn a_watched_key_that_ends_is_a_change() {
    let Some(redis) = Redis::start("a_watched_key_that_ends_is_a_change", &[]) else {
        return;
    };
    let (_server, address) = serve(&[]);
    let scripts = [
        [
            "SET k v PX 5\r\nWATCH k\r\n",
            "MULTI\r\nPING\r\nEXEC\r\nMULTI\r\nPING\r\nEXEC\r\n",
        ],
        [
            "SET k v PX 5\r\n",
            "WATCH k\r\nGET k\r\nMULTI\r\nPING\r\nEXEC\r\n",
        ],
    ];
    // Soon enough after the expiry, so that no round of a sweeper has removed the key.
    for [before, after] in scripts.into_iter().cycle().take(20) {
        let after = format!("{after}QUIT\r\n");
        let parts = [before.as_bytes(), after.as_bytes()];
        let pause = Duration::from_millis(10);
        let theirs = answers(redis.connect(), &parts, pause);
        assert_eq!(answers(connect(address), &parts, pause), theirs);
    }
}

// Proves: N5-X-kvmemory.
#[test]
fn a_full_server_refuses_what_redis_refuses() {
    let test = "a_full_server_refuses_what_redis_refuses";
    let Some(redis) = Redis::start(test, &["--maxmemory", "1"]) else {
        return;
    };
    let (_server, address) = serve(&["--maxmemory", "1"]);
    let script = b"SET k v\r\nINCR k\r\nAPPEND k v\r\nMSET a 1 b 2\r\nGETSET k v\r\nGET k\r\nDEL k\r\n\
        EXPIRE k 1\r\nGETDEL k\r\nDBSIZE\r\nMULTI\r\nPING\r\nSET k v\r\nEXEC\r\nMULTI\r\nDISCARD\r\n\
        MULTI\r\nEXEC\r\nCONFIG GET maxmemory\r\nFLUSHALL\r\nQUIT\r\n";
    let theirs = answers(redis.connect(), &[script], Duration::ZERO);
    assert_eq!(answers(connect(address), &[script], Duration::ZERO), theirs);
}

// Proves: N5-X-kvmemory.
#[test]
fn memory_has_a_limit() {
    const REFUSED: &str = "-OOM command not allowed when used memory > 'maxmemory'.";
    let (server, address) = serve(&["--maxmemory", "10mb"]);
    let mut client = Client::new(address);
    let value = "v".repeat(100_000);
    let mut set = |n: u32| client.ask(&["SET", &format!("large{n}"), &value]);
    let stored = (0..200).take_while(|n| set(*n) == "OK").count();
    assert!((90..=104).contains(&stored), "{stored} values");
    assert_eq!(set(1000), REFUSED);
    assert_eq!(client.line("SETRANGE x 400000000 y"), REFUSED);
    assert_eq!(client.line("DBSIZE"), stored.to_string());
    assert_eq!(client.line("GET large0").len(), value.len());
    assert_eq!(client.line("DEL large0 large1"), "2");
    assert_eq!(client.ask(&["SET", "large0", &value]), "OK");
    // Every way to free is counted: memory is back at 0.
    for line in [
        "SET small v",
        "EXPIRE small 100",
        "APPEND small w",
        "SET end v PX 1",
    ] {
        assert!(!client.line(line).starts_with('-'), "{line}");
    }
    assert_eq!(client.line("RENAME small other"), "OK");
    assert_eq!(client.line("FLUSHALL"), "OK");
    let used = client.line("INFO memory");
    assert!(used.contains("used_memory:0\r\n"), "{used}");
    // A transaction that would not fit is refused while it is queued.
    client.line("MULTI");
    let mut queue = |n: u32| client.ask(&["SET", &format!("large{n}"), &value]);
    let queued = (0..200).take_while(|n| queue(*n) == "QUEUED").count();
    assert!((90..=104).contains(&queued), "{queued} values");
    let aborted = "-EXECABORT Transaction discarded because of previous errors.";
    assert_eq!(client.line("EXEC"), aborted);
    // So is one that fitted, if others have filled the memory since.
    client.line("MULTI");
    for n in 0..60 {
        assert_eq!(client.ask(&["SET", &format!("large{n}"), &value]), "QUEUED");
    }
    let mut other = Client::new(address);
    for n in 0..60 {
        assert_eq!(other.ask(&["SET", &format!("other{n}"), &value]), "OK");
    }
    let aborted = client.line("EXEC");
    assert!(aborted.starts_with("-EXECABORT"), "{aborted}");
    assert_eq!(client.line("DBSIZE"), "60");
    assert!(server.memory() < 64 << 20, "{} bytes", server.memory());
}

// Proves: N5-X-kvclients.
#[test]
fn a_scan_finds_what_stays() {
    const KEYS: usize = 5000;
    let (_server, address) = serve(&[]);
    let mut client = Client::new(address);
    for n in 0..KEYS {
        client.send(&["SET", &format!("stays:{n}"), ""]);
    }
    (0..KEYS).for_each(|_| assert_eq!(client.answer(), "OK"));
    for (count, pattern) in [(1, "stays:*"), (100, "*:*"), (KEYS, "*"), (10, "*99")] {
        let done = AtomicBool::new(false);
        thread::scope(|s| {
            let _until = Until(&done);
            s.spawn(|| {
                let mut client = Client::new(address);
                let mut n = 0;
                while !done.load(Ordering::Relaxed) {
                    n += 1;
                    client.line(&format!("SET comes{} v", n % 1000));
                    client.line(&format!("DEL comes{}", (n + 500) % 1000));
                }
            });
            let mut found = BTreeMap::new();
            let mut cursor = "0".to_owned();
            loop {
                let scan = format!("SCAN {cursor} COUNT {count} MATCH {pattern}");
                let page = client.line(&scan);
                let mut words =
                    page.split([' ', '(', ')']).filter(|word| !word.is_empty());
                cursor = words.next().unwrap().to_owned();
                for key in words.filter(|key| key.starts_with("stays")) {
                    *found.entry(key.to_owned()).or_insert(0) += 1;
                }
                if cursor == "0" {
                    break;
                }
                // Clients that read numbers as floating-point ones keep the whole cursor.
                assert!(cursor.parse::<u64>().unwrap() <= 1 << 53);
            }
            let expected = if pattern == "*99" { KEYS / 100 } else { KEYS };
            assert_eq!(found.len(), expected, "COUNT {count} MATCH {pattern}");
            assert!(found.values().all(|times| *times == 1));
        });
    }
}

// Proves: N5-X-kvmemory.
#[test]
fn idle_connections_give_memory_back() {
    let (server, address) = serve(&[]);
    let request = format!(
        "*120001\r\n$6\r\nEXISTS\r\n{}",
        "$1\r\nk\r\n".repeat(120_000)
    );
    let clients: Vec<_> = (0..20)
        .map(|_| {
            let mut client = Client::new(address);
            client.bytes(request.as_bytes());
            // The start of another request stays.
            client.bytes(b"*2\r\n$4\r\nECHO\r\n");
            assert_eq!(client.answer(), "0");
            client
        })
        .collect();
    let start = Instant::now();
    // It was 67 MB. How much the allocator keeps for each thread differs.
    while server.memory() > 48 << 20 {
        assert!(start.elapsed() < LIMIT / 10, "{} bytes", server.memory());
        thread::sleep(Duration::from_millis(10));
    }
    for mut client in clients {
        client.bytes(b"$2\r\nhi\r\n");
        assert_eq!(client.answer(), "hi");
    }
}

// Proves: N5-X-kvmemory.
#[test]
fn a_large_value_is_whole_though_it_is_overwritten() {
    // More than the buffers of two sockets.
    const LEN: usize = 32 << 20;
    let (_server, address) = serve(&[]);
    let mut writer = Client::new(address);
    assert_eq!(writer.ask(&["SET", "k", &"a".repeat(LEN)]), "OK");
    let mut reader = Client::new(address);
    for _ in 0..2 {
        reader.send(&["GET", "k"]);
    }
    // The first answer has begun.
    assert!(!reader.0.fill_buf().unwrap().is_empty());
    let len = (LEN + 1).to_string();
    assert_eq!(writer.ask(&["APPEND", "k", "c"]), len);
    assert_eq!(writer.ask(&["SETRANGE", "k", "0", "d"]), len);
    assert_eq!(writer.ask(&["GETRANGE", "k", "0", "1"]), "da");
    assert_eq!(writer.ask(&["SET", "k", "b"]), "OK");
    assert!(reader.answer() == "a".repeat(LEN));
    assert_eq!(reader.answer(), "b");
    // Many large values in one answer.
    let pairs: Vec<_> = (0..8)
        .map(|n| (format!("k{n}"), n.to_string().repeat(LEN / 64)))
        .collect();
    let mut words = vec!["MSET"];
    words.extend(pairs.iter().flat_map(|(key, value)| [key.as_str(), value]));
    assert_eq!(writer.ask(&words), "OK");
    let mut words = vec!["MGET", "none"];
    words.extend(pairs.iter().map(|(key, _)| key.as_str()));
    let expected: Vec<_> = pairs.iter().map(|(_, value)| value.as_str()).collect();
    assert!(writer.ask(&words) == format!("(nil {})", expected.join(" ")));
    // Large parts, and large arguments, are answered without a copy, too.
    let (key, value) = &pairs[1];
    let end = value.len() - 2;
    assert!(writer.ask(&["GETRANGE", key, "1", "-2"]) == value[1..=end]);
    assert!(
        writer.ask(&["GETRANGE", key, "-40000", "-1"]) == value[value.len() - 40_000..]
    );
    assert_eq!(writer.ask(&["GETRANGE", key, "9", "10"]), "11");
    assert!(writer.ask(&["ECHO", value]) == *value);
    assert!(writer.ask(&["PING", value]) == *value);
}

// Proves: N5-X-kvmemory.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_a_huge_value_delays_no_other_connection() {
    const LEN: usize = 256 << 20;
    let (_server, address) = serve(&[]);
    let done = AtomicBool::new(false);
    let longest = thread::scope(|s| {
        let until = Until(&done);
        let waits: Vec<_> = (0..4)
            .map(|_| {
                s.spawn(|| {
                    let mut client = Client::new(address);
                    let mut longest = Duration::ZERO;
                    while !done.load(Ordering::Relaxed) {
                        let start = Instant::now();
                        assert_eq!(client.line("PING"), "PONG");
                        longest = longest.max(start.elapsed());
                        thread::sleep(Duration::from_millis(1));
                    }
                    longest
                })
            })
            .collect();
        let mut client = Client::new(address);
        let piece = vec![b'v'; 1 << 20];
        for _ in 0..2 {
            client.bytes(format!("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n${LEN}\r\n").as_bytes());
            (0..LEN / piece.len()).for_each(|_| client.bytes(&piece));
            client.bytes(b"\r\n");
            assert_eq!(client.answer(), "OK");
            for (request, len) in [("GET k", LEN), ("GETRANGE k 1 -1", LEN - 1)] {
                client.send(&request.split(' ').collect::<Vec<_>>());
                let answer = len + format!("${len}\r\n\r\n").len();
                let read = std::io::copy(
                    &mut client.0.by_ref().take(answer as u64),
                    &mut std::io::sink(),
                );
                assert_eq!(read.unwrap(), answer as u64);
            }
        }
        assert_eq!(client.line("DEL k"), "1");
        drop(until);
        waits
            .into_iter()
            .map(|wait| wait.join().unwrap())
            .max()
            .unwrap()
    });
    println!("the longest PING took {longest:?}");
    assert!(
        longest < Duration::from_millis(400),
        "a PING took {longest:?}"
    );
}
