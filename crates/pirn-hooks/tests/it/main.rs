//! Code of `std` and libc that blocks, on fibers of one worker: what must not block the thread
//! would hang here.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "what blocks a thread is the subject"
)]

mod closing;
#[expect(unsafe_code, reason = "calls of libc as C makes them")]
mod corners;
mod deadlines;
mod differential;
mod fixture;
mod locks;
mod many;
mod names;
mod processes;
#[expect(unsafe_code, reason = "calls of libc as C makes them")]
mod raw;
mod readiness;
mod regions;
mod same;
#[expect(unsafe_code, reason = "handlers of signals")]
mod signals;
mod sleeps;
mod sockets;
mod transfers;
