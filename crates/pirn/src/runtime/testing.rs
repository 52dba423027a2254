//! A runtime for one test.

use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::thread;
use std::time::Duration;

use super::builder::Builder;
use super::environment::Environment;
use super::handle::Handle;
use super::instance::Runtime;
use crate::sched::trial::Trial;
use crate::shim;

/// How long virtual time is held for a descriptor, by default. Arbitrary: far more than a thread needs
/// to answer on a crowded machine, and less than a reader of the test's output waits in peace.
const OUTSIDE_LIMIT: Duration = Duration::from_secs(1);

/// How long nothing may run in a test, by default. Arbitrary: far more than a thread waits for a
/// lock that is ever released.
const STUCK_LIMIT: Duration = Duration::from_secs(10);

/// What a builder knows of tests.
pub(super) struct Testing {
    pub(super) outside_limit: Duration,
    stuck_limit: Duration,
    /// The test that the runtime belongs to.
    name: Option<String>,
}

impl Default for Testing {
    fn default() -> Testing {
        Testing {
            outside_limit: OUTSIDE_LIMIT,
            stuck_limit: STUCK_LIMIT,
            name: None,
        }
    }
}

impl Testing {
    pub(super) fn trial(self, seed: u64) -> Option<Trial> {
        let limit = self.stuck_limit;
        self.name.map(|name| Trial::new(name, seed, limit))
    }
}

/// Runs `f` on a fiber of a [deterministic](Builder::deterministic) runtime made for
/// it, and waits for every fiber that it leaves behind.
///
/// For `#[test]` functions: other tests have no effect on it, and waiting for time to pass
/// takes none. The seed is the value of the environment variable `PIRN_SEED`, else another one in every
/// call. If `f` panics, its seed is printed to the standard error stream, and the other fibers are
/// cancelled. [`Builder::test`] does the same with other settings.
///
/// Time stands still while anything computes. So a [`timeout`](crate::timeout) ends what waits, but never a loop
/// that asks [`cancel::check`](crate::cancel::check), as [`par::try_for_each`](crate::par::try_for_each) does.
/// It also stands still while a fiber waits for what comes from outside of the runtime: see
/// [`Builder::outside_limit`].
///
/// # Deadlocks
/// A test fails, with a report and its seed, if its fibers can never go on: those that wait for each other
/// in a circle, or for an event that no thread is left to bring about. A fiber that `f` leaves behind, and that waits for
/// ever, counts too. The check takes a second or two of real time. Then the runtime is
/// cancelled, so that fibers end by an [`Interrupt`](crate::Interrupt), and this panics. If they
/// do not end, since they wait in [`Mutex::lock`](crate::sync::Mutex::lock) for instance, the process
/// ends with exit code 124: fibers that are stuck cannot be unwound, and what they borrow must stay.
///
/// A thread that this library does not know may still wake a fiber: one that has kept a `Sender`,
/// for instance. As long as there is such a thread in the process (another test's, too)
/// only circles fail. The main thread does not count as one, unless it has waited in this library
/// before or is in [`external_wait`](crate::diag::external_wait): it belongs to the test harness. After
/// [`Builder::stuck_limit`] without progress a report with the seed is printed in any case. Circles apart,
/// deadlocks are known on Linux only. With [`Deadlock::Off`](super::Deadlock::Off) (`PIRN_DEADLOCK=off`) none of this is done.
///
/// # Panics
/// With the panic of `f`, after the other fibers have ended; for a deadlock; or if the runtime
/// cannot be made.
///
/// # Cancellation
/// Not an interruption point.
///
/// # Blocking
/// Until every fiber has ended, as for the drop of a [`Runtime`]. Parks a fiber, blocks a plain thread.
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
#[track_caller]
pub fn test<T: Send>(f: impl FnOnce(&Handle) -> T + Send) -> T {
    Runtime::builder().name("pirn-test").test(f)
}

impl Builder {
    /// Sets how long of real time a deterministic runtime holds its virtual time while a fiber waits
    /// for a descriptor: a socket, a pipe, the end of a child process; by default 1 s.
    ///
    /// Time jumps only when no fiber is ready. If one waits for a descriptor then, the runtime waits too,
    /// until an event comes. After the limit without an event, time jumps all the same: so a
    /// [`timeout`](crate::timeout) around a peer that never answers ends. The first time, that is said
    /// on standard error. Each wait in vain makes the next one half as long, down to a thousandth of
    /// the limit, and any event makes the next one whole again: so an idle server costs two seconds in all,
    /// and a millisecond for each jump.
    ///
    /// With zero, time jumps as if there were no descriptors: for tests with sockets that have fibers of
    /// the same runtime at both ends. With [`Duration::MAX`] it never jumps while a fiber waits for
    /// a descriptor. Without effect on a runtime that is not [deterministic](Self::deterministic).
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

    /// Sets how long of real time nothing may run in a [`test`](Self::test); by default 10 s.
    ///
    /// After that a report with the seed is written to standard error. If the runtime's only thread waits
    /// in `futex` then (for a lock, a channel, a condition variable or the end of a thread of `std`), the
    /// process ends with exit code 124: no fiber can run, and the library cannot know whether the wait
    /// would end. For longer waits of this kind use [`blocking`](crate::blocking()), or a larger limit.
    /// Where the system does not say in which call a thread waits, there is only the report. Without
    /// effect elsewhere.
    pub fn stuck_limit(mut self, limit: Duration) -> Builder {
        self.testing.stuck_limit = limit;
        self
    }

    /// Runs `f` as [`runtime::test`](super::test) does, on a deterministic runtime made of this builder.
    /// A seed that was [set](Self::deterministic) wins over `PIRN_SEED`.
    ///
    /// # Panics
    /// As [`runtime::test`](super::test).
    ///
    /// # Cancellation
    /// Not an interruption point.
    ///
    /// # Blocking
    /// As [`runtime::test`](super::test).
    #[track_caller]
    pub fn test<T: Send>(mut self, f: impl FnOnce(&Handle) -> T + Send) -> T {
        let thread = thread::current();
        let name = thread.name().unwrap_or("unnamed");
        self.testing.name = Some(format!("'{name}' ({})", Location::caller()));
        let made = Environment::read().and_then(|environment| {
            let seed = self.seed.or(environment.seed).unwrap_or_else(shim::seed);
            Ok((seed, self.deterministic(seed).build()?))
        });
        let (seed, runtime) =
            made.unwrap_or_else(|error| panic!("no runtime for the test: {error}"));
        let handle = runtime.handle();
        // UNWIND: nothing is looked at after a panic but the seed and the verdict. Caught inside, so that reports
        // name the caller's line.
        let result = handle.run(|| catch_unwind(AssertUnwindSafe(|| f(&handle))));
        let deadlocked = handle.pool().verdict().is_some();
        if result.is_err() && !deadlocked {
            let _ = writeln!(io::stderr(), "pirn: PIRN_SEED={seed} reproduces this");
            // As for a runtime that is dropped while a panic unwinds: what they wait for may never come.
            handle.pool().cancel();
        }
        drop(runtime);
        match (result, handle.pool().verdict()) {
            // It has failed before there was a deadlock.
            (Err(panic), _) if !deadlocked => resume_unwind(panic),
            (_, Some(verdict)) => panic!("{verdict}"),
            (Ok(value), None) => value,
            (Err(panic), None) => resume_unwind(panic),
        }
    }
}
