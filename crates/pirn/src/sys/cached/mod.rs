//! Reading what the system has of a file in memory, without waiting for a disk.
//!
//! The door that picks how: a flag of the call on Linux; elsewhere nobody tells, so nothing is
//! read.

mod found;
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "preadv2")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod none;

pub(crate) use found::{Cached, Rest};
#[cfg(target_os = "linux")]
pub(crate) use linux::{may_be_cached, read_cached};
#[cfg(not(target_os = "linux"))]
pub(crate) use none::{may_be_cached, read_cached};
