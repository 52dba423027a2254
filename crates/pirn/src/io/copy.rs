//! Copying from what reads to what writes, in one direction or in both.

use std::io::{self, ErrorKind, Read, Write};

use super::HalfClose;
use crate::scope::try_scope;

/// What [`copy`] reads at once. Arbitrary: enough that handing over calls on files hardly counts.
const LARGE: usize = 64 << 10;

/// What [`copy_bidirectional`] reads at once, for each direction. Arbitrary: a connection may wait
/// for long with such a buffer.
const SMALL: usize = 16 << 10;

/// Copies all that `reader` has to `writer`, and returns how many bytes that were; as
/// [`std::io::copy`], in larger pieces.
///
/// # Errors
/// The first that either reports, but for those of kind `Interrupted`, which are tried again. What
/// has been copied by then stays copied. An [`Interrupt`](crate::Interrupt) is of another kind.
///
/// # Cancellation
/// An interruption point if reading or writing is.
#[track_caller]
pub fn copy<R, W>(reader: &mut R, writer: &mut W) -> io::Result<u64>
where
    R: Read + ?Sized,
    W: Write + ?Sized,
{
    pass(reader, writer, LARGE, |_| Ok(()))
}

/// Copies what `a` has to `b` and what `b` has to `a`, at the same time, until both have come to
/// their ends; returns how many bytes went from `a` to `b`, and how many from `b` to `a`.
///
/// When one comes to its end, the other is [half-closed](HalfClose): so the end is passed
/// on, while the other direction goes on. Each piece is flushed.
///
/// # Errors
/// The first error that either reports. The other direction is interrupted then; it ends with its
/// current call if that is no interruption point. Neither is closed: drop them.
///
/// # Cancellation
/// An interruption point if reading or writing is. Parks a fiber, blocks a plain thread, for which
/// a fiber of the current runtime copies in one of the directions.
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
        drop(s.spawn(|| {
            back = pass(&mut &*b, &mut &*a, SMALL, |a| a.flush())?;
            a.half_close()
        }));
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
