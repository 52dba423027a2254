//! Tests, one process each, with a hard timeout: what a test runner does, on a machine that
//! has only the Rust toolchain.
//!
//! * `build`: has cargo build test binaries, with any flags, and learns where they are.
//! * `cases`: asks the binaries which tests they hold; names them `binary test::path`.
//! * `run`: runs chosen tests side by side, kills what hangs, counts.

mod build;
mod cases;
mod run;

pub(crate) use build::Build;
pub(crate) use cases::{Case, cases};
pub(crate) use run::{Run, run};
