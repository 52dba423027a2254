//! The memory of another process, as the kernel counts it.

use std::{fs, io};

/// Returns resident memory and page tables, in bytes, without the kernel's memory for sockets.
pub(super) fn resident(process: u32) -> io::Result<u64> {
    let rollup = fs::read_to_string(format!("/proc/{process}/smaps_rollup"))?;
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let kib = field(&rollup, "Rss:") + field(&status, "VmPTE:");
    Ok(kib << 10)
}

/// Returns the KiB after `name`, 0 if there is no such line.
fn field(text: &str, name: &str) -> u64 {
    text.lines()
        .find_map(|line| line.strip_prefix(name))
        .and_then(|rest| rest.trim().split(' ').next())
        .and_then(|number| number.parse().ok())
        .unwrap_or(0)
}
