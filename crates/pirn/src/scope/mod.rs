//! Structured concurrency: scopes, which end when all of their fibers have ended, and groups
//! ([`TaskGroup`]), which are values. See [the guide](crate::guide::structure).
//!
//! # Examples
//! ```
//! let text = String::from("borrowed by both fibers");
//! let (words, letters) = pirn::scope(|s| {
//!     let words = s.spawn(|| text.split(' ').count());
//!     let letters = s.spawn(|| text.chars().filter(|c| c.is_alphabetic()).count());
//!     (words.join().unwrap(), letters.join().unwrap())
//! });
//! assert_eq!((words, letters), (4, 20));
//! ```

mod census;
mod children;
mod group;
mod handle;
mod leaving;
#[expect(
    unsafe_code,
    reason = "fibers share what outlives the group, which takes their results"
)]
mod members;
mod open;
#[expect(
    unsafe_code,
    reason = "erases the lifetimes that the scope's end makes good"
)]
mod scoped;
mod several;
mod spawn_on;
mod try_scope;

pub use group::TaskGroup;
pub use handle::ScopedJoinHandle;
pub use open::{scope, supervise};
pub use scoped::Scope;
pub use several::{all, any, race};
pub use try_scope::{TryJoinHandle, TryScope, try_scope};

#[cfg(test)]
mod tests;
