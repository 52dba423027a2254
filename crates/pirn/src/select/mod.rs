//! Waiting for whichever of several things comes first.
//!
//! [`select!`](crate::select!) is for a fixed set of arms in the code, [`Select`] for a set
//! that is made at run time. Both work on fibers and on plain threads, over channels of any
//! kind and type, ends of fibers, moments in time, the caller's park token, and everything
//! that is [`Waitable`](crate::wait::Waitable).
//!
//! If several cases are possible, one of them is chosen at random, each with the same
//! probability; *biased*, the first one. Exactly one case is completed. What the others would
//! have done has not been done: no value is received and lost, and the value of a send that
//! did not win comes back.
//!
//! Owns: what users see of a choice. Does not own: how it waits (`wait::choice`), or what a
//! case does (`channel`, `spawn`, `time`).

mod case;
mod dynamic;
mod fixed;
#[expect(unsafe_code, reason = "the contract of a case")]
mod parked;

pub use case::Case;
pub use dynamic::Select;
#[doc(hidden)]
pub use fixed::{Out, choose, choose_now, index_of, no_arm};
pub use parked::{ParkCase, parked};
