//! The peers: each file has the cases of `case::table` again, as an experienced user of that
//! library would write them.
//!
//! Every file has the same structure: `NOTE` explains what is not obvious, `run` picks the case,
//! one function for each case follows in the order of the table. A case that a library cannot
//! express is skipped with the reason, never imitated.

mod chili;
mod crossbeam;
mod fork;
mod list;
mod may;
mod pirn;
mod rayon;
mod smol;
mod tail;
mod talk;
mod threads;
mod tokio;

pub use list::{BARE, OURS, Peer, Program, all};
pub(crate) use tail::{ASIDE, EIGHT, FREE};
