//! The records of descriptors: the fibers that wait for each number.
//!
//! A descriptor belongs to the program. Any thread may close it, and its number may stand for
//! another object then. So a record belongs to a number, not to an object, and each wait tells the
//! system anew what it waits for.
//!
//! A wait that was under way when the number was closed by [`end`] returns `EBADF` and does not try
//! again. So the call does not touch the object that the number stands for next.

use std::ffi::c_int;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use pirn::Interrupt;
use pirn::dev::hooks::{Interest, Known, Waiters};
use pirn::sync::Mutex;

use crate::region::{is_own_memory, is_own_process};

/// The records of one chunk.
const CHUNK: usize = 1_024;
/// The number of chunks: up to 1,048,576 descriptors, which is the most that Linux gives a process
/// by default (`fs.nr_open`).
const CHUNKS: usize = 1_024;

static RECORDS: [OnceLock<Box<[OnceLock<Record>]>>; CHUNKS] =
    [const { OnceLock::new() }; CHUNKS];

/// The record of one number.
pub(crate) struct Record {
    fd: c_int,
    waiters: Waiters,
    /// How often the number was closed.
    closed: AtomicU32,
    /// Held while a connection is accepted, so that no other fiber takes it in between.
    pub(crate) accepting: Mutex<()>,
}

/// What was known before an attempt.
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
    let record = Record {
        fd,
        waiters: Waiters::new().ok()?,
        closed: AtomicU32::new(0),
        accepting: Mutex::new(()),
    };
    Some(slot.get_or_init(|| record))
}

/// Wakes the fibers that wait for the number: it is about to be closed.
pub(crate) fn end(fd: c_int) {
    let known = usize::try_from(fd).ok().and_then(|number| {
        let chunk = RECORDS.get(number / CHUNK)?.get()?;
        chunk[number % CHUNK].get()
    });
    if let Some(record) = known
        && is_own_memory()
    {
        // ORDERING: Release, with the Acquire in `wait`: a fiber that was woken sees it.
        record.closed.fetch_add(1, Ordering::Release);
        record.waiters.abandon();
    }
}

impl Seen {
    /// Returns false if an attempt would fail.
    pub(crate) fn is_ready(self, interest: Interest) -> bool {
        self.known.is_ready(interest)
    }
}

impl Record {
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
        seen: Seen,
        interest: Interest,
        until: Option<Instant>,
    ) -> Result<(), Ended> {
        if !is_own_process() {
            return Err(Ended::Unwatchable);
        }
        let waited = self.waiters.wait(self.fd, seen.known, interest, until);
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
