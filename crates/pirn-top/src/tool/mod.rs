//! The program: its command line, the terminal, and the loop between keys and answers.

mod args;
mod asker;
mod hangup;
mod interactive;
mod once;
mod program;
mod signals;
mod terminal;

pub use once::print;
pub use program::{look, main};
pub use terminal::Screen;
