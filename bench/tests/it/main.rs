//! What holds of `compare` as a whole.

mod forks;
mod servers;
mod tails;
#[path = "../../../crates/pirn/tests/it/unmeasured.rs"]
mod unmeasured;
