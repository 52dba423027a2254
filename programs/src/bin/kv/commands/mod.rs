//! The commands, by family.
//!
//! * `call`: runs, queues or refuses a request.
//! * `table`: all commands, with the number of their arguments, their keys and their kind.
//! * `strings`, `numbers`, `keys`, `expiry`: commands on keys.
//! * `transaction`: `MULTI` to `EXEC`, and watched keys.
//! * `client`, `server`: the connection and its settings; reports.
//! * `refused`: the words of Redis for requests that are refused.

mod call;
mod client;
mod describe;
mod expiry;
mod keys;
mod numbers;
mod refused;
mod scan;
mod server;
mod set;
mod strings;
mod table;
mod transaction;

pub(crate) use call::{Ran, run};
pub(crate) use table::Command;
