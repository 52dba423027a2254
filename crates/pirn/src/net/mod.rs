//! Sockets with a blocking interface, in the shapes of `std::net` and `std::os::unix::net`.
//!
//! A call that would block parks the calling fiber. On a plain thread it blocks the thread, as in
//! `std`. Several fibers and threads may use one object at once, also for the same direction.
//!
//! # Examples
//! ```
//! use std::io::{Read, Write};
//!
//! use pirn::net::{TcpListener, TcpStream};
//!
//! # fn main() -> std::io::Result<()> {
//! let greeting = pirn::run(|| -> std::io::Result<String> {
//!     let listener = TcpListener::bind("127.0.0.1:0")?;
//!     let address = listener.local_addr()?;
//!     let server = pirn::spawn(move || -> std::io::Result<()> {
//!         let (mut stream, _) = listener.accept()?;
//!         stream.write_all(b"hello")
//!     });
//!     let mut text = String::new();
//!     TcpStream::connect(address)?.read_to_string(&mut text)?;
//!     server.join().unwrap()?;
//!     Ok(text)
//! })?;
//! assert_eq!(greeting, "hello");
//! # Ok(())
//! # }
//! ```
//!
//! # Interrupts and limits
//!
//! Every call here that may wait is an interruption point, through [`io::Error`](std::io::Error):
//! [`Interrupt::of`](crate::Interrupt::of) finds the interrupt in the error. Its kind is `Other`
//! for a cancellation and `TimedOut` for a deadline. It is never `Interrupted`, which many loops
//! retry without end. An interrupted call has done nothing. If an operation makes several calls, as
//! `write_all` does, an unknown number of them has completed.
//!
//! The contents of a `BufWriter` are lost if its fiber is cancelled before they are flushed under a
//! [`shield`](crate::cancel::shield). The flush on drop is interrupted too and reports nothing.
//!
//! `set_read_timeout` and `set_write_timeout` limit each single call. The time starts when the call
//! begins to wait. The error is of kind `TimedOut`, also where `std`'s is `WouldBlock`. The limits
//! belong to the socket, so clones share them.
//!
//! # Non-blocking calls
//!
//! At the level of the system every socket here is non-blocking; the calls themselves park or block
//! the caller. After `set_nonblocking(true)` a call that would have to wait fails with kind
//! `WouldBlock`, as in `std`. It remains an interruption point, and time limits are kept for later.
//! A call that is already waiting continues to wait. The mode belongs to the socket, so clones
//! share it. An accepted socket does not inherit it. It does not apply to the cases of selects, nor
//! to polls by futures. To wait for readiness, select on `ready_case` or `accept_case`. `incoming`
//! of a listener in this mode yields `WouldBlock` as an error, as in `std`.
//!
//! ```
//! use std::io::{ErrorKind, Read, Write};
//!
//! use pirn::net::UnixStream;
//!
//! let (mut one, mut other) = UnixStream::pair()?;
//! one.set_nonblocking(true)?;
//! assert_eq!(one.read(&mut [0; 16]).unwrap_err().kind(), ErrorKind::WouldBlock);
//! other.write_all(b"ping")?;
//! assert_eq!(one.read(&mut [0; 16])?, 4);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Descriptors
//!
//! A socket is made from an [`OwnedFd`](std::os::fd::OwnedFd) or from `std`'s type by `TryFrom`.
//! There is no `FromRawFd`, since its conversion could not return an error:
//!
//! ```
//! use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd};
//!
//! use pirn::net::UdpSocket;
//!
//! let raw = std::net::UdpSocket::bind("127.0.0.1:0")?.into_raw_fd();
//! // SAFETY: the descriptor is open, and this is its only owner.
//! let descriptor = unsafe { OwnedFd::from_raw_fd(raw) };
//! let socket = UdpSocket::try_from(descriptor)?;
//! assert_ne!(socket.local_addr()?.port(), 0);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! There is no `IntoRawFd` either: clones share a descriptor, and one of them cannot give it away.
//! `into_std` returns `std`'s type, which has `IntoRawFd`, if there is no other handle; else it
//! returns the handle.
//!
//! # Panics
//!
//! Inside the [poll](crate::future#inside-a-poll) of a future on a fiber, a call that has to wait
//! panics. With the feature `futures`, the streams implement `AsyncRead` and `AsyncWrite` of
//! `futures-io` for use there.
//!
//! # Clones
//!
//! `try_clone` returns another handle to the same socket and the same descriptor, without a system
//! call. (`std` duplicates the descriptor.) Dropping the last handle closes the socket.
//!
//! # Workers
//!
//! A socket is polled by the driver of the worker of the fiber that waits for it. So use one fiber
//! for each connection: it stays on its worker. If fibers of several workers wait in turn, the
//! socket moves between their drivers, at two system calls for each move. While fibers of several
//! workers wait at once, a separate thread polls the socket.
//!
//! Sockets work in a deterministic runtime, but the seed does not decide what they do and when. While
//! a fiber waits for a socket, virtual time is held, for up to
//! [`outside_limit`](crate::runtime::Builder::outside_limit) of real time without an event.

mod accepting;
mod address;
mod case;
#[cfg(feature = "hyper")]
mod hyper;
mod incoming;
mod options;
#[cfg(feature = "futures")]
mod polled;
mod socket;
mod tcp_listener;
mod tcp_stream;
mod udp;
mod unix_datagram;
mod unix_listener;
mod unix_stream;

pub use std::net::Shutdown;

pub use crate::readiness::Interest;
pub use address::{ToSocketAddrs, lookup_host};
pub use case::{AcceptCase, ReadyCase};
pub use incoming::{Incoming, UnixIncoming};
pub use options::ListenOptions;
pub use tcp_listener::TcpListener;
pub use tcp_stream::TcpStream;
pub use udp::UdpSocket;
pub use unix_datagram::UnixDatagram;
pub use unix_listener::UnixListener;
pub use unix_stream::UnixStream;
