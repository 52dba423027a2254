//! Connections that only wait: how much of the server's memory each of them takes.

use std::thread;
use std::time::Duration;

use crate::net::limits::raise_descriptors;

use super::drive::connect;
use super::memory::resident;
use super::{Failure, Load};

/// Descriptors that a server or this process needs besides those of the connections, with
/// plenty to spare.
const SPARE: usize = 200;

/// The kernel gathers resident pages by thread and adds them up later, and servers give back
/// what they needed to take connections in.
const REST: Duration = Duration::from_millis(200);

/// Opens as many connections as `load` asks for and the limit on descriptors allows, has
/// each answered once, and counts what the server then has more than before.
///
/// # Errors
/// The first thing that was wrong.
pub(super) fn hold(load: &Load) -> Result<Vec<(&'static str, f64)>, Failure> {
    let limit = raise_descriptors().map_err(Failure::at("limit on descriptors"))?;
    let count = load.connections.min(limit.saturating_sub(SPARE));
    let server = load.server.unwrap_or_else(std::process::id);
    let memory = || {
        thread::sleep(REST);
        resident(server).map_err(Failure::at("memory of the server"))
    };
    // What the first connection makes once for all is no part of what each takes.
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
