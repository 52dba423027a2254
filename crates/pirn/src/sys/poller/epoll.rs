//! Linux: epoll, edge-triggered, and an eventfd to end a wait.
//!
//! The eventfd is never read: each write to it is an edge, so it ends one wait.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::Event;
use crate::shim;
use crate::sys::{Process, calls};

pub(crate) type RawSource = RawFd;

/// Whether events report that a side is closed.
pub(crate) const REPORTS_CLOSED: bool = true;

/// The most events in one fetch: 3 KiB. Arbitrary.
const BATCH: u16 = 256;

/// The token of the eventfd, which no source has.
const BELL: u64 = u64::MAX;

#[derive(Debug)]
pub(crate) struct Poller {
    epoll: OwnedFd,
    bell: OwnedFd,
    /// The process that made it. A child of `fork` has the same descriptors.
    process: Process,
}

/// Room for a batch of events, allocated at its first use.
#[derive(Default)]
pub(crate) struct Events {
    raw: Vec<libc::epoll_event>,
}

impl Events {
    pub(crate) const fn new() -> Events {
        Events { raw: Vec::new() }
    }

    pub(crate) fn clear(&mut self) {
        self.raw.clear();
    }

    /// Returns whether a wake was fetched with them.
    pub(crate) fn may_have_rung(&self) -> bool {
        self.raw.iter().any(|event| event.u64 == BELL)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Event> {
        self.raw
            .iter()
            .filter(|event| event.u64 != BELL)
            .map(|event| {
                let has = |bits: i32| event.events & bits.cast_unsigned() != 0;
                let broken = has(libc::EPOLLHUP | libc::EPOLLERR);
                Event {
                    token: event.u64,
                    readable: has(libc::EPOLLIN | libc::EPOLLPRI | libc::EPOLLRDHUP)
                        || broken,
                    writable: has(libc::EPOLLOUT) || broken,
                    urgent: has(libc::EPOLLPRI),
                    read_closed: has(libc::EPOLLRDHUP | libc::EPOLLHUP),
                    write_closed: has(libc::EPOLLHUP),
                }
            })
    }
}

impl Poller {
    /// # Errors
    /// Too many descriptors, or no memory.
    pub(crate) fn new() -> io::Result<Poller> {
        let epoll = calls::epoll_create()?;
        let bell = calls::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK)?;
        let poller = Poller {
            epoll,
            bell,
            process: Process::this(),
        };
        poller.control(
            libc::EPOLL_CTL_ADD,
            poller.bell.as_raw_fd(),
            libc::EPOLLIN,
            BELL,
        )?;
        Ok(poller)
    }

    pub(crate) fn add(&self, source: RawSource, token: u64) -> io::Result<()> {
        let interest = libc::EPOLLIN | libc::EPOLLPRI | libc::EPOLLOUT | libc::EPOLLRDHUP;
        match self.control(libc::EPOLL_CTL_ADD, source, interest, token) {
            // A call of libc has waited for it (`rearm`) before it became a socket of `net`.
            Err(error) if error.raw_os_error() == Some(libc::EEXIST) => {
                self.remove(source);
                self.control(libc::EPOLL_CTL_ADD, source, interest, token)
            }
            added => added,
        }
    }

    /// Reports the readiness of a source for reads and writes once more, and later changes of it.
    /// Adds it if the system has removed it, since its descriptor was closed. Reports no more than
    /// is asked for: each call would report it again.
    ///
    /// # Errors
    /// The error of the system.
    pub(crate) fn rearm(
        &self,
        source: RawSource,
        token: u64,
        (reads, writes): (bool, bool),
    ) -> io::Result<()> {
        let mut interest = 0;
        if reads {
            interest |= libc::EPOLLIN;
        }
        if writes {
            interest |= libc::EPOLLOUT;
        }
        match self.control(libc::EPOLL_CTL_MOD, source, interest, token) {
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => {
                self.control(libc::EPOLL_CTL_ADD, source, interest, token)
            }
            rearmed => rearmed,
        }
    }

    /// Removes a source; in a child of `fork` it stays, since it is the parent's.
    pub(crate) fn remove(&self, source: RawSource) {
        if !self.process.is_this() {
            return;
        }
        // Failure: the owner of the descriptor has closed it unnoticed, which has removed it.
        let _ = self.control(libc::EPOLL_CTL_DEL, source, 0, 0);
    }

    pub(crate) fn poll(&self, events: &mut Events) {
        self.fetch(events, Some(Duration::ZERO));
    }

    pub(crate) fn wait(&self, events: &mut Events, until: Option<Instant>) {
        let left = until.map(|until| until.saturating_duration_since(shim::now()));
        self.fetch(events, left);
    }

    pub(crate) fn wake(&self) {
        // It can only fail by an overflow of the counter, after 2^64 writes.
        calls::write(self.bell.as_fd(), &1_u64.to_ne_bytes());
    }

    /// Returns the descriptor that ends a wait when it is written to.
    #[cfg(feature = "io_uring")]
    pub(super) fn bell(&self) -> RawFd {
        self.bell.as_raw_fd()
    }

    fn control(
        &self,
        operation: i32,
        source: RawSource,
        interest: i32,
        token: u64,
    ) -> io::Result<()> {
        let event = libc::epoll_event {
            events: (interest | libc::EPOLLET).cast_unsigned(),
            u64: token,
        };
        calls::epoll_ctl(self.epoll.as_fd(), operation, source, event)
    }

    fn fetch(&self, events: &mut Events, left: Option<Duration>) {
        // A failure (EINTR) is treated as no event.
        let _ = wait(self.epoll.as_fd(), &mut events.raw, left);
    }
}

/// `epoll_pwait2`, which counts nanoseconds, is missing: Linux before 5.11.
static COARSE: AtomicBool = AtomicBool::new(false);

fn wait(
    epoll: BorrowedFd<'_>,
    events: &mut Vec<libc::epoll_event>,
    left: Option<Duration>,
) -> io::Result<()> {
    let fine = left.filter(|left| !left.is_zero() && !COARSE.load(Ordering::Relaxed));
    if let Some(left) = fine {
        let done = calls::epoll_pwait2(epoll, events, BATCH, left);
        let error = done.as_ref().err().and_then(io::Error::raw_os_error);
        // EPERM: a filter that does not know the call.
        if !matches!(error, Some(libc::ENOSYS | libc::EPERM)) {
            return done;
        }
        COARSE.store(true, Ordering::Relaxed);
    }
    // Rounded up, so that a caller that waits for a moment does not return repeatedly before it.
    let millis = |left: Duration| left.as_nanos().div_ceil(1_000_000);
    let millis = left.map_or(-1, |left| i32::try_from(millis(left)).unwrap_or(i32::MAX));
    calls::epoll_wait(epoll, events, BATCH, millis)
}
