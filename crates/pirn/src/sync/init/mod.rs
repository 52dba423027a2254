//! Initialization: code that runs once, and values that are written once.

mod lazy_lock;
mod once;
mod once_lock;

pub use lazy_lock::LazyLock;
pub use once::{Once, OnceState};
pub use once_lock::OnceLock;
