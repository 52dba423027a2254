//! Drawing the model.
//!
//! Owns the layout for every size of the terminal. Changes nothing in the model.

mod decisions;
mod detail;
mod fibers;
mod head;
mod help;
mod screen;
pub mod words;
mod workers;

pub use detail::describe;
pub use screen::{draw, table_rows};
