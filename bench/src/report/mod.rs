//! The report: aligned text, Markdown, JSON, or a file of `bench/results`.
//!
//! `sheet` turns results into words and numbers once; `layout` and `data` only write them.

mod data;
mod layout;
mod sheet;
mod verdict;
mod words;

pub use data::{records, save, tables, write_page};
pub use layout::report;
pub use sheet::{Block, Line, Sheet};
pub use verdict::{ENOUGH, Limit, limits, verdicts};
