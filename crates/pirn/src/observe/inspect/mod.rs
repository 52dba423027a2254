//! What a runtime answers to whoever asks from another process, over a Unix socket.
//!
//! Owns: the thread that answers, what may be asked, and the form of the answers, which is
//! described in `docs/inspect-format.md`. Does not own: the socket and who may connect
//! (`sys::local`), nor what there is to be told (`sched::roll`, `sched::glance`, `Metrics`).

mod answer;
mod inspector;
mod request;

pub(crate) use inspector::Inspector;
