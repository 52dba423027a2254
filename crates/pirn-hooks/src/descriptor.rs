//! The records of descriptors: the fibers that wait for each number.
//!
//! A descriptor belongs to the program. Any thread may close it, and its number may stand for
//! another object then. So a record belongs to a number, not to an object, and each wait rearms the
//! registration of the number.
//!
//! A call that began before a close by [`ending`], and has to wait or to go on after it, returns
//! `EBADF`. So it does not touch the object that the number stands for next.

use std::ffi::{c_int, c_uint};
use std::io;
use std::process;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use pirn::Interrupt;
use pirn::dev::hooks::{Interest, Known, Number, NumberWait, is_surely_own_process};
use pirn::time::now;

use crate::kernel::{Outcome, error, keep_errno, set_error};
use crate::signals::is_in_handler;
use crate::stats::Function;

/// How long a fiber waits for a number that is being closed.
const MOMENT: Duration = Duration::from_millis(1);

/// The number of records in one chunk.
const CHUNK: usize = 1_024;
/// The number of chunks: up to 1,048,576 descriptors, which is the most that Linux gives a process
/// by default (`fs.nr_open`).
const CHUNKS: usize = 1_024;

/// The records of the first numbers. They exist from the beginning, so no close of these numbers is
/// missed. In a later chunk, a close is missed if the first call creates the chunk at the same
/// time.
static FIRST: [Record; CHUNK] = [const { Record::new() }; CHUNK];

static LATER: [OnceLock<Box<[Record]>>; CHUNKS - 1] =
    [const { OnceLock::new() }; CHUNKS - 1];

/// The process that first looked up a record. Its children must not use the records: a child of
/// `fork` shares the epoll instances, and a child of `vfork` also the memory.
static PROCESS: OnceLock<u32> = OnceLock::new();

/// The record of one number.
pub(crate) struct Record(Number);

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

/// What one call knows of its number: how often that had ended when the call began.
#[derive(Debug, Default, Copy, Clone)]
pub(crate) struct Call {
    ends_at_start: Option<u32>,
}

impl Call {
    /// Returns what is known before the next attempt of the call; `None` if the number has no
    /// record, or no source.
    ///
    /// # Errors
    /// `EBADF`: the number has ended since the call began.
    pub(crate) fn look(&mut self, fd: c_int) -> Result<Option<Known>, c_int> {
        let Some(record) = record(fd) else {
            return Ok(None);
        };
        let known = record.0.look().ok();
        let ends = known.map_or_else(|| record.0.ends(), Known::ends);
        self.compare(ends)?;
        Ok(known)
    }

    /// Checks that the number has not ended since the call began. For calls that do not wait by a
    /// source, such as those for locks of files.
    ///
    /// # Errors
    /// As [`look`](Self::look).
    pub(crate) fn check(&mut self, fd: c_int) -> Result<(), c_int> {
        record(fd).map_or(Ok(()), |record| self.compare(record.0.ends()))
    }

    fn compare(&mut self, ends: u32) -> Result<(), c_int> {
        match *self.ends_at_start.get_or_insert(ends) == ends {
            true => Ok(()),
            false => Err(libc::EBADF),
        }
    }
}

/// Returns the record of the number; `None` if it is negative or above the limit.
pub(crate) fn record(fd: c_int) -> Option<&'static Record> {
    let number = usize::try_from(fd).ok()?;
    PROCESS.get_or_init(process::id);
    let chunk = match (number / CHUNK).checked_sub(1) {
        None => &FIRST[..],
        Some(later) => {
            let new_chunk = || (0..CHUNK).map(|_| Record::new()).collect();
            LATER.get(later)?.get_or_init(new_chunk)
        }
    };
    Some(&chunk[number % CHUNK])
}

/// Returns false in children that share or copy the memory.
fn is_own_process() -> bool {
    PROCESS.get().is_none_or(|own| *own == process::id())
}

/// Returns the records of a chunk, if it has been created.
fn chunk(at: usize) -> Option<&'static [Record]> {
    match at.checked_sub(1) {
        None => Some(&FIRST),
        Some(later) => Some(LATER.get(later)?.get()?),
    }
}

