//! Reading the part of a file that the system has in memory, without waiting for a disk.
//!
//! Selects the implementation: a flag of the call on Linux. Other systems do not report whether a
//! read would wait, so nothing is read there.

mod found;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod none;

pub(crate) use found::{Cached, Rest};
#[cfg(target_os = "linux")]
pub(crate) use linux::{may_be_cached, read_cached};
#[cfg(not(target_os = "linux"))]
pub(crate) use none::{may_be_cached, read_cached};
