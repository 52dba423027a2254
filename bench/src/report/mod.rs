//! The report, as aligned text, Markdown or JSON.
//!
//! `sheet` turns results into words and numbers once; the three writers only lay them out.

mod json;
mod markdown;
mod sheet;
mod text;
mod verdict;
mod verdicts;

pub use json::json;
pub use markdown::markdown;
pub use sheet::{Block, FloorLine, Line, Sheet};
pub use text::text;
pub use verdict::{Limit, limits};
pub use verdicts::{ENOUGH, verdicts};