/// Wakes the fibers that wait for the number, then calls `close`, which ends it.
pub(crate) fn ending(fd: c_int, close: impl FnOnce() -> Outcome) -> Outcome {
    let number = usize::try_from(fd).ok();
    let record = number.and_then(|number| Some(&chunk(number / CHUNK)?[number % CHUNK]));
    let Some(record) = record.filter(|_| is_own_process()) else {
        return close();
    };
    record.begin_end();
    let closed = close();
    record.0.finish_end();
    closed
}

/// As [`ending`], for all numbers of the range. Allocates nothing: after a `fork` before the first
/// record, the child is not recognized as a child.
pub(crate) fn ending_range(
    first: c_uint,
    last: c_uint,
    close: impl FnOnce() -> Outcome,
) -> Outcome {
    if !is_own_process() {
        return close();
    }
    // Others may create chunks meanwhile.
    let mut exists = [false; CHUNKS];
    (0..CHUNKS).for_each(|at| exists[at] = chunk(at).is_some());
    let each = |apply: fn(&Record)| {
        for at in (0..CHUNKS).filter(|at| exists[*at]) {
            let records = chunk(at).into_iter().flatten().enumerate();
            let number = |place: usize| (at * CHUNK + place) as c_uint;
            records
                .filter(|(place, _)| (first..=last).contains(&number(*place)))
                .for_each(|(_, record)| apply(record));
        }
    };
    each(Record::begin_end);
    let closed = close();
    each(|record| record.0.finish_end());
    closed
}

impl Record {
    const fn new() -> Record {
        Record(Number::new())
    }

    /// Counts an end of the number, and wakes the fibers that wait for it. Wakes none in a signal
    /// handler: they notice the end at their next wake.
    fn begin_end(&self) {
        keep_errno(|| self.0.begin_end(!is_in_handler()));
    }

    /// Records that an attempt made after `known` has taken all there was.
    pub(crate) fn set_emptied(&self, known: Known, interest: Interest) {
        self.0.set_emptied(known, interest);
    }

    /// Parks the fiber after an attempt that has failed since `known`. `Ok`: it is time for the
    /// next attempt.
    #[track_caller]
    pub(crate) fn wait(
        &self,
        (fd, function): (c_int, Function),
        (known, interest): (Known, Interest),
        until: Option<Instant>,
    ) -> Result<(), Ended> {
        function.count_park();
        if !is_surely_own_process() {
            return Err(Ended::Unwatchable);
        }
        let before = error();
        let waited = self.0.wait((fd, function.name()), known, interest, until);
        // Calls of other fibers have failed meanwhile.
        set_error(before);
        match waited {
            Ok(NumberWait::MaySucceed) => Ok(()),
            Ok(NumberWait::HasEnded) => Err(Ended::Failed(libc::EBADF)),
            Ok(NumberWait::IsEnding) if until.is_some_and(|until| now() >= until) => {
                Err(Ended::TimedOut)
            }
            Ok(NumberWait::IsEnding) => pause_for(MOMENT).map_err(Ended::Failed),
            Err(error) => Err(match Interrupt::of(&error) {
                Some(interrupt) => Ended::Failed(errno_of(interrupt)),
                None if error.kind() == io::ErrorKind::TimedOut => Ended::TimedOut,
                None => Ended::Unwatchable,
            }),
        }
    }
}

/// Parks the fiber for this time, and leaves `errno` as it was.
///
/// # Errors
/// The error of a call that was interrupted.
pub(crate) fn pause_for(pause: Duration) -> Result<(), c_int> {
    keep_errno(|| pirn::sleep(pause)).map_err(errno_of)
}

/// Returns the error of a call that was interrupted. Never `EINTR`, on which loops of `std` try
/// again.
pub(crate) fn errno_of(interrupt: Interrupt) -> c_int {
    match interrupt {
        Interrupt::TimedOut => libc::ETIMEDOUT,
        _ => libc::ECANCELED,
    }
}
