//! Idle connections: the server's memory for each of them.

use std::thread;
use std::time::Duration;

use crate::net::limits::raise_descriptors;

use super::drive::connect;
use super::memory::resident;
use super::{Failure, Load};

/// Descriptors that a server or this process needs besides those of the connections, with
/// plenty to spare.
const SPARE: usize = 200;

/// The kernel counts resident pages by thread and adds them up later, and servers release the
/// memory for accepting.
const REST: Duration = Duration::from_millis(200);

/// Opens the connections of `load`, up to the limit on descriptors, sends one request on each, and
/// measures the growth of the server's memory.
///
/// # Errors
/// The first error.
pub(super) fn hold(load: &Load) -> Result<Vec<(&'static str, f64)>, Failure> {
    let limit = raise_descriptors().map_err(Failure::at("limit on descriptors"))?;
    let count = load.connections.min(limit.saturating_sub(SPARE));
    let server = load.server.unwrap_or_else(std::process::id);
    let memory = || {
        thread::sleep(REST);
        resident(server).map_err(Failure::at("memory of the server"))
    };
    // One-time allocations of the first connection do not count for each.
    drop(connect(load, 1)?);
    let before = memory()?;
    let connections = connect(load, count)?;
    let grown = memory()?.saturating_sub(before);
    drop(connections);
    Ok(vec![
        ("bytes", grown as f64 / count as f64),
        ("connections", count as f64),
    ])
}
