//! Linux: epoll, edge-triggered, and an eventfd to end a wait.
//!
//! The eventfd is never read: each write to it is an edge, so it ends one wait.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::Event;
use crate::shim;

pub(crate) type RawSource = RawFd;

/// Whether events report that a side is closed.
pub(crate) const TELLS_CLOSED: bool = true;

/// The most events in one fetch: 3 KiB. Arbitrary.
const BATCH: usize = 256;

/// The token of the eventfd, which no source has.
const BELL: u64 = u64::MAX;

#[derive(Debug)]
pub(crate) struct Poller {
    epoll: OwnedFd,
    bell: OwnedFd,
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
        // SAFETY: a plain call.
        let epoll = owned(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        let flags = libc::EFD_CLOEXEC | libc::EFD_NONBLOCK;
        // SAFETY: as above.
        let bell = owned(unsafe { libc::eventfd(0, flags) })?;
        let poller = Poller { epoll, bell };
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
        self.control(libc::EPOLL_CTL_ADD, source, interest, token)
    }

    pub(crate) fn remove(&self, source: RawSource) {
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
        let one = 1_u64;
        // SAFETY: the eight bytes exist. The call can only fail by an overflow of the counter,
        // after 2^64 writes.
        unsafe {
            libc::write(self.bell.as_raw_fd(), (&raw const one).cast(), 8);
        }
    }

    /// Returns the descriptor that ends a wait when it is written to.
    #[cfg(feature = "io_uring")]
    pub(super) fn bell(&self) -> RawFd {
        self.bell.as_raw_fd()
    }

    fn control(
        &self,
        operation: i32,
        fd: RawFd,
        interest: i32,
        token: u64,
    ) -> io::Result<()> {
        let mut event = libc::epoll_event {
            events: (interest | libc::EPOLLET).cast_unsigned(),
            u64: token,
        };
        // SAFETY: the event is read only.
        let result = unsafe {
            libc::epoll_ctl(self.epoll.as_raw_fd(), operation, fd, &raw mut event)
        };
        check(result).map(drop)
    }

    fn fetch(&self, events: &mut Events, left: Option<Duration>) {
        events.raw.reserve(BATCH);
        // SAFETY: there is room for a batch.
        let n = unsafe { wait(self.epoll.as_raw_fd(), events.raw.as_mut_ptr(), left) };
        // A failure (EINTR) is treated as no event.
        let n = usize::try_from(n).unwrap_or(0);
        // SAFETY: the kernel has initialized this number of events.
        unsafe { events.raw.set_len(n) };
    }
}

/// `epoll_pwait2`, which counts nanoseconds, is missing: Linux before 5.11.
static COARSE: AtomicBool = AtomicBool::new(false);

/// A time as `epoll_pwait2` takes it: with 64 bits even where `libc::timespec` has 32.
#[repr(C)]
struct KernelTime {
    seconds: i64,
    nanos: i64,
}

/// # Safety
/// There is room for a batch of events.
unsafe fn wait(
    epoll: RawFd,
    events: *mut libc::epoll_event,
    left: Option<Duration>,
) -> i32 {
    let most = BATCH as i32;
    let fine = left.filter(|left| !left.is_zero() && !COARSE.load(Ordering::Relaxed));
    if let Some(left) = fine {
        let spec = KernelTime {
            seconds: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            nanos: i64::from(left.subsec_nanos()),
        };
        let mask = ptr::null::<libc::sigset_t>();
        let spec = &raw const spec;
        // SAFETY: the caller's promise; the timeout is read only.
        let n = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                epoll,
                events,
                most,
                spec,
                mask,
                0_usize,
            )
        };
        let error = io::Error::last_os_error().raw_os_error();
        // EPERM: a filter that does not know the call.
        if n >= 0 || !matches!(error, Some(libc::ENOSYS | libc::EPERM)) {
            return n as i32;
        }
        COARSE.store(true, Ordering::Relaxed);
    }
    // Rounded up, so that a caller that waits for a moment does not return repeatedly before it.
    let millis = |left: Duration| left.as_nanos().div_ceil(1_000_000);
    let millis = left.map_or(-1, |left| i32::try_from(millis(left)).unwrap_or(i32::MAX));
    // SAFETY: the caller's promise.
    unsafe { libc::epoll_wait(epoll, events, most, millis) }
}

/// Takes a new descriptor, which no other code owns.
fn owned(result: i32) -> io::Result<OwnedFd> {
    let descriptor = check(result)?;
    // SAFETY: created just now.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

fn check(result: i32) -> io::Result<i32> {
    match result {
        -1 => Err(io::Error::last_os_error()),
        result => Ok(result),
    }
}
