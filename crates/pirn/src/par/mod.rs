//! Computing in parallel: [`join`], and what is made of it.
//!
//! ```
//! fn sum(numbers: &[u64]) -> u64 {
//!     if numbers.len() <= 1_000 {
//!         return numbers.iter().sum();
//!     }
//!     let (left, right) = numbers.split_at(numbers.len() / 2);
//!     let (a, b) = pirn::par::join(|| sum(left), || sum(right));
//!     a + b
//! }
//!
//! let numbers: Vec<u64> = (1..=100_000).collect();
//! assert_eq!(sum(&numbers), 5_000_050_000);
//! ```
//!
//! A join costs about as much as a few calls: the second half is noted, the first one runs, then
//! the second one runs in the same place. Only if another worker has nothing to do, the *oldest* half that is noted,
//! the largest as a rule, becomes a fiber, which that worker takes; at most a few thousand
//! times a second. So nobody has to choose how finely to divide.
//!
//! Both halves run on fibers and may do what fibers do. One that waits lets its other half go on: whatever
//! is noted becomes fibers before the thread is left to others. Whoever needs a half that somebody else has taken
//! parks, and nothing is done on top of it meanwhile. (So a lock that is held across a join,
//! and wanted by the other half's work, stops nobody for ever, if it is one of [`sync`](crate::sync).)

#[expect(unsafe_code, reason = "a job lies in the frame of its join")]
mod fork;
pub mod graph;
mod join;
mod scope;
#[expect(unsafe_code, reason = "a job lies in the frame of its join")]
mod task;

pub use join::join;
pub use scope::{Scope, scope};
