//! Sockets that look blocking: the shapes of `std::net` and `std::os::unix::net`.
//!
//! What would block parks the calling fiber; called from a plain thread it blocks the thread, as
//! `std`'s does. One object may be used by several fibers and threads at once, also for
//! the same direction.
//!
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
//! Whatever may wait here is an interruption point, through [`io::Error`](std::io::Error):
//! [`Interrupt::of`](crate::Interrupt::of) finds the interrupt in it. Its kind is `Other` for a
//! cancellation and `TimedOut` for a deadline, never `Interrupted`, which many loops retry without
//! end. An interrupted call has done nothing; but of what is made of several calls, as `write_all`
//! is, the first ones have been done, and how many cannot be told.
//!
//! What a `BufWriter` holds when its fiber is cancelled is lost if nobody flushes it under a
//! [`shield`](crate::cancel::shield): the flush of its drop is interrupted too, and says nothing.
//!
//! `set_read_timeout` and `set_write_timeout` limit each single call, counted from when it has to
//! wait. Its error is of kind `TimedOut`, also where `std`'s is `WouldBlock`. The limits belong to the
//! socket, so clones share them.
//!
//! # Clones
//!
//! `try_clone` makes another handle to the same socket and the same descriptor: it costs no system
//! call. The socket is closed with the last handle. (`std`'s duplicates the descriptor.)
//!
//! # Which worker
//!
//! A socket belongs to no worker: the one whose fiber has to wait for it asks the system
//! about it. So a fiber that handles a connection is best spawned for it, and stays on its worker;
//! a socket that fibers of several workers wait for by turns moves with them, at the cost of two
//! system calls for each move; while several do at once, a thread beside the workers asks.
//!
//! In a deterministic runtime sockets work, but what they do and when is not the seed's to
//! decide; virtual time passes when nothing is ready, whatever is on its way.

mod accepting;
mod address;
#[expect(unsafe_code, reason = "the contract of a case")]
mod case;
#[cfg(feature = "hyper")]
#[expect(unsafe_code, reason = "reads into memory that is not initialized")]
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
