//! The programs against third-party servers and clients.
#![allow(clippy::disallowed_methods, reason = "the tests are plain threads")]

mod jetstream;
mod numbers;
#[path = "../../../tests/peers/mod.rs"]
mod peers;
