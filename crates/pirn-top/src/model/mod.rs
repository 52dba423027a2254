//! What is on the screen, and what each key does. Knows no terminal and no socket: answers come
//! in, [`Wish`]es go out.

mod app;
mod filter;
mod keys;
mod order;

pub use app::{App, Detail, Page};
pub use filter::Filter;
pub use keys::Wish;
pub use order::{Column, Order};
