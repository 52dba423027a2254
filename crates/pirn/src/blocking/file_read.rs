//! Reads of files that are made in place if the bytes are in memory.
//!
//! Owns: which reads are tried in place. Does not own: the attempt (`sys`), reads that the system
//! completes by itself (`sched::io::queued`), nor the others (`file_call`).
//!
//! Handing a read over costs two wake-ups of a thread, ten times as much as copying a page. So a
//! fiber tries first, if the size is small enough to copy without delaying other fibers.

use std::fs::File;
use std::io;

use super::file_call::hand_over;
use crate::base::choice::Operation;
use crate::fiber::current;
use crate::sched::worker::system::read_queued;
use crate::sys::{Cached, Rest, read_cached};
use crate::wait::begin;
use crate::wait::polling::refuse_in_poll;

/// The most bytes that are copied in place, which takes about 15 µs. If nothing is in memory, the
/// attempt loses a tenth of the cost of a handed-over call of that size. Arbitrary within these
/// bounds.
const MOST: usize = 64 << 10;

/// Reads like `call`, from offset `at` or from the file's position. If the file's reads are tried
/// `in_place`, the part in memory is read in place. `call` reads the rest; its argument is the
/// length already read. At the file's position the part in memory is the result.
///
/// # Errors
/// The caller's interrupt: then nothing has been read. Or the error of `call`, unless something was
/// read before it.
///
/// # Cancellation
/// Like `file_call`.
#[track_caller]
pub(crate) fn file_read(
    file: &File,
    in_place: bool,
    into: &mut [u8],
    at: Option<u64>,
    call: impl FnOnce(&File, &mut [u8], usize) -> io::Result<usize> + Send,
) -> io::Result<usize> {
    begin(Operation::Io, 0)?;
    let n = match fetch(file, in_place, into, at) {
        Cached {
            n,
            rest: Rest::Nothing,
        } => return Ok(n),
        Cached { n, .. } => n,
    };
    match hand_over(|| call(file, &mut into[n..], n)) {
        Ok(more) => Ok(n + more),
        Err(_) if n > 0 => Ok(n),
        Err(error) => Err(error),
    }
}

/// Like [`file_read`], until `into` is full.
#[track_caller]
pub(crate) fn file_read_exact(
    file: &File,
    in_place: bool,
    into: &mut [u8],
    at: Option<u64>,
    call: impl FnOnce(&File, &mut [u8], usize) -> io::Result<()> + Send,
) -> io::Result<()> {
    begin(Operation::Io, 0)?;
    let n = fetch(file, in_place, into, at).n;
    match &mut into[n..] {
        [] => Ok(()),
        rest => hand_over(|| call(file, rest, n)),
    }
}

/// Reads for a fiber without another thread: the part in memory, and from an offset of the file
/// also the part that the system fetches by itself.
#[track_caller]
fn fetch(file: &File, in_place: bool, into: &mut [u8], at: Option<u64>) -> Cached {
    let is_tried = in_place && (1..=MOST).contains(&into.len());
    if !is_tried || current::local().fiber().is_none() {
        return Cached::UNKNOWN;
    }
    // Otherwise the state of the page cache would decide whether such a call panics.
    refuse_in_poll();
    let found = read_cached(file, into, at);
    let Cached { n, .. } = found;
    let (Rest::Away, Some(at)) = (found.rest, at) else {
        return found;
    };
    match read_queued(file, &mut into[n..], at + n as u64) {
        None => found,
        Some(more) => Cached {
            n: n + more,
            rest: Rest::Nothing,
        },
    }
}
