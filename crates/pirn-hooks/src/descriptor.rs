//! The records of descriptors: the fibers that wait for each number.
//!
//! A descriptor belongs to the program. Any thread may close it, and its number may stand for
//! another object then. So a record belongs to a number, not to an object, and each wait rearms the
//! registration of the number.
//!
//! A wait that was under way when the number was closed by [`ending`] returns `EBADF` and does not
//! try again. So the call does not touch the object that the number stands for next.

use std::ffi::{c_int, c_uint};
use std::io;
use std::process;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use pirn::Interrupt;
use pirn::dev::hooks::{Interest, Known, Waiters, is_surely_own_process};
use pirn::time::now;

use crate::kernel::{Outcome, keep_errno};
use crate::signals::is_in_handler;
use crate::stats::Function;

/// How long a fiber waits for a number that is being closed.
const MOMENT: Duration = Duration::from_millis(1);

/// The records of one chunk.
const CHUNK: usize = 1_024;
/// The number of chunks: up to 1,048,576 descriptors, which is the most that Linux gives a process
/// by default (`fs.nr_open`).
const CHUNKS: usize = 1_024;

static RECORDS: [OnceLock<Box<[OnceLock<Record>]>>; CHUNKS] =
    [const { OnceLock::new() }; CHUNKS];

/// The process that made the first record. A child of `fork` shares the epoll instances, and one of
/// `vfork` the memory, too.
static PROCESS: OnceLock<u32> = OnceLock::new();

/// The record of one number.
pub(crate) struct Record {
    fd: c_int,
    waiters: Waiters,
    /// How often the number was closed.
    closed: AtomicU32,
    /// Calls that are closing it.
    ending: AtomicU32,
}

/// The readiness, and the count of closes, before an attempt.
#[derive(Copy, Clone)]
pub(crate) struct Seen {
    known: Known,
    closed: u32,
}

/// Why a wait ended without an attempt being due.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Its own limit is over.
    TimedOut,
    /// The call fails with this error.
    Failed(c_int),
    /// The system cannot watch the descriptor, or the process is a child.
    Unwatchable,
}

/// Returns the record of the number; `None` if it is none of a descriptor, or above the limit.
pub(crate) fn record(fd: c_int) -> Option<&'static Record> {
    let number = usize::try_from(fd).ok()?;
    let chunk = RECORDS.get(number / CHUNK)?;
    let chunk = chunk.get_or_init(|| (0..CHUNK).map(|_| OnceLock::new()).collect());
    let slot = &chunk[number % CHUNK];
    if let Some(record) = slot.get() {
        return Some(record);
    }
    PROCESS.get_or_init(process::id);
    let record = Record {
        fd,
        waiters: Waiters::new().ok()?,
        closed: AtomicU32::new(0),
        ending: AtomicU32::new(0),
    };
    Some(slot.get_or_init(|| record))
}

/// Returns false in children that share or copy the memory.
fn is_own_process() -> bool {
    PROCESS.get().is_none_or(|own| *own == process::id())
}

/// Returns the record of the number, if it has one.
fn known(fd: c_int) -> Option<&'static Record> {
    let number = usize::try_from(fd).ok()?;
    let chunk = RECORDS.get(number / CHUNK)?.get()?;
    chunk[number % CHUNK].get()
}

/// Calls `close`, which ends the number, and wakes the fibers that wait for it.
pub(crate) fn ending(fd: c_int, close: impl FnOnce() -> Outcome) -> Outcome {
    let Some(record) = known(fd).filter(|_| is_own_process()) else {
        return close();
    };
    // LIVENESS: from before the fibers are woken until the number is closed, none waits for it.
    // ORDERING: SeqCst, with the load in `wait`.
    record.ending.fetch_add(1, Ordering::SeqCst);
    keep_errno(|| record.end());
    let closed = close();
    record.ending.fetch_sub(1, Ordering::SeqCst);
    closed
}

/// As [`ending`], for all numbers of the range.
pub(crate) fn ending_range(
    first: c_uint,
    last: c_uint,
    close: impl FnOnce() -> Outcome,
) -> Outcome {
    let all = first..=last.min((CHUNK * CHUNKS) as c_uint - 1);
    let known = all.filter_map(|fd| known(fd as c_int));
    let records: Vec<_> = known.filter(|_| is_own_process()).collect();
    for record in &records {
        record.ending.fetch_add(1, Ordering::SeqCst);
        keep_errno(|| record.end());
    }
    let closed = close();
    for record in records {
        record.ending.fetch_sub(1, Ordering::SeqCst);
    }
    closed
}

impl Seen {
    /// Returns false if an attempt would fail.
    pub(crate) fn is_ready(self, interest: Interest) -> bool {
        self.known.is_ready(interest)
    }
}

impl Record {
    /// Wakes the fibers that wait. In a signal handler they cannot be woken: they notice when
    /// another event wakes them.
    fn end(&self) {
        // ORDERING: Release, with the Acquire in `wait`: a fiber that was woken sees it.
        self.closed.fetch_add(1, Ordering::Release);
        if !is_in_handler() {
            self.waiters.abandon();
        }
    }

    /// Records that an attempt made after `seen` has taken all there was.
    pub(crate) fn set_emptied(&self, seen: Seen, interest: Interest) {
        self.waiters.set_emptied(seen.known, interest);
    }

    pub(crate) fn look(&self) -> Seen {
        Seen {
            known: self.waiters.look(),
            closed: self.closed.load(Ordering::Acquire),
        }
    }

    /// Parks the fiber after an attempt that has failed since `seen`. `Ok`: it is time for the next
    /// attempt.
    #[track_caller]
    pub(crate) fn wait(
        &self,
        function: Function,
        (seen, interest): (Seen, Interest),
        until: Option<Instant>,
    ) -> Result<(), Ended> {
        function.count_park();
        if !is_surely_own_process() {
            return Err(Ended::Unwatchable);
        }
        if self.ending.load(Ordering::SeqCst) > 0 {
            if until.is_some_and(|until| now() >= until) {
                return Err(Ended::TimedOut);
            }
            let failed = |interrupt| Ended::Failed(number_of(interrupt));
            return pirn::sleep(MOMENT).map_err(failed);
        }
        let waited =
            self.waiters
                .wait((self.fd, function.name()), seen.known, interest, until);
        if self.closed.load(Ordering::Acquire) != seen.closed {
            return Err(Ended::Failed(libc::EBADF));
        }
        waited.map_err(|error| match Interrupt::of(&error) {
            Some(interrupt) => Ended::Failed(number_of(interrupt)),
            None if error.kind() == io::ErrorKind::TimedOut => Ended::TimedOut,
            None => Ended::Unwatchable,
        })
    }
}

/// Returns the error of a call that was interrupted. Never `EINTR`, on which loops of `std` try
/// again.
pub(crate) fn number_of(interrupt: Interrupt) -> c_int {
    match interrupt {
        Interrupt::TimedOut => libc::ETIMEDOUT,
        _ => libc::ECANCELED,
    }
}
