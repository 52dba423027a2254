//! The memory of another process, as the kernel counts it.

use std::{fs, io};

/// Resident memory and page tables, in bytes. What the kernel holds for sockets is not in it.
pub(super) fn resident(process: u32) -> io::Result<u64> {
    let rollup = fs::read_to_string(format!("/proc/{process}/smaps_rollup"))?;
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let kib = field(&rollup, "Rss:") + field(&status, "VmPTE:");
    Ok(kib << 10)
}

/// The KiB that follow `name`, 0 if there is no such line.
fn field(text: &str, name: &str) -> u64 {
    text.lines()
        .find_map(|line| line.strip_prefix(name))
        .and_then(|rest| rest.trim().split(' ').next())
        .and_then(|number| number.parse().ok())
        .unwrap_or(0)
}
