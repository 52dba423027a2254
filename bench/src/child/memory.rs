//! The memory of this process, as the kernel counts it.

use std::fs;
use std::time::Duration;

use super::{end, sample};

/// Resident memory and page tables at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Footprint {
    bytes: u64,
}

impl Footprint {
    /// Returns the present memory of this process.
    pub fn now() -> Footprint {
        let status = status();
        Footprint {
            bytes: (field(&status, "VmRSS:") + field(&status, "VmPTE:")) << 10,
        }
    }
}

/// Prints the growth since `before` for each of `fibers` as `bytes` and ends the process:
/// unwinding a million parked fibers is not part of the measurement.
pub fn report_parked(before: Footprint, fibers: u64) -> ! {
    // The kernel counts resident pages per thread and adds them up a little later.
    std::thread::sleep(Duration::from_millis(20));
    let grown = Footprint::now().bytes.saturating_sub(before.bytes);
    sample("bytes", grown as f64 / fibers as f64);
    end()
}

/// Returns the peak memory of this process, in MiB.
pub fn peak_mib() -> f64 {
    field(&status(), "VmHWM:") as f64 / 1024.0
}

fn status() -> String {
    fs::read_to_string("/proc/self/status").expect("procfs is mounted")
}

/// Returns the KiB after `name`, 0 if there is no such line.
fn field(status: &str, name: &str) -> u64 {
    status
        .lines()
        .find_map(|line| line.strip_prefix(name))
        .and_then(|rest| rest.trim().split(' ').next())
        .and_then(|number| number.parse().ok())
        .unwrap_or(0)
}
