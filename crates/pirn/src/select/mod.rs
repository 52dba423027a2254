//! Waiting for the first of several events.
//!
//! [`select!`](crate::select!) is for a fixed set of arms in the code, [`Select`] for a set that is
//! built at run time. Both work on fibers and on plain threads. Cases exist for channels of any
//! kind and type and their ends, ends of fibers, moments in time, sockets, cancellation tokens, the
//! caller's park token, and every [`Waitable`](crate::wait::Waitable).
//!
//! If several cases are ready, one is chosen at random, each with the same probability; a *biased*
//! select chooses the first. Exactly one case is completed. The others have no effect: no value is
//! received and lost. The case of a send that did not win keeps its value; an arm `send` of
//! [`select!`](crate::select!) drops it.
//!
//! # Examples
//! ```
//! use pirn::channel;
//! use std::time::Duration;
//!
//! let (_tx, requests) = channel::bounded::<u32>(1);
//! let (stop, stopped) = channel::bounded(1);
//! stop.send("enough").unwrap();
//! let reason = pirn::select! {
//!     recv(requests) -> request => panic!("{request:?}"),
//!     recv(stopped) -> reason => reason.unwrap(),
//!     after(Duration::from_secs(60)) => "nothing for a minute",
//! };
//! assert_eq!(reason, "enough");
//! ```

// Owns: the public interface of a select. Does not own: the waiting (`wait::choice`), or what a
// case does (`channel`, `spawn`, `time`).

mod case;
mod dynamic;
mod fixed;
mod parked;

pub use case::Case;
pub use dynamic::Select;
#[doc(hidden)]
pub use fixed::{Out, choose, choose_now, index_of, no_arm};
pub use parked::{ParkCase, parked};
