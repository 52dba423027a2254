//! Reads of files, made in place where the system has the bytes in memory.
//!
//! Owns: which reads are tried in place. Does not own: the trying (`sys`), what the system fetches by itself
//! (`sched::queued`), nor what is done with the others (`file_call`).
//!
//! To hand a read over costs two wakes of a thread, ten times what it takes to copy a page. So a fiber tries
//! first, if no more is asked for than may be copied without keeping the others waiting.

use std::fs::File;
use std::io;

use super::file_call::hand_over;
use crate::fiber::current;
use crate::sched::queued::read_queued;
use crate::sys::{Cached, Rest, read_cached};
use crate::wait::begin;
use crate::wait::polling::refuse_in_poll;

/// The most bytes that are copied in place, which takes some 15 µs; a tenth of what a
/// handed-over call of that size costs is lost if nothing is there. Arbitrary within these bounds.
const MOST: usize = 64 << 10;

/// Reads as `call` does, which begins at the place `at` or at the file's position: in place what is in
/// memory, if the file's reads are tried `in_place`, and the rest by `call`, which is told how much that
/// was. At the file's position what was in memory is all.
///
/// # Errors
/// The interrupt that the caller is under: then nothing has been read. Or what `call` says, unless
/// something was read before it.
///
/// # Cancellation
/// As `file_call`.
#[track_caller]
pub(crate) fn file_read(
    file: &File,
    in_place: bool,
    into: &mut [u8],
    at: Option<u64>,
    call: impl FnOnce(&File, &mut [u8], usize) -> io::Result<usize> + Send,
) -> io::Result<usize> {
    begin()?;
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
    begin()?;
    let n = fetch(file, in_place, into, at).n;
    match &mut into[n..] {
        [] => Ok(()),
        rest => hand_over(|| call(file, rest, n)),
    }
}

/// Reads what can be read without another thread, for a fiber: what is in memory, and from a place of
/// the file what the system fetches by itself.
#[track_caller]
fn fetch(file: &File, in_place: bool, into: &mut [u8], at: Option<u64>) -> Cached {
    let is_tried = in_place && (1..=MOST).contains(&into.len());
    if !is_tried || current::local().fiber().is_none() {
        return Cached::UNKNOWN;
    }
    // Else it would depend on the system's memory whether such a call panics.
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
