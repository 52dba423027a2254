//! Copying from a reader to a writer, in one direction or in both.

use std::io::{self, ErrorKind, Read, Write};

use super::HalfClose;
use crate::scope::try_scope;
use crate::wait::Interrupt;

/// The buffer size of [`copy`]. Arbitrary: large enough that handing over calls on files hardly
/// counts.
const LARGE: usize = 64 << 10;

/// The buffer size of [`copy_bidirectional`], for each direction. Arbitrary: a connection may hold
/// such a buffer through a long wait.
const SMALL: usize = 16 << 10;

/// Copies from `reader` to `writer` until the end, like [`std::io::copy`], in pieces of 64 KiB.
/// Returns the number of bytes.
///
/// # Errors
/// The first error of either, except those of kind `Interrupted`, which are retried. Data copied by
/// then stay copied. An [`Interrupt`] is of another kind.
///
/// # Cancellation
/// An interruption point if reading or writing is.
///
/// # Examples
/// ```
/// use std::io::Write;
///
/// use pirn::io::copy;
/// use pirn::net::UnixStream;
///
/// let (mut one, mut other) = UnixStream::pair()?;
/// one.write_all(b"some bytes")?;
/// drop(one);
/// let mut bytes = Vec::new();
/// assert_eq!(copy(&mut other, &mut bytes)?, 10);
/// assert_eq!(bytes, b"some bytes");
/// # Ok::<(), std::io::Error>(())
/// ```
#[track_caller]
pub fn copy<R, W>(reader: &mut R, writer: &mut W) -> io::Result<u64>
where
    R: Read + ?Sized,
    W: Write + ?Sized,
{
    pass(reader, writer, LARGE, |_| Ok(()))
}

/// Copies from `a` to `b` and from `b` to `a` at the same time, until both have ended. Returns the
/// number of bytes from `a` to `b`, and from `b` to `a`.
///
/// When one side ends, the other is [half-closed](HalfClose), so the end is passed on while the
/// other direction continues. Each piece is flushed.
///
/// # Errors
/// The first error of either. The other direction is then interrupted; it ends with its current
/// call if that is no interruption point. Neither stream is closed: drop them. If the runtime shuts
/// down, the error is that of [`Interrupt::Cancelled`], also in a
/// [`shield`](crate::cancel::shield).
///
/// # Cancellation
/// An interruption point if reading or writing is. Parks a fiber or blocks a plain thread. One of
/// the directions is copied by another fiber of the current runtime.
///
/// # Examples
/// ```no_run
/// use pirn::io::copy_bidirectional;
/// use pirn::net::{TcpListener, TcpStream};
///
/// let listener = TcpListener::bind("127.0.0.1:8080")?;
/// for client in listener.incoming() {
///     let client = client?;
///     pirn::spawn(move || -> std::io::Result<()> {
///         let server = TcpStream::connect("127.0.0.1:80")?;
///         let (sent, received) = copy_bidirectional(&client, &server)?;
///         println!("{sent} bytes there, {received} back");
///         Ok(())
///     });
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
#[track_caller]
pub fn copy_bidirectional<A, B>(a: &A, b: &B) -> io::Result<(u64, u64)>
where
    A: HalfClose + Sync + ?Sized,
    B: HalfClose + Sync + ?Sized,
    for<'x> &'x A: Read + Write,
    for<'x> &'x B: Read + Write,
{
    let mut back = 0;
    let there = try_scope(|s| {
        let other = s.try_spawn(|| {
            back = pass(&mut &*b, &mut &*a, SMALL, |a| a.flush())?;
            a.half_close()
        });
        other.map_err(|_| Interrupt::Cancelled)?;
        let there = pass(&mut &*a, &mut &*b, SMALL, |b| b.flush())?;
        b.half_close()?;
        Ok::<u64, io::Error>(there)
    })?;
    Ok((there, back))
}

/// Copies in pieces of `size` at most; `written` is called after each.
#[track_caller]
fn pass<R, W>(
    reader: &mut R,
    writer: &mut W,
    size: usize,
    written: impl Fn(&mut W) -> io::Result<()>,
) -> io::Result<u64>
where
    R: Read + ?Sized,
    W: Write + ?Sized,
{
    let mut buffer = vec![0; size];
    let mut copied = 0;
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(copied),
            Ok(n) => {
                writer.write_all(&buffer[..n])?;
                written(writer)?;
                copied += n as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
