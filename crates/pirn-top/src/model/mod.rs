//! The contents of the screen, and the action of each key. Knows no terminal and no socket: answers
//! come in, [`Wish`]es go out.

mod app;
mod filter;
mod keys;
mod order;

pub use app::{App, Detail, Page};
pub use filter::Filter;
pub use keys::Wish;
pub use order::{Column, Order};
