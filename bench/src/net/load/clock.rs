//! The processor time of another process, exact to the nanosecond: user and system, of all
//! its threads, also of those that have ended.

use std::time::Duration;
use std::{io, process};

use super::Failure;

/// The clocks of the server and of this process.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clocks {
    server: Option<ProcessClock>,
    own: ProcessClock,
}

/// Their values, or differences of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Used {
    /// The server, if its process was named.
    pub(super) server: Option<Duration>,
    /// This process.
    pub(super) own: Duration,
}

/// The clock of one process.
#[derive(Clone, Copy, Debug)]
struct ProcessClock(libc::clockid_t);

impl Clocks {
    pub(super) fn of(server: Option<u32>) -> Result<Clocks, Failure> {
        let clocks = || {
            Ok(Clocks {
                server: server.map(ProcessClock::of).transpose()?,
                own: ProcessClock::of(process::id())?,
            })
        };
        clocks().map_err(Failure::at("processor clock"))
    }

    pub(super) fn now(&self) -> Result<Used, Failure> {
        let now = || {
            Ok(Used {
                server: self.server.map(ProcessClock::now).transpose()?,
                own: self.own.now()?,
            })
        };
        now().map_err(Failure::at("processor clock"))
    }
}

impl Used {
    /// Returns the progress of the clocks since `before`.
    pub(super) fn since(self, before: Used) -> Used {
        let server = self.server.zip(before.server);
        Used {
            server: server.map(|(now, before)| now - before),
            own: self.own - before.own,
        }
    }
}

impl ProcessClock {
    /// Returns the clock of the process with this id.
    fn of(process: u32) -> io::Result<ProcessClock> {
        let mut clock = 0;
        // SAFETY: `clock` is a place for the answer.
        match unsafe { libc::clock_getcpuclockid(process as i32, &mut clock) } {
            0 => Ok(ProcessClock(clock)),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }

    /// Returns its time so far.
    fn now(self) -> io::Result<Duration> {
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: `time` is a place for the answer.
        if unsafe { libc::clock_gettime(self.0, &mut time) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::ProcessClock;

    #[test]
    fn time_that_this_process_computes_is_on_its_clock() {
        let clock = ProcessClock::of(std::process::id()).unwrap();
        let before = clock.now().unwrap();
        while clock.now().unwrap() == before {}
    }
}
