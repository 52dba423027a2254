//! How a call on one descriptor waits: attempts that never block, and parks between them.

use std::cell::Cell;
use std::ffi::{c_int, c_short};
use std::time::{Duration, Instant};

use pirn::cancel;
use pirn::dev::hooks::{self, Interest, Known};
use pirn::time::now;

use crate::descriptor::{Call, Ended, Record, errno_of, pause_for, record};
use crate::kernel::{
    self, Outcome, is_blocking, is_broken, is_file, is_read_closed, is_ready, keep_errno,
    time_limit,
};
use crate::stats::Function;

/// One call of a function on a descriptor.
#[derive(Copy, Clone)]
pub(crate) struct Operation {
    pub(crate) function: Function,
    pub(crate) fd: c_int,
    pub(crate) interest: Interest,
    /// The size of the buffer of a stream read, else 0. A read that does not fill the buffer has
    /// emptied the stream.
    room: usize,
}

/// What the parts of a call share.
#[derive(Default)]
struct Progress {
    call: Call,
    /// The deadline of the call, set at its first wait. `Some(None)`: no limit.
    until: Option<Option<Instant>>,
    /// The last attempt has moved a part.
    has_moved: bool,
}

impl Operation {
    pub(crate) fn reads(function: Function, fd: c_int) -> Operation {
        Operation {
            function,
            fd,
            interest: Interest::Readable,
            room: 0,
        }
    }

    pub(crate) fn writes(function: Function, fd: c_int) -> Operation {
        let interest = Interest::Writable;
        Operation {
            interest,
            ..Operation::reads(function, fd)
        }
    }

    /// As [`reads`](Self::reads), for a stream and a buffer of `room` bytes. On other objects a
    /// short read costs the next read a wait: rearming reports an event at once.
    pub(crate) fn drains(function: Function, fd: c_int, room: usize) -> Operation {
        Operation {
            room,
            ..Operation::reads(function, fd)
        }
    }

    /// The events of `poll` that mean that an attempt may succeed.
    pub(crate) fn events(self) -> c_short {
        match self.interest {
            Interest::Writable => libc::POLLOUT,
            _ => libc::POLLIN,
        }
    }

    /// Returns the option of a socket that limits the time of the call.
    fn limit(self) -> c_int {
        match self.interest {
            Interest::Writable => libc::SO_SNDTIMEO,
            _ => libc::SO_RCVTIMEO,
        }
    }

    /// Calls `attempt`, which never blocks, and parks after each `EAGAIN`. Returns the first other
    /// result. Returns `EAGAIN` only if the descriptor is `O_NONBLOCK` or the socket's time limit
    /// has passed. Fails with `ETIMEDOUT` or `ECANCELED` if the fiber is interrupted, and with
    /// `EBADF` if the number has ended.
    pub(crate) fn run(self, attempt: impl FnMut() -> Outcome) -> Outcome {
        self.run_part(&mut Progress::default(), attempt)
    }

    /// As [`run`](Self::run), as a part of a call.
    fn run_part(
        self,
        progress: &mut Progress,
        mut attempt: impl FnMut() -> Outcome,
    ) -> Outcome {
        if cancel::reason().is_some() && is_blocking(self.fd) && !is_file(self.fd) {
            cancel::check().map_err(errno_of)?;
        }
        let record = record(self.fd);
        let known = progress.call.look(self.fd)?;
        // A write may succeed before the system reports the descriptor writable, which it does for
        // a stream that has much room. Where a part has just gone, there was none for more.
        let is_empty = known.is_some_and(|known| !known.is_ready(self.interest))
            && (self.interest == Interest::Readable || progress.has_moved);
        if !is_empty || !is_blocking(self.fd) {
            let first = attempt();
            // It may have been closed meanwhile.
            if first != Err(libc::EAGAIN)
                || kernel::flags(self.fd)? & libc::O_NONBLOCK != 0
            {
                self.settle(first, record.zip(known));
                return first;
            }
        }
        let limit = || time_limit(self.fd, self.limit());
        let until = progress
            .until
            .get_or_insert_with(|| limit().and_then(|limit| now().checked_add(limit)));
        self.wait((progress.call, known), *until, attempt)
    }

    /// Parks and calls `attempt` in turn, until the result is not `EAGAIN` or `until` has passed.
    /// Blocks the thread instead of parking if the descriptor cannot be watched.
    #[cold]
    fn wait(
        self,
        (mut call, mut known): (Call, Option<Known>),
        until: Option<Instant>,
        mut attempt: impl FnMut() -> Outcome,
    ) -> Outcome {
        let mut short_waits = ShortWaits::default();
        loop {
            let begun = now();
            let parked = self.park(known, until);
            match parked {
                // It may have become ready before the time was up.
                Ok(()) | Err(Ended::TimedOut) => {}
                Err(Ended::Failed(error)) => return Err(error),
                Err(Ended::Unwatchable) => self.block(until)?,
            }
            known = call.look(self.fd)?;
            let done = attempt();
            if done != Err(libc::EAGAIN) || parked == Err(Ended::TimedOut) {
                self.settle(done, record(self.fd).zip(known));
                return done;
            }
            short_waits.record(begun, until)?;
        }
    }

