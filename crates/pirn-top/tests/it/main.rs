//! Tests of the program itself and of its parts.
//!
//! * `browser`: the page in a browser: clicks, filters, orders, widths.
//! * `once`: its output agrees with the process's own report; other users are refused.
//! * `keys`: the action of each key.
//! * `pictures`: every page, at two sizes, as it should look.
//! * `answers`: complete, damaged and hostile answers.
//! * `silence`: its explanation of a process that does not answer.
//! * `terminal`: the program on a terminal, which is restored.
//! * `web`: the addresses of the page, the token, recordings.

#![allow(
    clippy::disallowed_methods,
    reason = "plain threads and processes, watched from outside"
)]

mod answers;
mod browser;
mod emulator;
mod fixture;
mod keys;
mod once;
mod pictures;
mod sandbox;
mod silence;
mod terminal;
#[path = "../../../pirn/src/base/tests/unmeasured.rs"]
mod unmeasured;
mod web;
