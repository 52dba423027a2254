//! What the programs have in common: the end of a server, and the words of a failure.
//!
//! Each program is in `src/bin`, and says at its top what it does and how. This library owns the
//! rest: [`serve`] is the life of a server from its listener to its last connection, [`exit`]
//! turns how a program ended into what its user sees.

mod exit;
mod serve;

pub use exit::exit;
pub use serve::{Server, Stop, hang_up};
