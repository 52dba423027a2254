//! What touches the machine, tested through the library's public face: stacks, spawning, unwinding,
//! sockets, the environment. One module a promise.
//!
//! These are apart from `it` because they are built more often than the rest: once more on the portable
//! switch, parker and poller, once more with the features that look closer.
#![cfg(not(any(loom, shuttle)))]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "fibers are tested beside plain threads and against the real clock"
)]

// What `it` runs on too.
#[path = "../it/crew.rs"]
#[allow(dead_code, reason = "`it` uses the rest")]
mod crew;
#[cfg(target_os = "linux")]
#[path = "../it/holds.rs"]
#[expect(unsafe_code, reason = "signals to threads")]
#[allow(dead_code, reason = "tests in the library use the rest")]
mod holds;
#[path = "../it/rig.rs"]
#[allow(dead_code, reason = "`it` uses the rest")]
mod rig;
#[path = "../it/told.rs"]
#[allow(dead_code, reason = "`it` uses the rest")]
mod told;
#[path = "../it/unmeasured.rs"]
#[allow(dead_code, reason = "called in some builds only")]
mod unmeasured;
#[cfg(unix)]
#[path = "../it/wires.rs"]
#[allow(dead_code, reason = "`it` uses the rest")]
mod wires;

/// What the feature `diagnostics` looks at.
#[cfg(feature = "diagnostics")]
#[expect(unsafe_code, reason = "damages a stack on purpose")]
mod checks;
/// A thread that drives fibers ends after them.
mod driver_ends;
/// What the environment asks for is done, what cannot be used is named.
mod environment;
/// The frames of fibers that wait.
mod frames;
/// No wake is lost though any thread may stop between two instructions.
#[cfg(target_os = "linux")]
mod held;
/// Safe code that is sound under re-entrance goes wrong when fibers interleave in it: what the
/// documentation warns of.
mod interleaving;
/// Destructors of thread-locals and handlers at the end of the process use the library.
mod late;
/// What is written to standard error of channels, and of the number of threads.
mod logs;
/// A panic ends its fiber and nothing else, and reaches whoever joins.
mod panics;
/// The token of `std::thread`, on fibers and threads alike.
mod park;
/// Peers that end in one direction, reset, are killed, or never answer.
#[cfg(unix)]
mod socket_faults;
/// Who waits for a socket is told of what comes, and of nothing else; interrupts lose nothing.
#[cfg(unix)]
mod socket_waits;
/// Sockets do what `std`'s do, and park.
#[cfg(unix)]
mod sockets;
/// A span of `tracing` goes with its fiber.
#[cfg(feature = "tracing")]
mod spans;
/// Whatever is spawned runs once, in the right place, and leaves nothing behind.
mod spawn;
/// Stacks: large enough, guarded, reused, bounded without harm.
mod stacks;
/// Waits in the middle of a panic: nobody is locked out, and nobody mistaken.
mod unwinding;
