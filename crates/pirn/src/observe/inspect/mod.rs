//! The answers of a runtime to other processes, over a Unix socket.
//!
//! Owns: the thread that answers, the requests, and the format of the answers, which is described
//! in `docs/inspect-format.md`. Does not own: the socket and its permissions (`sys::local`), nor
//! the data (`observe::report::snapshot`, `observe::report::worker_info`, `Metrics`).

mod answer;
mod inspector;
mod request;

pub(crate) use inspector::Inspector;
