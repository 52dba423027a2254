//! The kinds of work that a server does for a load in another process.

/// The work of a server; the meaning of `n` differs for each and is given here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Net {
    /// Echo of 64 bytes for `n` milliseconds, after a warm-up of a quarter of that.
    Echo {
        /// How many connections.
        connections: usize,
        /// Requests in flight on each.
        depth: usize,
    },
    /// Short HTTP/1.1 answers for as long, one request in flight on each connection.
    Http {
        /// How many connections.
        connections: usize,
    },
    /// The system calls of `n` requests of echo, one in flight on each connection: the
    /// difference of two runs under strace.
    Calls {
        /// How many connections.
        connections: usize,
    },
    /// `n` connections, or as many as the limit on descriptors allows, each answered once
    /// and then left alone.
    Idle,
    /// `n` requests in equal shares on each connection, one in flight on each. The server computes
    /// this many microseconds for each; fewer connections if `n` is smaller.
    Work {
        /// How many connections.
        connections: usize,
        /// Microseconds of computing for a request.
        micros: u64,
    },
    /// Echo or HTTP for `n` milliseconds as fast as the server can, then in an open loop at
    /// 30, 60 and 90 % of that rate, for as long each.
    Open {
        /// How many connections.
        connections: usize,
        /// HTTP instead of echo.
        http: bool,
    },
    /// `n` requests of echo at a fixed rate, over many connections, 1 % of which cost 20 ms of
    /// computing for each request; fewer connections if `n` is smaller.
    Mixed {
        /// How many connections.
        connections: usize,
    },
}
