//! What holds of `compare` as a whole.

mod cases;
mod servers;
#[path = "../../../crates/pirn/src/base/tests/unmeasured.rs"]
mod unmeasured;
