//! Behavior that depends on the machine, tested through the public interface: stacks, spawning,
//! unwinding, sockets, the environment. One module for each promise.
//!
//! Separate from `it` because they are built more often: again on the portable switch, parker and
//! poller, and again with the features for diagnosis.
#![cfg(not(any(loom, shuttle)))]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "fibers are tested beside plain threads and against the real clock"
)]

// Shared with `it`.
#[path = "../it/executor_kind.rs"]
#[allow(dead_code, reason = "`it` uses the rest")]
mod executor_kind;
#[cfg(all(target_os = "linux", not(pirn_tsan)))]
#[path = "../../src/sys/tests/holds.rs"]
#[expect(unsafe_code, reason = "signals to threads")]
#[allow(dead_code, reason = "tests in the library use the rest")]
mod holds;
#[path = "../it/report_util.rs"]
#[allow(dead_code, reason = "`it` uses the rest")]
mod report_util;
#[cfg(unix)]
#[path = "../it/sockets_util.rs"]
#[allow(dead_code, reason = "`it` uses the rest")]
mod sockets_util;
#[path = "../../src/base/tests/unmeasured.rs"]
#[allow(dead_code, reason = "called in some builds only")]
mod unmeasured;
#[path = "../it/util.rs"]
#[allow(dead_code, reason = "`it` uses the rest")]
mod util;

/// The checks of the feature `diagnostics`.
#[cfg(feature = "diagnostics")]
#[expect(unsafe_code, reason = "damages a stack on purpose")]
mod checks;
/// A thread that drives fibers ends after them.
mod driver_ends;
/// Valid settings of the environment take effect, invalid ones are named in an error.
mod environment;
/// The frames of waiting fibers.
mod frames;
/// No wake is lost though any thread may be stopped between two instructions.
// ThreadSanitizer defers a signal until a call that it knows, which a sleeping worker never makes.
#[cfg(all(target_os = "linux", not(pirn_tsan)))]
mod held;
/// Safe code that is sound under re-entrance fails when fibers interleave in it, as the
/// documentation warns.
mod interleaving;
/// Destructors of thread-locals and handlers at the end of the process use the library.
mod late;
/// Its calls of fibers, scopes, runtimes, futures, parallel code and reports.
mod late_calls;
/// Its calls of files, sockets, processes and signals.
mod late_system;
/// Its calls that wait: time, channels, selects and locks.
mod late_waits;
/// Lines on standard error about channels, and about the number of threads.
mod logs;
/// A panic ends its fiber and nothing else, and reaches the joiner.
mod panics;
/// The token of `std::thread`, on fibers and threads alike.
mod park;
/// Peers that end in one direction, reset, are killed, or never answer.
#[cfg(unix)]
mod socket_faults;
/// A waiter for a socket is notified of its events only; interrupts lose no data.
#[cfg(unix)]
mod socket_waits;
/// Sockets behave as those of `std`, and park the fiber.
#[cfg(unix)]
mod sockets;
/// A span of `tracing` follows its fiber.
#[cfg(feature = "tracing")]
mod spans;
/// Each spawned fiber runs once, in the right place, and leaves nothing behind.
mod spawn;
/// Captures and results of fibers arrive intact, and are dropped once.
mod spawn_values;
/// The deepest use of stacks, and advice on their size.
mod stack_use;
/// Stacks: large enough, guarded, reused, bounded without harm.
mod stacks;
/// Waits during a panic: no fiber is starved, and none taken for another.
mod unwinding;
