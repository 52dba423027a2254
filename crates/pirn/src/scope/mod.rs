//! Structure: scopes, which end when all of their fibers have ended.

#[expect(
    unsafe_code,
    reason = "children point to the frame that waits for them"
)]
mod children;
#[expect(
    unsafe_code,
    reason = "erases the lifetimes that the scope's end makes good"
)]
mod region;

pub use region::{Scope, ScopedJoinHandle, scope};

#[cfg(test)]
mod tests;
