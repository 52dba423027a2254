//! How a call on one descriptor waits: attempts that never block, and parks between them.

use std::ffi::{c_int, c_short};
use std::time::Instant;

use pirn::cancel;
use pirn::dev::hooks::{self, Interest};
use pirn::time::now;

use crate::descriptor::{Ended, Record, Seen, number_of, record};
use crate::kernel::{self, Outcome, is_blocking, is_ready, time_limit};
use crate::region::is_own_process;
use crate::stats::Function;

/// One call of a function on a descriptor.
#[derive(Copy, Clone)]
pub(crate) struct Operation {
    pub(crate) function: Function,
    pub(crate) fd: c_int,
    pub(crate) interest: Interest,
    /// An attempt that transfers less leaves nothing to transfer.
    room: usize,
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

    /// As [`reads`](Self::reads), of up to `room` bytes of a stream. Where it is no stream, a short
    /// read makes the next one wait for an event that comes at once.
    pub(crate) fn drains(function: Function, fd: c_int, room: usize) -> Operation {
        Operation {
            room,
            ..Operation::reads(function, fd)
        }
    }

    /// The events of `poll` that mean that an attempt may succeed.
    pub(crate) fn events(self) -> c_short {
        match self.interest {
            Interest::Readable => libc::POLLIN,
            Interest::Writable => libc::POLLOUT,
        }
    }

    /// Returns the option of a socket that limits the time of the call.
    fn limit(self) -> c_int {
        match self.interest {
            Interest::Readable => libc::SO_RCVTIMEO,
            Interest::Writable => libc::SO_SNDTIMEO,
        }
    }

    /// Calls `attempt`, which never blocks, until it does not fail with `EAGAIN`, and parks in
    /// between. If the descriptor is `O_NONBLOCK`, `EAGAIN` is the result.
    pub(crate) fn run(self, mut attempt: impl FnMut() -> Outcome) -> Outcome {
        if let Err(interrupt) = cancel::check()
            && is_blocking(self.fd)
        {
            return Err(number_of(interrupt));
        }
        let record = record(self.fd);
        let seen = record.map(Record::look);
        if seen.is_some_and(|seen| !seen.is_ready(self.interest)) && is_blocking(self.fd)
        {
            return self.wait(seen, attempt);
        }
        let first = attempt();
        if first == Err(libc::EAGAIN) {
            return match is_blocking(self.fd) {
                true => self.wait(seen, attempt),
                false => first,
            };
        }
        self.settle(first, record.zip(seen));
        first
    }

    /// Parks until an attempt succeeds.
    #[cold]
    fn wait(
        self,
        mut seen: Option<Seen>,
        mut attempt: impl FnMut() -> Outcome,
    ) -> Outcome {
        let limit = time_limit(self.fd, self.limit());
        let until = limit.and_then(|limit| now().checked_add(limit));
        loop {
            match self.park(seen, until) {
                Ok(()) => {}
                Err(Ended::TimedOut) => return Err(libc::EAGAIN),
                Err(Ended::Failed(error)) => return Err(error),
                Err(Ended::Unwatchable) => self.block(until)?,
            }
            let record = record(self.fd);
            seen = record.map(Record::look);
            let done = attempt();
            if done != Err(libc::EAGAIN) {
                self.settle(done, record.zip(seen));
                return done;
            }
        }
    }

    /// Records what an attempt has shown, and yields if the fiber has completed many operations
    /// without a wait.
    fn settle(self, done: Outcome, record: Option<(&Record, Seen)>) {
        if let (Ok(moved), Some((record, seen))) = (done, record)
            && (1..self.room).contains(&moved.cast_unsigned())
        {
            record.set_emptied(seen, self.interest);
        }
        if hooks::is_spent() && is_own_process() && is_blocking(self.fd) {
            pirn::yield_now();
        }
    }

    /// Parks the fiber until an attempt is due.
    pub(crate) fn park(
        self,
        seen: Option<Seen>,
        until: Option<Instant>,
    ) -> Result<(), Ended> {
        let (Some(record), Some(seen)) = (record(self.fd), seen) else {
            return Err(Ended::Unwatchable);
        };
        self.function.count_park();
        record.wait(seen, self.interest, until)
    }

    /// Blocks the thread until an attempt is due.
    pub(crate) fn block(self, until: Option<Instant>) -> Result<(), c_int> {
        self.function.count_blocked();
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

    /// Moves `total` bytes by calls of `attempt`, which is given the number of those that were
    /// moved before. Ends early if an attempt fails or the descriptor is `O_NONBLOCK`: then returns
    /// the number of bytes so far, if it is not zero.
    pub(crate) fn run_to_end(
        self,
        total: usize,
        mut attempt: impl FnMut(usize) -> Outcome,
    ) -> Outcome {
        let mut moved = 0;
        loop {
            match self.run(|| attempt(moved)) {
                Ok(0) => return Ok(moved as isize),
                Ok(part) => moved += part as usize,
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
