//! Drawing the model.
//!
//! Owns: how everything looks, in whatever room the terminal has. Changes nothing in the model.

mod decisions;
mod detail;
mod fibers;
mod head;
mod help;
mod screen;
pub mod words;
mod workers;

pub use detail::tell;
pub use screen::{draw, table_rows};
