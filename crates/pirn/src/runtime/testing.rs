//! A runtime for one test.

use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::thread;
use std::time::Duration;

use super::builder::Builder;
use super::environment::Environment;
use super::handle::Handle;
use super::instance::Runtime;
use crate::observe::verdict;
use crate::shim;

/// Runs `f` on a fiber of a new [deterministic](Builder::deterministic) runtime, and waits for
/// every fiber that `f` leaves behind.
///
/// For `#[test]` functions: other tests do not affect it, and waiting for time to pass takes no
/// real time. The seed is the value of the environment variable `PIRN_SEED`, else different in
/// every call. If `f` panics, the seed and the name of the test are printed to the standard error
/// stream, and the other fibers are cancelled. [`Builder::test`] does the same with other settings.
///
/// Time stands still while a fiber computes. So a [`timeout`](crate::timeout) ends waits, but never
/// a loop that calls [`cancel::check`](crate::cancel::check), as
/// [`par::try_for_each`](crate::par::try_for_each) does. Time also stands still while a fiber waits
/// for an event from outside of the runtime: see [`Builder::outside_limit`].
///
/// # Deadlocks
/// A test fails, with a report and its seed, if its fibers can never resume. Then they wait for
/// each other in a cycle, or for an event that no remaining thread can cause. A fiber that `f`
/// leaves behind and that waits indefinitely counts too. The check takes a second or two of real
/// time. Then the runtime is cancelled, so that fibers end by an [`Interrupt`](crate::Interrupt),
/// and this function panics. If they do not end, for example because they wait in
/// [`Mutex::lock`](crate::sync::Mutex::lock), the process ends with exit code 124. Stuck fibers
/// cannot be unwound, and the data that they borrow must stay.
///
/// A thread that this library does not know may still wake a fiber: for example one that holds a
/// `Sender`. As long as there is such a thread in the process (also of another test), only cycles
/// fail. The main thread does not count as one, because it belongs to the test harness, unless it
/// has waited in this library before or is in [`external_wait`](crate::diag::external_wait). After
/// [`Builder::stuck_limit`] without progress a report with the seed is printed in any case. Except
/// for cycles, deadlocks are detected on Linux only. [`Deadlock::Off`](super::Deadlock::Off)
/// (`PIRN_DEADLOCK=off`) disables all of this.
///
/// # Panics
/// With the panic of `f`, after the other fibers have ended; for a deadlock; or if the runtime
/// cannot be created.
///
/// # Cancellation
/// Not an interruption point.
///
/// # Blocking
/// Until every fiber has ended, as for the drop of a [`Runtime`]. Parks a fiber, blocks a plain
/// thread.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use pirn::time::{now, sleep};
///
/// pirn::runtime::test(|_| {
///     let start = now();
///     sleep(Duration::from_secs(3600)).unwrap();
///     assert_eq!(now() - start, Duration::from_secs(3600));
/// });
/// ```
#[doc(alias = "synctest")]
#[doc(alias = "start_paused")]
#[track_caller]
pub fn test<T: Send>(f: impl FnOnce(&Handle) -> T + Send) -> T {
    Runtime::builder().name("pirn-test").test(f)
}

impl Builder {
    /// Sets how long, in real time, a deterministic runtime holds its virtual time while a fiber
    /// waits for a descriptor; by default 1 s. A descriptor is a socket, a pipe, or the end of a
    /// child process. The same applies to a wait for the end of another runtime's fibers.
    ///
    /// Time jumps only when no fiber is ready. If a fiber then waits for a descriptor, the runtime
    /// waits too, until an event comes. If the limit passes without an event, time jumps anyway, so
    /// a [`timeout`](crate::timeout) around a peer that never responds ends. The first time, this
    /// is reported on standard error. Each wait without an event halves the next one, down to a
    /// thousandth of the limit, and any event restores the full limit. So an idle server costs two
    /// seconds in all, and a millisecond for each jump.
    ///
    /// With zero, time jumps as if there were no descriptors: for tests with sockets that have
    /// fibers of the same runtime at both ends. With [`Duration::MAX`] it never jumps while a fiber
    /// waits for a descriptor. Has no effect on a runtime that is not
    /// [deterministic](Self::deterministic).
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use pirn::{Runtime, sleep};
    ///
    /// Runtime::builder().outside_limit(Duration::ZERO).test(|_| {
    ///     let listener = pirn::net::TcpListener::bind("127.0.0.1:0").unwrap();
    ///     let server = pirn::spawn(move || listener.accept().map(drop));
    ///     sleep(Duration::from_secs(3_600)).unwrap(); // takes no time
    ///     server.cancel();
    ///     assert!(server.join().unwrap().is_err());
    /// });
    /// ```
    pub fn outside_limit(mut self, limit: Duration) -> Builder {
        self.testing.outside_limit = limit;
        self
    }

