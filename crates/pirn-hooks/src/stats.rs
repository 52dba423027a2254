//! Counters of calls by fibers in code where calls park.

use std::sync::atomic::{AtomicU64, Ordering};

/// The functions that are counted, in the order of their names here.
macro_rules! functions {
    ($($variant:ident $name:literal,)*) => {
        /// A function of libc that this crate defines, and that may wait.
        #[derive(Debug, Copy, Clone, PartialEq, Eq)]
        pub(crate) enum Function { $($variant,)* }

        const NAMES: &[&str] = &[$($name,)*];
        static COUNTERS: [Counters; NAMES.len()] = [const { Counters::new() }; NAMES.len()];
    };
}

functions! {
    Accept "accept",
    ClockNanosleep "clock_nanosleep",
    Connect "connect",
    EpollWait "epoll_wait",
    Fcntl "fcntl",
    Flock "flock",
    Getaddrinfo "getaddrinfo",
    Getnameinfo "getnameinfo",
    Nanosleep "nanosleep",
    Poll "poll",
    Read "read",
    Readv "readv",
    Recv "recv",
    Recvfrom "recvfrom",
    Recvmmsg "recvmmsg",
    Recvmsg "recvmsg",
    Select "select",
    Send "send",
    Sendmmsg "sendmmsg",
    Sendmsg "sendmsg",
    Sendto "sendto",
    Sleep "sleep",
    Usleep "usleep",
    Waitid "waitid",
    Waitpid "waitpid",
    Write "write",
    Writev "writev",
}

struct Counters {
    calls: AtomicU64,
    parked: AtomicU64,
    blocked: AtomicU64,
}

impl Counters {
    const fn new() -> Counters {
        Counters {
            calls: AtomicU64::new(0),
            parked: AtomicU64::new(0),
            blocked: AtomicU64::new(0),
        }
    }
}

impl Function {
    pub(crate) fn name(self) -> &'static str {
        NAMES[self as usize]
    }

    pub(crate) fn count_call(self) {
        COUNTERS[self as usize]
            .calls
            .fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_park(self) {
        COUNTERS[self as usize]
            .parked
            .fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a call that may have blocked the thread, although it was made within the region.
    /// Callers use [`blocks`](Self::blocks).
    pub(crate) fn count_blocked(self) {
        COUNTERS[self as usize]
            .blocked
            .fetch_add(1, Ordering::Relaxed);
    }
}

/// The counters of all functions since the process began.
#[non_exhaustive]
#[derive(Debug, Clone)]
pub struct Stats {
    /// One entry for each function that may wait, in the order of the names.
    pub functions: Vec<FunctionStats>,
}

/// The counters of one function, for calls in code where calls park. `accept4` counts as `accept`,
/// `ppoll` as `poll`, `pselect` as `select`. Calls that return at once in any case are not counted,
/// nor are writes to the descriptors 1 and 2.
#[non_exhaustive]
#[derive(Debug, Clone)]
pub struct FunctionStats {
    /// The name of the function.
    pub name: &'static str,
    /// The number of calls that may wait.
    pub calls: u64,
    /// How often a call has begun to park. A call may park several times.
    pub parked: u64,
    /// How often a call may have blocked its thread.
    pub blocked: u64,
}

impl Stats {
    /// Returns the counters of the function `name`, such as `"recv"`; `None` if that is not
    /// counted.
    ///
    /// # Examples
    /// ```
    /// assert_eq!(pirn_hooks::stats().of("recv").unwrap().parked, 0);
    /// assert!(pirn_hooks::stats().of("malloc").is_none());
    /// ```
    #[must_use]
    pub fn of(&self, name: &str) -> Option<&FunctionStats> {
        self.functions.iter().find(|function| function.name == name)
    }
}

/// Returns the counters of all functions.
///
/// # Cancellation
/// Not an interruption point; never suspends.
///
/// # Examples
/// ```
/// use std::{thread, time::Duration};
///
/// pirn::run(|| {
///     pirn_hooks::within(|| thread::sleep(Duration::from_millis(1)));
/// });
/// let stats = pirn_hooks::stats();
/// let sleeps = stats.of("clock_nanosleep").unwrap();
/// assert_eq!((sleeps.calls, sleeps.parked, sleeps.blocked), (1, 1, 0));
/// ```
#[must_use]
pub fn stats() -> Stats {
    let each = NAMES.iter().zip(&COUNTERS);
    let functions = each.map(|(name, counters)| FunctionStats {
        name,
        calls: counters.calls.load(Ordering::Relaxed),
        parked: counters.parked.load(Ordering::Relaxed),
        blocked: counters.blocked.load(Ordering::Relaxed),
    });
    Stats {
        functions: functions.collect(),
    }
}