    /// After a success: records whether the stream is empty, and consumes budget. If the budget is
    /// used up, yields; on an `O_NONBLOCK` descriptor, or in a child process, leaves the yield to
    /// the next operation.
    fn settle(self, done: Outcome, record: Option<(&Record, Known)>) {
        let Ok(moved) = done else { return };
        if let Some((record, known)) = record
            && (1..self.room).contains(&moved.cast_unsigned())
        {
            record.set_emptied(known, self.interest);
        }
        if hooks::is_spent() {
            match is_blocking(self.fd) && hooks::is_surely_own_process() {
                true => keep_errno(pirn::yield_now),
                false => hooks::delay_yield(),
            }
        }
    }

    /// Parks the fiber until an attempt is due.
    pub(crate) fn park(
        self,
        known: Option<Known>,
        until: Option<Instant>,
    ) -> Result<(), Ended> {
        let (Some(record), Some(known)) = (record(self.fd), known) else {
            return Err(Ended::Unwatchable);
        };
        record.wait((self.fd, self.function), (known, self.interest), until)
    }

    /// Blocks the thread until an attempt is due.
    pub(crate) fn block(self, until: Option<Instant>) -> Result<(), c_int> {
        let _block = self.function.blocks();
        let mut polled = [libc::pollfd {
            fd: self.fd,
            events: self.events(),
            revents: 0,
        }];
        let left = until.map(|until| until.saturating_duration_since(now()));
        match kernel::poll(&mut polled, left)? {
            0 => Err(libc::EAGAIN),
            _ => Ok(()),
        }
    }

    /// Transfers `total` bytes by calls of `attempt`, with the number of bytes transferred before
    /// as its argument. Ends early if an attempt fails or returns 0, or if the descriptor is
    /// `O_NONBLOCK`. Then returns the number of bytes so far; if it is zero, the error. After the
    /// first bytes, checks before each attempt for a pending error, or when writing for a closed
    /// connection, so that the next call reports it.
    pub(crate) fn run_to_end(
        self,
        total: usize,
        mut attempt: impl FnMut(usize) -> Outcome,
    ) -> Outcome {
        let (mut moved, mut progress) = (0, Progress::default());
        let writes = self.interest == Interest::Writable;
        loop {
            let part = self.run_part(&mut progress, || {
                match moved > 0 && is_broken(self.fd, writes) {
                    true => Err(libc::EPIPE),
                    false => attempt(moved),
                }
            });
            match part {
                Ok(0) => return Ok(moved as isize),
                Ok(part) => {
                    moved += part as usize;
                    progress.has_moved = true;
                }
                Err(_) if moved > 0 => return Ok(moved as isize),
                Err(error) => return Err(error),
            }
            if moved >= total || !is_blocking(self.fd) {
                return Ok(moved as isize);
            }
        }
    }

    /// Calls `call`, which would block, if the descriptor is ready; else returns `EAGAIN`.
    pub(crate) fn if_ready(self, call: impl FnOnce() -> Outcome) -> Outcome {
        match is_ready(self.fd, self.events()) {
            true => call(),
            false => Err(libc::EAGAIN),
        }
    }
}

/// Whether a receive has failed with `EAGAIN`.
#[derive(Default)]
pub(crate) struct Failed(Cell<bool>);

impl Failed {
    /// Returns the result of an attempt, or of `plain`, which may wait, if the attempts of a call
    /// fail with `EAGAIN` for ever: on a datagram socket with a closed reading side. There `plain`
    /// returns at once. Asks the system from the second failure on.
    pub(crate) fn or_end(
        &self,
        fd: c_int,
        attempt: Outcome,
        plain: impl FnOnce() -> Outcome,
    ) -> Outcome {
        let has_failed = attempt == Err(libc::EAGAIN);
        match has_failed && self.0.replace(true) && is_read_closed(fd) {
            true => plain(),
            false => attempt,
        }
    }
}

/// The number of waits in a row that were shorter than 100 µs and led to a failed attempt. The
/// system reports some objects ready that are not, such as a Unix socket for a datagram to a full
/// receiver.
#[derive(Default)]
pub(crate) struct ShortWaits(u32);

impl ShortWaits {
    /// Records a failed attempt after a wait that began at `begun`. Sleeps for 1 ms from the eighth
    /// short wait on.
    ///
    /// # Errors
    /// `EAGAIN`: `until` has passed. `ETIMEDOUT`, `ECANCELED`: the sleep was interrupted.
    pub(crate) fn record(
        &mut self,
        begun: Instant,
        until: Option<Instant>,
    ) -> Result<(), c_int> {
        const QUICK: Duration = Duration::from_micros(100);
        const MANY: u32 = 8;
        let end = now();
        if until.is_some_and(|until| end >= until) {
            return Err(libc::EAGAIN);
        }
        self.0 = match end.saturating_duration_since(begun) > QUICK {
            true => 0,
            false => self.0 + 1,
        };
        if self.0 < MANY {
            return Ok(());
        }
        let pause = Duration::from_millis(1);
        match hooks::is_surely_own_process() {
            true => pause_for(pause),
            false => kernel::poll(&mut [], Some(pause)).map(drop),
        }
    }
}
