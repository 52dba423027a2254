//! A client for HTTP and HTTPS on fibers: `ureq`, with its transport replaced by sockets on which a
//! fiber waits.

mod client;
mod transport;

pub use client::agent;
