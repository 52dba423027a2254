//! epoll, level-triggered, for one thread, and the limit on descriptors: for the load and the
//! servers.

use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::ptr;
use std::time::Duration;

/// A set of descriptors, each with a number that its events carry.
#[derive(Debug)]
pub(super) struct Poll {
    epoll: OwnedFd,
    ready: Vec<libc::epoll_event>,
}

/// A descriptor is awaited to be readable.
pub(super) const READ: i32 = libc::EPOLLIN;
/// A descriptor is awaited to be writable.
pub(super) const WRITE: i32 = libc::EPOLLOUT;

impl Poll {
    /// Returns an empty set that reports at most `capacity` events at once.
    pub(super) fn new(capacity: usize) -> io::Result<Poll> {
        // SAFETY: makes a new descriptor and touches no memory.
        let epoll = checked(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        Ok(Poll {
            // SAFETY: the descriptor is new and has no other owner.
            epoll: unsafe { OwnedFd::from_raw_fd(epoll) },
            ready: vec![libc::epoll_event { events: 0, u64: 0 }; capacity],
        })
    }

    /// Adds a descriptor. It leaves the set when it is closed.
    pub(super) fn add(&self, what: impl AsFd, number: usize) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, what, number, READ)
    }

    /// Changes the awaited readiness, [`READ`], [`WRITE`] or both.
    pub(super) fn change(
        &self,
        what: impl AsFd,
        number: usize,
        events: i32,
    ) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, what, number, events)
    }

    /// Waits, at most that long, and puts the numbers of all ready descriptors into `numbers`.
    pub(super) fn wait(
        &mut self,
        limit: Option<Duration>,
        numbers: &mut Vec<usize>,
    ) -> io::Result<()> {
        numbers.clear();
        let capacity = self.ready.len() as i32;
        let limit = limit.map_or(-1, |limit| limit.as_millis() as i32 + 1);
        // SAFETY: `ready` has space for the number of events passed to the call.
        let count = unsafe {
            libc::epoll_wait(
                self.epoll.as_raw_fd(),
                self.ready.as_mut_ptr(),
                capacity,
                limit,
            )
        };
        self.collect(count, numbers)
    }

    /// As [`Poll::wait`], with a limit to the nanosecond.
    pub(super) fn wait_precisely(
        &mut self,
        limit: Duration,
        numbers: &mut Vec<usize>,
    ) -> io::Result<()> {
        numbers.clear();
        let limit = libc::timespec {
            tv_sec: limit.as_secs() as libc::time_t,
            tv_nsec: limit.subsec_nanos().into(),
        };
        // SAFETY: as above; `limit` is alive for the call, and there is no mask of signals.
        let count = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.epoll.as_raw_fd(),
                self.ready.as_mut_ptr(),
                self.ready.len() as i32,
                &limit,
                ptr::null::<libc::sigset_t>(),
                0,
            )
        };
        self.collect(count as i32, numbers)
    }

    /// Puts the numbers of the returned events into `numbers`.
    fn collect(&self, count: i32, numbers: &mut Vec<usize>) -> io::Result<()> {
        let count = match checked(count) {
            Ok(count) => count as usize,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            Err(error) => return Err(error),
        };
        numbers.extend(self.ready[..count].iter().map(|event| event.u64 as usize));
        Ok(())
    }

    fn control(
        &self,
        operation: i32,
        what: impl AsFd,
        number: usize,
        events: i32,
    ) -> io::Result<()> {
        let mut event = libc::epoll_event {
            events: events as u32,
            u64: number as u64,
        };
        let what = what.as_fd().as_raw_fd();
        let epoll = self.epoll.as_raw_fd();
        // SAFETY: both descriptors are open, `event` is alive for the call.
        checked(unsafe { libc::epoll_ctl(epoll, operation, what, &mut event) }).map(drop)
    }
}

fn checked(result: i32) -> io::Result<i32> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// Raises the limit as far as the system permits, and returns it.
pub(super) fn raise_descriptors() -> io::Result<usize> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is a place for the answer.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) } != 0 {
        return Err(io::Error::last_os_error());
    }
    limit.rlim_cur = limit.rlim_max;
    // SAFETY: reads `limit`, which is alive for the call.
    if unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(limit.rlim_max as usize)
}