    /// Sets how long, in real time, a [`test`](Self::test) may go without running a fiber; by
    /// default 10 s.
    ///
    /// After that a report with the seed is written to standard error. If the runtime's only thread
    /// then waits in `futex` (for a lock, a channel, a condition variable or the end of a thread of
    /// `std`), the process ends with exit code 124. The reason is that no fiber can run, and the
    /// library cannot know whether the wait would end. For longer waits of this kind use
    /// [`blocking`](crate::blocking()), or a larger limit. If the system does not report in which
    /// call a thread waits, there is only the report. Has no effect outside of tests.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    ///
    /// let seven = pirn::Runtime::builder().stuck_limit(Duration::from_secs(60)).test(|_| 7);
    /// assert_eq!(seven, 7);
    /// ```
    pub fn stuck_limit(mut self, limit: Duration) -> Builder {
        self.testing.stuck_limit = limit;
        self
    }

    /// Runs `f` as [`runtime::test`](super::test) does, on a deterministic runtime with this
    /// builder's settings. A seed that was [set](Self::deterministic) takes precedence over
    /// `PIRN_SEED`.
    ///
    /// # Panics
    /// As [`runtime::test`](super::test).
    ///
    /// # Cancellation
    /// Not an interruption point.
    ///
    /// # Blocking
    /// As [`runtime::test`](super::test).
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    ///
    /// pirn::Runtime::builder().deterministic(7).name("timers").test(|runtime| {
    ///     let fiber = runtime.spawn(|| pirn::sleep(Duration::from_secs(3_600)));
    ///     assert_eq!(fiber.join().unwrap(), Ok(())); // takes no time
    /// });
    /// ```
    #[track_caller]
    pub fn test<T: Send>(mut self, f: impl FnOnce(&Handle) -> T + Send) -> T {
        let thread = thread::current();
        let name = thread.name().unwrap_or("unnamed");
        let test = format!("'{name}' ({})", Location::caller());
        self.testing.name = Some(test.clone());
        let made = Environment::read().and_then(|environment| {
            let seed = self.seed.or(environment.seed).unwrap_or_else(shim::seed);
            Ok((seed, self.deterministic(seed).build()?))
        });
        let (seed, runtime) =
            made.unwrap_or_else(|error| panic!("no runtime for the test: {error}"));
        let handle = runtime.handle();
        // UNWIND: after a panic only the seed and the verdict are used. Caught inside, so that
        // reports name the caller's line.
        let result = handle.run(|| catch_unwind(AssertUnwindSafe(|| f(&handle))));
        let deadlocked = verdict(handle.pool()).is_some();
        if result.is_err() && !deadlocked {
            let _ = writeln!(
                io::stderr(),
                "pirn: PIRN_SEED={seed} reproduces this failure of the test {test}"
            );
            // As for a runtime that is dropped while a panic unwinds: the events that the fibers
            // wait for may never happen.
            handle.pool().cancel();
        }
        drop(runtime);
        match (result, verdict(handle.pool())) {
            // It failed before there was a deadlock.
            (Err(panic), _) if !deadlocked => resume_unwind(panic),
            (_, Some(verdict)) => panic!("{verdict}"),
            (Ok(value), None) => value,
            (Err(panic), None) => resume_unwind(panic),
        }
    }
}
