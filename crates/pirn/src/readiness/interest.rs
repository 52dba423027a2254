//! The two sides of a source.

/// The readiness of a socket to wait for: readable or writable.
///
/// # Examples
/// ```
/// use pirn::net::{Interest, UnixStream};
///
/// let (one, _other) = UnixStream::pair()?;
/// pirn::select! {
///     case(one.ready_case(Interest::Readable)) -> _ => panic!("nothing was written"),
///     case(one.ready_case(Interest::Writable)) -> _ => {},
///     cancelled(interrupt) => panic!("{interrupt}"),
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Interest {
    /// Data to read, a connection to accept, or the end.
    Readable,
    /// Space in the send buffer.
    Writable,
}
