//! What holds of `compare` as a whole.

mod cases;
mod servers;
#[path = "../../../crates/pirn/tests/it/unmeasured.rs"]
mod unmeasured;
