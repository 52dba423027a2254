//! The servers that a load is put on, each a child of its own.
//!
//! `compare child serve NAME --workers N --port 0` prints `port NUMBER` and serves until its
//! standard input ends; the Go program's `serve go …` does the same. Each connection has a
//! fiber, task, goroutine or thread of its own, which reads into 4 KiB (with `--small` 1 KiB) and
//! echoes it; TCP_NODELAY is set. `epoll` is the floor: one thread, no scheduler. `wrong` answers
//! wrongly, for the tests of the harness.
//!
//! A connection that fails ends its fiber; the load at its other end reports that.

mod bill;
mod blocking;
mod epoll;
mod list;
mod settings;
mod start;
mod tokio;

pub use list::{serve_child, serves};
pub(super) use settings::Settings;
