//! The explanation of a failure: which operations came in an unusual order, and which fibers wait
//! for which.
//!
//! Owns: the sentences of a report (`report`, `sentence`), the choice of what they are about
//! (`order`), and the names of objects and fibers (`scene`, `names`). Does not own: what happened
//! (`turns`), how the report is laid out (`failure`), or the picture (`diagram`).

mod names;
mod order;
mod report;
mod scene;
mod sentence;

pub(crate) use order::{Stuck, shown};
pub(crate) use report::{Explained, WAITS};
pub(crate) use scene::Scene;
