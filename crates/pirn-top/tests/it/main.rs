//! What the program promises, tried on the program itself and on its parts.
//!
//! * `once`: what it prints is what the process's own report says; who may not ask is refused.
//! * `keys`: what each key does.
//! * `pictures`: every page, at two sizes, as it should look.
//! * `answers`: what it makes of answers, whole, broken and hostile.
//! * `silence`: what it says of a process that does not answer.
//! * `terminal`: the program on a terminal, which is given back.

#![allow(
    clippy::disallowed_methods,
    reason = "plain threads and processes, watched from outside"
)]

mod answers;
mod emulator;
mod fixture;
mod keys;
mod once;
mod pictures;
mod sandbox;
mod silence;
mod terminal;
#[path = "../../../pirn/tests/it/unmeasured.rs"]
mod unmeasured;
