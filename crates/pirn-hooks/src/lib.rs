//! Blocking calls of libc park the [pirn](pirn) fiber that makes them.
//!
//! A blocking call in a fiber blocks its thread, and all other fibers of that thread wait. This
//! crate defines the blocking functions of libc: [the list](#functions). In a program that links
//! it, calls by the standard library, by Rust crates and by shared C libraries come here. Inside of
//! [`within`], on a fiber, they park the fiber and leave the thread to others. Everywhere else they
//! do what libc does.
//!
//! ```
//! use std::io::{Read, Write};
//! use std::os::unix::net::UnixStream;
//!
//! // Two fibers of one thread, with sockets of `std`: without `within`, the first read would block
//! // the thread, and nothing would be written.
//! let (mut one, mut other) = UnixStream::pair()?;
//! let runtime = pirn::runtime::Builder::new().workers(1).build()?;
//! let read = runtime.run(move || {
//!     let reader = pirn::spawn(move || {
//!         pirn_hooks::within(|| {
//!             let mut byte = [0];
//!             one.read_exact(&mut byte).map(|()| byte[0])
//!         })
//!     });
//!     pirn::spawn(move || pirn_hooks::within(|| other.write_all(&[7])));
//!     reader.join()
//! });
//! assert_eq!(read.unwrap()?, 7);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Functions
//! | family | functions | how the fiber waits |
//! |---|---|---|
//! | sockets | `connect`, `accept`, `accept4`, `recv`, `recvfrom`, `recvmsg`, `send`, `sendto`, `sendmsg` | until the socket is ready |
//! | descriptors | `read`, `readv`, `write`, `writev` on sockets, pipes, terminals, eventfds, timerfds | until it is ready |
//! | readiness | `poll`, `ppoll`, `select`, `pselect` (the latter three without a signal mask) | until one is ready |
//! | sleeps | `nanosleep`, `clock_nanosleep`, `usleep`, `sleep` | by a timer |
//! | processes | `waitpid`, `waitid` for one child | until the child ends |
//! | names | `getaddrinfo`, `getnameinfo` | while a thread of [`pirn::blocking`] calls it |
//! | signals | `sigaction`, `signal` | not at all: calls in the handlers that they install do not park |
//! | the end of a number | `close`, `dup2`, `dup3` | not at all: they wake the fibers that wait for it |
//!
//! # What a call returns
//! What libc returns, with the same `errno`, and with these differences:
//! * A deadline of the code around the call, such as [`pirn::timeout`], ends it with `ETIMEDOUT`,
//!   and a cancellation ends it with `ECANCELED`. A transfer that has moved some bytes returns their
//!   number. A sleep ends early and returns 0 (`sleep`: the rest); the next call of
//!   [`pirn::cancel::check`] returns the reason. Descriptors with `O_NONBLOCK` are not affected.
//! * No call returns `EINTR` from a wait: a signal does not reach a parked fiber.
//! * If another fiber closes the descriptor that a call waits for, the call returns `EBADF`.
//!   `close` on Linux leaves it waiting.
//! * A socket is `O_NONBLOCK` for a moment while `connect` is called.
//! * The functions are no cancellation points of `pthread_cancel`.
//!
//! # Rules
//! * **Discard a connection after an interrupted call.** Its reply, or the rest of it, is still to
//!   come, and the next request would receive it.
//! * **Do not hold a lock of `std` or C over a call.** The fiber that waits for the lock blocks its
//!   thread. If the holder has started on the same thread, both wait for ever.
//! * **Do not keep a thread-local borrowed over a call**: a fiber of the same thread may borrow it,
//!   too. See "What is not covered" in the documentation of `pirn`.
//!
//! # What still blocks
//! * Regular files: [`pirn::fs`] parks.
//! * Descriptors 1 and 2: `std` holds a lock by thread while it writes to them.
//! * `epoll_wait`, futexes, and thus locks, `thread::park`, channels of `std`: use [`pirn::sync`],
//!   [`pirn::channel`] and [`pirn::future`].
//! * Calls that do not go through a symbol of libc: raw system calls, such as those of `rustix`,
//!   and calls inside of libc, such as those of `fread`.
//!
//! [`stats`] counts the calls of each function, and how many have parked or blocked.

#![cfg(target_os = "linux")]

#[expect(unsafe_code, reason = "the symbols of libc")]
mod closing;
mod descriptor;
#[expect(unsafe_code, reason = "a function that fork calls")]
mod forks;
#[expect(unsafe_code, reason = "system calls with the arguments of callers")]
mod kernel;
#[expect(unsafe_code, reason = "the symbols of libc")]
mod names;
mod operation;
#[expect(unsafe_code, reason = "the symbols of libc")]
mod processes;
#[expect(unsafe_code, reason = "the symbols of libc")]
mod readiness;
mod region;
#[expect(unsafe_code, reason = "the symbols of libc, and handlers in a table")]
mod signals;
#[expect(unsafe_code, reason = "the symbols of libc")]
mod sleeps;
#[expect(unsafe_code, reason = "the symbols of libc")]
mod sockets;
mod stats;
#[expect(unsafe_code, reason = "the symbols of libc")]
mod transfers;
#[expect(unsafe_code, reason = "arrays of parts that callers pass")]
mod vector;

pub use region::{within, without};
pub use stats::{FunctionStats, Stats, stats};
