//! Processor time and memory, as the kernel counts them.

use std::time::Duration;
use std::{fs, io, thread};

use super::{end, sample};

/// Returns the processor time of the process so far, in user and in system mode.
pub fn processor_time() -> Duration {
    read(libc::CLOCK_PROCESS_CPUTIME_ID).expect("the process may ask about itself")
}

/// Returns the processor time of the calling thread so far, in user and in system mode.
pub fn thread_time() -> Duration {
    read(libc::CLOCK_THREAD_CPUTIME_ID).expect("the thread may ask about itself")
}

/// Returns the processor time of another process so far, of all its threads, also of those that
/// have ended.
///
/// # Errors
/// Those of the system.
pub fn processor_time_of(process: u32) -> io::Result<Duration> {
    let mut clock = 0;
    // SAFETY: `clock` is a place for the answer.
    match unsafe { libc::clock_getcpuclockid(process as i32, &mut clock) } {
        0 => read(clock),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// To the nanosecond: `getrusage` lags behind by up to a tick.
fn read(clock: libc::clockid_t) -> io::Result<Duration> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is alive for the call.
    match unsafe { libc::clock_gettime(clock, &mut time) } {
        0 => Ok(Duration::new(time.tv_sec as u64, time.tv_nsec as u32)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Returns the resident memory and page tables of this process, in bytes.
pub fn memory() -> u64 {
    let status = status("self").expect("procfs is mounted");
    (field(&status, "VmRSS:") + field(&status, "VmPTE:")) << 10
}

/// Prints the growth since `before` for each of `fibers` as `bytes` and ends the process:
/// unwinding a million parked fibers is not part of the measurement.
pub fn report_parked(before: u64, fibers: u64) -> ! {
    // The kernel counts resident pages per thread and adds them up a little later.
    thread::sleep(Duration::from_millis(20));
    let grown = memory().saturating_sub(before);
    sample("bytes", grown as f64 / fibers as f64);
    end()
}

/// Returns the peak memory of this process, in MiB.
pub fn peak_mib() -> f64 {
    field(&status("self").expect("procfs is mounted"), "VmHWM:") as f64 / 1024.0
}

/// Returns resident memory and page tables of another process, in bytes, without the kernel's
/// memory for sockets.
///
/// # Errors
/// Those of reading.
pub fn memory_of(process: u32) -> io::Result<u64> {
    let rollup = fs::read_to_string(format!("/proc/{process}/smaps_rollup"))?;
    let status = status(&process.to_string())?;
    Ok((field(&rollup, "Rss:") + field(&status, "VmPTE:")) << 10)
}

fn status(process: &str) -> io::Result<String> {
    fs::read_to_string(format!("/proc/{process}/status"))
}

/// Returns the KiB after `name`, 0 if there is no such line.
fn field(text: &str, name: &str) -> u64 {
    text.lines()
        .find_map(|line| line.strip_prefix(name))
        .and_then(|rest| rest.trim().split(' ').next())
        .and_then(|number| number.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::processor_time_of;

    #[test]
    fn time_that_this_process_computes_is_on_its_clock() {
        let now = || processor_time_of(std::process::id()).unwrap();
        let before = now();
        while now() == before {}
    }
}
