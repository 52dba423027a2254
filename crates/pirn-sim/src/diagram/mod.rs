//! The picture of a run that has failed: a page, and events for a trace viewer.
//!
//! Owns: what both show (`drawing`), and their formats (`page`, `events`). Does not own: the words
//! for operations and objects (`explain`), or the files (`output`).

mod drawing;
mod events;
mod page;

pub(crate) use drawing::{Diagram, ROWS};
