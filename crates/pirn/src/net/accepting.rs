//! Accepting connections in a loop, until the caller is interrupted.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use crate::Interrupt;
use crate::base::clock;
use crate::shim::atomic::{AtomicUsize, Ordering};
use crate::sys::{AcceptFailure, accept_failure};
use crate::time::{now, sleep_until};

/// The period between two attempts while descriptors or memory are exhausted; the system does not
/// report when some are free. An attempt and the sleep before it use about 50 µs of processor time,
/// so 200 a second use a hundredth of a processor.
const PERIOD: Duration = Duration::from_millis(5);

/// The number of iterators that may try in each period. Beyond it, each iterator skips some
/// periods, so that on average fewer than twice as many try, however many wait.
const AT_ONCE: usize = 4;

/// The number of iterators that wait for descriptors or memory.
static STARVED: AtomicUsize = AtomicUsize::new(0);

/// Counts attempts, to spread those of many iterators over different periods.
static TURN: AtomicUsize = AtomicUsize::new(0);

/// The state of an iterator over connections.
#[derive(Debug, Default)]
pub(super) struct Accepting {
    over: bool,
}

impl Accepting {
    /// Returns true once an interrupt has been yielded.
    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    /// Returns the iterator's item after an attempt to accept from `listener`: the next connection,
    /// an error, or an interrupt. `None` means to try again; any pause that was needed is over.
    #[track_caller]
    pub(super) fn judge<T>(
        &mut self,
        attempt: io::Result<T>,
        listener: BorrowedFd<'_>,
    ) -> Option<io::Result<T>> {
        let failure = match attempt {
            Ok(connection) => return Some(Ok(connection)),
            Err(failure) => failure,
        };
        if Interrupt::of(&failure).is_some() {
            self.over = true;
            return Some(Err(failure));
        }
        match accept_failure(&failure, listener) {
            AcceptFailure::Connection => return None,
            AcceptFailure::Resources => {}
            AcceptFailure::Listener => return Some(Err(failure)),
        }
        let interrupt = wait_for_resources().err()?;
        self.over = true;
        Some(Err(interrupt.into()))
    }
}

/// Waits until the next attempt may find free descriptors or memory.
#[track_caller]
fn wait_for_resources() -> Result<(), Interrupt> {
    /// Restores the count also on an interrupt or an unwind.
    struct Counted;
    impl Drop for Counted {
        fn drop(&mut self) {
            STARVED.fetch_sub(1, Ordering::Relaxed);
        }
    }
    let starved = STARVED.fetch_add(1, Ordering::Relaxed) + 1;
    let _counted = Counted;
    sleep_until(next_attempt(starved, now()))
}

/// Returns the time of the next attempt, given the number of waiting iterators. All use the same
/// periods, so that those of one worker wake it once.
fn next_attempt(starved: usize, now: Instant) -> Instant {
    let periods = match starved.div_ceil(AT_ONCE) {
        0 | 1 => 0,
        crowd => TURN.fetch_add(1, Ordering::Relaxed) % crowd,
    };
    let period = PERIOD.as_nanos() as u64;
    let into_this = clock::nanos(now) % period;
    now + Duration::from_nanos(period - into_this + period * periods as u64)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::os::fd::AsFd as _;

    use super::*;

    /// Errors of one connection are skipped, exhaustion is waited out; interrupts and errors of the
    /// listener are yielded.
    // Proves: N5-X-faults.
    #[test]
    fn only_an_interrupt_ends_it() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let listener = listener.as_fd();
        let mut accepting = Accepting::default();
        let errors = [
            libc::ECONNABORTED,
            libc::EPROTO,
            libc::EMFILE,
            libc::ENETDOWN,
            libc::ETIMEDOUT,
        ];
        for error in errors {
            let failed = Err::<(), _>(io::Error::from_raw_os_error(error));
            assert!(accepting.judge(failed, listener).is_none(), "{error}");
        }
        assert_eq!(accepting.judge(Ok(7), listener).unwrap().unwrap(), 7);
        for error in [libc::EBADF, libc::EPERM] {
            let broken = Err::<(), _>(io::Error::from_raw_os_error(error));
            let judged = accepting.judge(broken, listener).unwrap().unwrap_err();
            assert_eq!(judged.raw_os_error(), Some(error));
        }
        assert!(!accepting.is_over());
        let cancelled = Err::<(), io::Error>(Interrupt::Cancelled.into());
        assert!(accepting.judge(cancelled, listener).unwrap().is_err());
        assert!(accepting.is_over());
    }

    /// Some of many iterators try in each period, but not too many.
    // Proves: N5-X-starved.
    #[test]
    fn attempts_of_many_are_spread() {
        const PERIODS: u32 = 1_000;
        // The number of iterators, and how many of them may try in a period on average.
        let crowds = [
            (1, 1),
            (4, 4),
            (5, 4),
            (7, 5),
            (8, 6),
            (9, 5),
            (64, 8),
            (1_000, 8),
        ];
        for (starved, most) in crowds {
            let start = now();
            let mut next: Vec<Instant> =
                (0..starved).map(|_| next_attempt(starved, start)).collect();
            let mut attempts = 0;
            for period in 1..=PERIODS {
                let (before, end) = (attempts, start + PERIOD * period);
                for own in next.iter_mut().filter(|own| **own <= end) {
                    attempts += 1;
                    *own = next_attempt(starved, *own);
                }
                assert!(attempts > before, "none of {starved} tries");
            }
            let most = PERIODS as usize * most;
            assert!(attempts <= most, "{attempts} attempts of {starved}");
        }
    }
}
