//! The measurements: the cases, their rows, and the targets.
//!
//! This module runs nothing. `table` is the one list that the harness, the report and the command
//! line read; a new case starts there.

mod bound;
mod fork;
mod fork_rows;
mod fork_table;
mod kind;
mod net;
mod net_rows;
mod net_table;
mod row;
mod rows;
mod table;
mod tail;
mod tail_rows;
mod tail_table;
mod talk;
mod talk_rows;
mod talk_table;

pub use bound::{Bound, Stat};
pub use fork::Fork;
pub use kind::{Case, Kind};
pub use net::Net;
pub use row::{Row, Unit};
pub use table::{find, table};
pub use tail::{Hog, Order, Tail};
pub use talk::{Place, Shape, Talk};
