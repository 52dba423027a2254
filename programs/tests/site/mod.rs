//! A small web site on fibers, with well-behaved and misbehaving pages.
#![allow(dead_code, reason = "each test file uses some of it")]

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;

use pirn::net::{TcpListener, TcpStream};
use pirn::scope::TaskGroup;
use pirn::{JoinHandle, Runtime};

/// A running server, on a runtime of its own; ended when dropped.
#[derive(Debug)]
pub(crate) struct Site {
    address: SocketAddr,
    open: Arc<()>,
    server: JoinHandle<()>,
    // Dropped last.
    _runtime: Runtime,
}

/// The used part of a request.
struct Request {
    page: String,
    body: Vec<u8>,
}

impl Site {
    pub(crate) fn open() -> Site {
        let runtime = Runtime::builder().workers(1).build().expect("a runtime");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("its address");
        // Each connection has one of these.
        let open = Arc::new(());
        let connection = Arc::clone(&open);
        let server = runtime.spawn(move || {
            let group: TaskGroup = TaskGroup::new();
            for stream in listener.incoming().map_while(Result::ok) {
                let connection = Arc::clone(&connection);
                let served = group.spawn(move || {
                    // Clients that disconnect in the middle are expected here.
                    let _ = serve(&stream);
                    drop((stream, connection));
                });
                assert!(served.is_ok(), "the group is open");
            }
        });
        Site {
            address,
            open,
            server,
            _runtime: runtime,
        }
    }

    pub(crate) fn page(&self, name: &str) -> String {
        format!("http://{}/{name}", self.address)
    }

    /// Returns the number of open connections.
    pub(crate) fn connections(&self) -> usize {
        // One is the site's, one the listener's.
        Arc::strong_count(&self.open) - 2
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.server.cancel();
    }
}

/// Returns the contents of the page `bytes/COUNT`.
pub(crate) fn bytes(count: usize) -> Vec<u8> {
    (0..count).map(|i| (i % 251) as u8).collect()
}

/// Answers requests until the client disconnects, or is disconnected.
fn serve(stream: &TcpStream) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    while let Some(request) = read(&mut reader)? {
        let page: Vec<&str> = request.page.split('/').collect();
        match page[..] {
            ["", "say", word] => answer(stream, word.as_bytes())?,
            ["", "bytes", count] => {
                answer(stream, &bytes(count.parse().expect("a number")))?;
            }
            ["", "same"] => answer(stream, &request.body)?,
            ["", "cut"] => return half(stream),
            ["", "half"] => {
                half(stream)?;
                return await_end(&mut reader);
            }
            ["", "never"] => return await_end(&mut reader),
            _ => panic!("no page {}", request.page),
        }
    }
    Ok(())
}

fn read(reader: &mut BufReader<&TcpStream>) -> io::Result<Option<Request>> {
    let mut first = String::new();
    if reader.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    let page = first.split(' ').nth(1).expect("a path").to_owned();
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some(Request { page, body }))
}

fn answer(mut stream: &TcpStream, body: &[u8]) -> io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n",
        body.len()
    )?;
    stream.write_all(body)
}

/// Half of the announced length.
fn half(mut stream: &TcpStream) -> io::Result<()> {
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")?;
    stream.write_all(&bytes(500))
}

fn await_end(reader: &mut BufReader<&TcpStream>) -> io::Result<()> {
    let more = reader.read(&mut [0])?;
    assert_eq!(more, 0, "nothing more to be asked");
    Ok(())
}
