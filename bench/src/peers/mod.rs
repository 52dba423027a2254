//! The peers: each file has the cases of `case::table` again, as an experienced user of that
//! library would write them.
//!
//! Cases that libraries can share are written once: in `blocking` over libraries that wait by
//! blocking, in `tasks` over `async` ones, in `fork` over joins of two closures, in `tail` over
//! both of the first. Each library's file has its part, the choice of cases, and those that it
//! writes in its own way. A case that a library cannot express is skipped with the reason, never
//! imitated. Every case checks its messages: a lost or duplicated one ends the child with a panic.

mod blocking;
mod channel;
mod chili;
mod crossbeam;
mod fork;
mod list;
mod may;
mod pirn;
mod rayon;
mod sleepers;
mod smol;
mod stock;
mod tail;
mod tasks;
mod threads;
mod tokio;

pub(crate) use list::{ASIDE, EIGHT, FREE};
pub use list::{BARE, OURS, Peer, Program, STD, all};
