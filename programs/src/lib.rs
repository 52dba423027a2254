//! What the programs have in common: the life of a server, the lines on standard error, and the words
//! of a failure.
//!
//! Each program is in `src/bin`, and says at its top what it does and how. This library owns the
//! rest: [`serve`] is the life of a server from its listener to its last connection, [`log`](mod@log)
//! writes lines without keeping a worker, [`limits`] reads limits from the command line, [`exit`] turns
//! how a program ended into what its user sees.

mod exit;
mod limits;
mod log;
mod serve;

pub use exit::exit;
pub use limits::{CONNECTIONS, seconds};
pub use log::log;
pub use serve::{Server, Stop, hang_up};
