//! Blocking calls of libc park the [pirn] fiber that makes them.
//!
//! A blocking call in a fiber blocks its thread, and all other fibers of that thread wait. This
//! crate defines the blocking functions of libc ([the list](#functions)). In a program that links
//! it, calls by the standard library, by Rust crates and by C libraries reach these functions. A
//! call parks its fiber inside of [`within`], and everywhere on a runtime that was built with
//! [`hooks`](pirn::runtime::Builder::hooks). All other calls, such as those of plain threads, do
//! what libc does.
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
//! # Setup
//! Linux with glibc, linked dynamically. A program that only uses `hooks(true)` must name the
//! crate, or it is not linked:
//! ```toml
//! [dependencies]
//! pirn = { path = "path/to/clone/crates/pirn" }
//! pirn-hooks = { path = "path/to/clone/crates/pirn-hooks" }
//! ```
//! ```
//! use pirn_hooks as _;
//!
//! let runtime = pirn::runtime::Builder::new().workers(1).hooks(true).build()?;
//! runtime.run(|| std::thread::sleep(std::time::Duration::from_millis(1)));
//! // The sleep has parked its fiber.
//! assert_eq!(pirn_hooks::stats().of("clock_nanosleep").unwrap().parked, 1);
//! # Ok::<(), std::io::Error>(())
//! ```
//! C libraries may need more stack than the 256 KiB of a fiber by default:
//! [`stack_size`](pirn::runtime::Builder::stack_size).
//!
//! # Functions
//! | family | functions | the fiber waits |
//! |---|---|---|
//! | sockets | `connect`, `accept`, `accept4`, `recv`, `recvfrom`, `recvmsg`, `recvmmsg` (without a time limit), `send`, `sendto`, `sendmsg`, `sendmmsg` | until the socket is ready |
//! | descriptors | `read`, `readv` on sockets, pipes, terminals, eventfds, timerfds; `write`, `writev` on sockets and pipes | until it is ready |
//! | readiness | `poll`, `select`; `ppoll` and `pselect` without a signal mask | until one is ready, or the limit is over |
//! | sleeps | `nanosleep`, `clock_nanosleep`, `usleep`, `sleep` | by a timer |
//! | processes | `waitpid`, `waitid` for one child | until the child ends |
//! | locks of files | `flock`, `fcntl` (`F_SETLKW`, `F_OFD_SETLKW`) | it tries again every 1 to 32 ms |
//! | names | `getaddrinfo`, `getnameinfo` | while a thread of [`pirn::blocking`](pirn::blocking()) calls it |
//! | moves | `sendfile`, `splice` | not at all: on sockets and pipes they fail with `EINVAL`; `std::io::copy` then reads and writes |
//! | signals | `sigaction`, `signal`, `ssignal`, `sysv_signal` | not at all: calls in the handlers that they install do not park |
//! | closing | `close`, `close_range`, `dup2`, `dup3` | not at all: they wake the fibers that wait for the descriptor |
//!
//! # Results
//! What libc returns, with the same `errno`. Time limits of sockets (`set_read_timeout`) apply, and
//! descriptors with `O_NONBLOCK` and calls with `MSG_DONTWAIT` return at once. The differences:
//! * A deadline of the code around the call, such as [`pirn::timeout`], ends it with `ETIMEDOUT`
//!   ([`TimedOut`](std::io::ErrorKind::TimedOut)), and a cancellation with `ECANCELED`
//!   ([`raw_os_error`](std::io::Error::raw_os_error)). A transfer that has moved some bytes returns
//!   their number. A sleep ends early and returns 0 (`sleep`: the rest). Names are resolved to the
//!   end. Calls on descriptors with `O_NONBLOCK` are not interrupted, but `poll` and `select` are.
//! * Until the cancelled code has been left, each call fails at once, and each sleep ends at once.
//!   A loop that tries again must call [`pirn::cancel::check`]. Code that must complete runs in
//!   [`pirn::cancel::shield`]. That is also for [`std::process::Command`]: `std` panics if its
//!   waits are interrupted, and the child runs on. [`pirn::process`] does not.
//! * `shutdown` of the writing side of a Unix socket does not wake a fiber that waits to write to
//!   it.
//! * A parked call never returns `EINTR`: a signal does not wake a fiber. Code that bounds a call
//!   by `alarm` and a handler waits on; use a deadline.
//! * If one of these functions closes the descriptor while the fiber waits, the call returns
//!   `EBADF`, and `poll` of one descriptor, for reads or for writes, reports `POLLNVAL`. Linux
//!   leaves a thread waiting; so do other calls of `poll` and `select` here.
//! * An array at an invalid address ends the process, where Linux returns `EFAULT`.
//! * `connect` sets `O_NONBLOCK` for the time of one system call. Another call on the same socket
//!   may return `EAGAIN` then.
//! * `fcntl(F_SETLKW)` never returns `EDEADLK`.
//! * `SO_RCVLOWAT` does not apply: a receive returns what is there. The time limits of a Unix
//!   stream and of `recvmmsg` are for the whole call; Linux begins them anew for each buffer or
//!   message.
//! * A read of a terminal with `VMIN` 0 waits for a byte, and one of a named pipe that no writer
//!   has opened waits for a writer.
//! * The functions are no cancellation points of `pthread_cancel`.
//! * In a child of `fork`, calls do what libc does.
//!
//! # Rules
//! * **Discard a connection after an interrupted call.** Its reply, or the rest of it, is still to
//!   come, and the next request would receive it.
//! * **Do not hold a lock of `std` or C over a call.** A fiber that waits for the lock blocks its
//!   thread. If the holder is parked on the same thread, neither resumes.
//! * **Pools of other crates wait with such locks.** Use [`pirn::sync::Pool`], have a connection
//!   for each fiber, or call `pirn::blocking(|| pool.get())`.
//! * **Do not keep a thread-local borrowed over a call.** Another fiber of the thread may borrow it
//!   meanwhile.
//! * **Do not leave a signal handler by `siglongjmp`.** Calls of that thread would not park any
//!   more.
//! * **Fetch OpenSSL's errors after each call that fails.** Their queue belongs to the thread.
//!   While a fiber waits inside of a TLS call, other fibers of the thread use the same queue. If
//!   the waiting call then returns without success, `SSL_get_error` takes errors that they have
//!   left for its own. If they clear the queue, errors that it recorded before the wait are lost.
//!
//! # Calls that still block
//! * Regular files: [`pirn::fs`] parks.
//! * Writes to descriptors 1 and 2: `std` holds a lock that the same thread may take again, so
//!   another fiber would enter it. (Reads of 0 park. `std` holds a lock over them: read standard
//!   input in one fiber.)
//! * Futexes, and thus locks, `thread::park`, channels of `std`, `thread::join`: use [`pirn::sync`]
//!   and [`pirn::channel`]. A wait behind which a fiber of the same thread is ready is reported.
//! * `epoll_wait` and `epoll_pwait`, counted, also in cancelled code: a crate that calls it has a
//!   runtime of its own. Call the crate in [`pirn::blocking`](pirn::blocking()).
//! * `waitpid` for any child, `wait`, `wait3`, `wait4`; `ppoll` and `pselect` with a mask;
//!   `recvmsg` with `MSG_WAITALL`; sends with `MSG_FASTOPEN`.
//! * `open` of a named pipe; writes to terminals; `close` of a socket with `SO_LINGER`; `lockf`.
//! * `sem_wait`, `sigwait`, `sigsuspend`, `pause`, `msgrcv`, `msgsnd`, `semop`, `mq_receive`,
//!   `mq_send`, `gethostbyname`.
//! * `preadv2` and `pwritev2` at the position -1. (`preadv`, `pwritev` and `copy_file_range` do not
//!   park either; on sockets and pipes they fail at once, as on a thread.)
//! * Calls that do not go through a symbol of libc: raw system calls, such as those of `rustix`,
//!   of Go code in an archive, and of libraries into which libc is linked statically, alone or with
//!   libcrypto; and calls inside of libc, such as those of `fread`. The crate does not see them, so
//!   they are not counted either.
//! * All calls in the middle of a poll of a future.
//!
//! # Not tested
//! Programs with fat LTO, glibc linked statically, musl, the crate rdkafka (no broker). The tests
//! of this crate do not run under ThreadSanitizer: the crate takes the place of the functions by
//! which the sanitizer follows descriptors, so the next use of a number appears to race with the
//! last one.
//!
//! # Diagnostics
//! [`stats`](stats()) counts the calls of each function, and how many have parked or blocked.
//! [`pirn::diag::dump`] names the function and the descriptor that a fiber waits for. A call in the
//! region that has blocked its thread for 10 ms or longer is reported on standard error when it
//! ends, once for each function and spawn line. A fiber that blocks its thread for more than 100 ms
//! while others wait behind it is reported as a stall.
//! [`slow_fiber(None)`](pirn::runtime::Builder::slow_fiber) switches both off.

#![cfg(target_os = "linux")]

// The code of the package's first page is compiled and run with the doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod blocks;
#[expect(unsafe_code, reason = "the symbols of libc")]
mod closing;
mod descriptor;
#[expect(unsafe_code, reason = "system calls with the arguments of callers")]
mod kernel;
#[expect(unsafe_code, reason = "a function that runs before `main`")]
mod linked;
#[expect(unsafe_code, reason = "the symbols of libc")]
mod locks;
#[expect(unsafe_code, reason = "the symbols of libc")]
mod messages;
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
#[expect(unsafe_code, reason = "the symbols of libc")]
mod splices;
mod stats;
#[expect(unsafe_code, reason = "the symbols of libc")]
mod transfers;
#[expect(unsafe_code, reason = "arrays of parts that callers pass")]
mod vector;

pub use region::{within, without};
pub use stats::{FunctionStats, Stats, stats};
