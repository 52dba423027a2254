//! A test runner for machines that have only the Rust toolchain: one process for each test, with a
//! hard timeout.
//!
//! * `build`: builds test binaries through cargo, with any flags.
//! * `cases`: lists the tests of the binaries; names them `binary test::path`.
//! * `run`: runs chosen tests in parallel, kills those that hang, counts.

mod build;
mod cases;
mod run;

pub(crate) use build::Build;
pub(crate) use cases::{Case, cases};
pub(crate) use run::{Run, run};
