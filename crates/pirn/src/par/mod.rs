//! Computing in parallel: [`join()`], and what is made of it: loops over slices, ranges
//! and vectors ([`for_each`], [`map()`], [`map_reduce`], [`sum`], [`find_any`],
//! [`scan()`]), and sorts ([`sort()`]).
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
//! A join costs about as much as a few calls: the second half is noted, the first one
//! runs, then the second one runs in the same place. When another worker has nothing to
//! do (it leaves its question beforehand), or the fiber has joined for long, the *oldest*
//! half that is noted, the largest as a rule, becomes a fiber, which another worker may
//! take; when the fiber waits, all of them do. So nobody has to choose how finely to
//! divide. It happens where a join begins, or something waits, and nowhere else: nothing
//! may rest on two halves running at the same time.
//!
//! The loops divide by joins, too: what they go through is [`Split`] in halves down to
//! blocks, and a block further where items take so long that somebody asks meanwhile.
//! What is put together is put together the same way each time, whoever works on it: sums
//! of floats do not depend on the number of workers.
//!
//! Both halves run on fibers and may do what fibers do. One that waits lets its other
//! half go on: whatever is noted becomes fibers before the thread is left to others.
//! Whoever needs a half that somebody else has taken parks, and nothing is done on top of
//! it meanwhile. (So a lock that is held across a join, and wanted by the other half's
//! work, stops nobody for ever, if it is one of [`sync`](crate::sync).)
//!
//! More in the guide: [computing in parallel](crate::guide::cpu), and
//! [if you know rayon](crate::guide::from_rayon).

mod each;
#[expect(unsafe_code, reason = "writes results where they stay")]
mod filled;
mod find;
#[expect(unsafe_code, reason = "a job lies in the frame of its join")]
mod fork;
pub mod graph;
#[expect(unsafe_code, reason = "notes a job among those of its own worker")]
mod join;
mod map;
#[expect(unsafe_code, reason = "copies items from one memory to another")]
mod merge;
#[expect(unsafe_code, reason = "items are in one of two memories")]
mod merge_sort;
#[expect(unsafe_code, reason = "hands out shares of a buffer")]
mod owned;
mod pairs;
mod ranges;
mod reduce;
mod scan;
#[expect(unsafe_code, reason = "notes a job among those of its own worker")]
mod scope;
mod slices;
mod sort;
mod split;
mod spread;
#[expect(unsafe_code, reason = "a job lies in the frame of its join")]
mod task;
mod until;

pub use each::{for_each, try_for_each};
pub use find::find_any;
pub use join::join;
pub use map::{map, try_map};
pub use reduce::{map_reduce, reduce, sum};
pub use scan::scan;
pub use scope::{Scope, scope};
pub use slices::{Chunks, ChunksMut, chunks, chunks_mut};
pub use sort::{
    sort, sort_by, sort_by_key, sort_unstable, sort_unstable_by, sort_unstable_by_key,
};
pub use split::{Grain, Split};
