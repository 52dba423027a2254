//! Computing in parallel: [`join()`], and functions made of it: loops over slices, ranges
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
//! A join costs about as much as a few calls. It pushes the second half on a list, runs
//! the first half, and then pops and runs the second one in the same place. The *oldest*
//! half on the list, usually the largest, becomes a fiber that another worker may take if
//!
//! * another worker has no work, and has requested some before the join begins, or
//! * a worker requests some later, at most once every 20 µs, or
//! * the fiber has run joins for long, and the monitor requests it.
//!
//! When the fiber waits, all of its listed halves become fibers. So the caller need not
//! choose how finely to divide. A half becomes a fiber only where a join begins or
//! something waits. A program must not rely on two halves running at the same time.
//!
//! The loops divide by joins too. They cut a [`Split`] in halves down to blocks, and cut
//! a block further if its items take long and a request comes meanwhile. Results are
//! always combined in the same way, on any number of workers: sums of floats do not
//! depend on it.
//!
//! Both halves run on fibers and may do anything a fiber may do. If one half waits, the
//! other can run, because all listed halves become fibers before the thread switches to
//! another fiber. A join parks if its second half runs elsewhere, and nothing runs on
//! top of its stack meanwhile. So a lock that is held across a join and also taken in the
//! other half causes no deadlock, if it is one of [`sync`](crate::sync).
//!
//! More in the guide: [computing in parallel](crate::guide::cpu), and
//! [if you know rayon](crate::guide::from_rayon).

mod divide;
mod each;
mod find;
#[expect(unsafe_code, reason = "a job lies in the frame of its join")]
mod fork;
pub mod graph;
mod join;
mod map;
#[expect(unsafe_code, reason = "writes results where they stay")]
mod output;
mod reduce;
mod scan;
mod scope;
mod sorting;
mod splits;
mod try_state;

pub use each::{for_each, try_for_each};
pub use find::find_any;
pub use join::{FnContext, join, join_context};
pub use map::{map, try_map};
pub use reduce::{map_reduce, reduce, sum};
pub use scan::scan;
pub use scope::{Scope, scope};
pub use sorting::{
    sort, sort_by, sort_by_key, sort_unstable, sort_unstable_by, sort_unstable_by_key,
};
pub use splits::{
    Chunks, ChunksExact, ChunksExactMut, ChunksMut, Grain, RChunks, RChunksExact,
    RChunksExactMut, RChunksMut, Split, chunks, chunks_exact, chunks_exact_mut,
    chunks_mut, rchunks, rchunks_exact, rchunks_exact_mut, rchunks_mut,
};
