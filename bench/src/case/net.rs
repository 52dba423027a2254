//! The kinds of work that a server does for a load in another process.

/// What is asked of a server; the meaning of `n` differs for each and stands here.
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
}
