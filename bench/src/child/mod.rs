//! The child's side: one case of one peer, given by arguments, answered by plain lines.
//!
//! The parent starts the program as `compare child PEER CASE WORKERS N WARMUPS ROUNDS
//! STACK`. The answer is one sample a line, `SERIES NUMBER`, or `skip REASON` when the
//! peer has no such case. The programs of other languages take the same arguments after
//! the peer's name and answer in the same format.

mod compute;
mod laps;
mod latency;
mod outcome;
mod usage;

pub use crate::base::sample;
pub use crate::case::Job;
pub use compute::{calibrate, compute};
pub use laps::Laps;
pub use latency::{Latency, Stamp, each_due, rest_for, spin_for};
pub use outcome::{Outcome, Skip, end, fail};
pub use usage::{
    memory, memory_of, peak_mib, processor_time, processor_time_of, report_parked,
    thread_time,
};
