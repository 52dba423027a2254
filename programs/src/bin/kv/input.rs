//! Received bytes, split into requests as Redis splits them.
//!
//! A request is an array of strings (`*2\r\n$3\r\nGET\r\n$1\r\nk\r\n`) or a line of words, which
//! may be quoted. Requests are taken out of one buffer, one after the other. Only the words of a
//! line are copied, and the start of a large string, which is received into memory of its own.
//!
//! The part of a request that has come is not parsed again with each byte that follows: `args`,
//! `read` and `searched` are of the request that begins at `start`.

use std::io::{self, Read};
use std::mem;

use crate::large::Large;
use crate::request::{Place, Request};
use crate::store::LARGE;
use crate::{integer, words};

/// The received bytes of a connection that have not been taken.
#[derive(Debug)]
pub(crate) struct Input {
    /// Received up to `end`; spare capacity behind it.
    bytes: Vec<u8>,
    /// Where the next request begins.
    start: usize,
    end: usize,
    /// The last read took all the capacity that there was.
    was_filled: bool,
    /// Length of the part of that request that has been read, from `start`.
    read: usize,
    /// Number of bytes behind `read` that have been searched and do not end a line.
    searched: usize,
    /// Number of its arguments still to be read; `None` if it has not begun.
    missing: Option<usize>,
    /// Its arguments, from `start` or in `words`.
    args: Vec<Place>,
    /// The words of a line, without quotes.
    words: Vec<u8>,
    /// The large argument that is being received.
    large: Option<Large>,
    /// The bytes of the large arguments in `args`.
    apart: usize,
    /// Maximum memory of one request.
    most: usize,
}

/// A syntax error of a request, in the words of Redis.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum Broken {
    #[error("Protocol error: too big inline request")]
    LongLine,
    #[error("Protocol error: unbalanced quotes in request")]
    Quotes,
    #[error("Protocol error: too big mbulk count string")]
    LongCount,
    #[error("Protocol error: invalid multibulk length")]
    Count,
    #[error("Protocol error: too big bulk count string")]
    LongLength,
    #[error("Protocol error: expected '$', got '{}'", char::from(*.0))]
    NoLength(u8),
    #[error("Protocol error: invalid bulk length")]
    Length,
    /// Redis closes such a connection without an answer.
    #[error("a request of more than {0} bytes")]
    Huge(usize),
}

impl Input {
    pub(crate) fn new() -> Input {
        Input::with_limit(MOST)
    }

    fn with_limit(most: usize) -> Input {
        Input {
            bytes: vec![0; CHUNK],
            start: 0,
            end: 0,
            was_filled: false,
            read: 0,
            searched: 0,
            missing: None,
            args: Vec::new(),
            words: Vec::new(),
            large: None,
            apart: 0,
            most,
        }
    }

    /// Receives the available bytes, or waits for some; returns their number.
    ///
    /// # Errors
    /// As for `read`.
    pub(crate) fn fill(&mut self, mut from: impl Read) -> io::Result<usize> {
        if let Some(large) = &mut self.large
            && large.missing() > 0
        {
            return large.fill(from);
        }
        self.make_room();
        let n = from.read(&mut self.bytes[self.end..])?;
        self.end += n;
        self.was_filled = self.end == self.bytes.len();
        Ok(n)
    }

    /// Returns true if a large argument is being received, which may take the fiber long.
    pub(crate) fn is_large(&self) -> bool {
        self.large.is_some()
    }

    /// Takes the next request, if it is complete.
    ///
    /// # Errors
    /// If it is malformed: the start of the next one is unknown.
    pub(crate) fn next(&mut self) -> Result<Option<Request<'_>>, Broken> {
        loop {
            if self.missing.is_none() {
                self.forget();
            }
            let is_array = match self.unread().first() {
                _ if self.missing.is_some() => true,
                Some(first) => *first == b'*',
                None => return Ok(None),
            };
            let is_whole = if is_array {
                self.array()?
            } else {
                self.line()?
            };
            if !is_whole {
                return if self.memory() > self.most {
                    Err(Broken::Huge(self.most))
                } else {
                    Ok(None)
                };
            }
            let begins = self.start;
            self.start += self.read;
            self.read = 0;
            self.missing = None;
            if self.args.is_empty() {
                // An empty line or array is no request, and no error.
                continue;
            }
            let bytes = if is_array {
                &self.bytes[begins..]
            } else {
                &self.words
            };
            return Ok(Some(Request::new(bytes, &self.args)));
        }
    }

    /// Drops the arguments of the last request, with the memory for unusually many, and the share
    /// in a large value.
    #[inline]
    fn forget(&mut self) {
        self.args.clear();
        self.apart = 0;
        if self.args.capacity() > KEPT_ARGS {
            self.args = Vec::new();
        }
        if self.words.capacity() > KEPT {
            self.words = Vec::new();
        }
    }

    /// Returns the memory of the incomplete request.
    fn memory(&self) -> usize {
        let large = self.large.as_ref().map_or(0, Large::memory);
        let args = self.args.len() * size_of::<Place>();
        self.end - self.start + self.apart + large + args
    }

    /// Reads the received part of an array; true if it is complete.
    #[inline]
    fn array(&mut self) -> Result<bool, Broken> {
        if self.missing.is_none() {
            let Some(header) = self.header(Broken::LongCount)? else {
                return Ok(false);
            };
            let count = header.number.filter(|count| *count <= i64::from(i32::MAX));
            let count = count.ok_or(Broken::Count)?;
            self.missing = Some(usize::try_from(count).unwrap_or(0));
        }
        while self.missing > Some(0) {
            if self.large.is_some() {
                if !self.gather() {
                    return Ok(false);
                }
                continue;
            }
            let before = self.read;
            let Some(header) = self.header(Broken::LongLength)? else {
                return Ok(false);
            };
            if header.mark != b'$' {
                return Err(Broken::NoLength(header.mark));
            }
            let len = header.number.and_then(|len| usize::try_from(len).ok());
            let len = len.filter(|len| *len <= LONGEST).ok_or(Broken::Length)?;
            if len >= LARGE {
                self.large = Some(Large::new(len));
                continue;
            }
            if self.unread().len() < len + END {
                // The length is read again when the string has arrived.
                self.reserve(self.read + len + END);
                self.read = before;
                return Ok(false);
            }
            self.push(Place::Within(self.read..self.read + len));
            self.read += len + END;
        }
        Ok(true)
    }

    /// Moves the received part of a large argument to the argument; true if it is complete.
    #[cold]
    fn gather(&mut self) -> bool {
        let unread = &self.bytes[self.start + self.read..self.end];
        let Some(large) = &mut self.large else {
            return true;
        };
        let here = large.take_from(unread);
        if here == unread.len() {
            self.end -= here;
        } else {
            self.read += here;
        }
        if large.missing() > 0 || self.unread().len() < END {
            return false;
        }
        self.read += END;
        if let Some(large) = self.large.take() {
            let blob = large.into_blob();
            self.apart += blob.len();
            self.push(Place::Apart(blob));
        }
        true
    }

    #[inline]
    fn push(&mut self, place: Place) {
        self.args.push(place);
        self.missing = self.missing.map(|missing| missing - 1);
    }

    /// Reads a line of a mark and a number, if it is complete.
    #[inline]
    fn header(&mut self, too_long: Broken) -> Result<Option<Header>, Broken> {
        let len = self.search(|byte| byte == b'\r');
        let unread = self.unread();
        let Some(len) = len else {
            let is_long = unread.len() > LONGEST_LINE;
            return if is_long { Err(too_long) } else { Ok(None) };
        };
        if unread.len() < len + END {
            self.searched = len;
            return Ok(None);
        }
        let header = Header {
            mark: unread[0],
            number: integer::parse(unread.get(1..len).unwrap_or_default()),
        };
        self.read += len + END;
        Ok(Some(header))
    }

    /// Reads a line of words, if it is complete. Redis finds no end behind a byte 0: such a line
    /// gets too long.
    fn line(&mut self) -> Result<bool, Broken> {
        let end = self.search(|byte| matches!(byte, b'\n' | 0));
        let unread = &self.bytes[self.start + self.read..self.end];
        let Some(len) = end.filter(|at| unread[*at] == b'\n') else {
            self.searched = end.unwrap_or(unread.len());
            let is_long = unread.len() > LONGEST_LINE;
            return if is_long {
                Err(Broken::LongLine)
            } else {
                Ok(false)
            };
        };
        let line = &unread[..len];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        self.words.clear();
        words::split(line, &mut self.words, &mut self.args).ok_or(Broken::Quotes)?;
        self.read += len + 1;
        Ok(true)
    }

    /// Returns the position of the first byte of this value in the unread bytes.
    #[inline]
    fn search(&mut self, is_it: impl Fn(u8) -> bool) -> Option<usize> {
        let searched = mem::take(&mut self.searched);
        let mut rest = self.unread()[searched..].iter();
        let found = rest.position(|byte| is_it(*byte));
        if found.is_none() {
            self.searched = self.unread().len();
        }
        found.map(|at| searched + at)
    }

    fn unread(&self) -> &[u8] {
        &self.bytes[self.start + self.read..self.end]
    }

    /// Makes capacity behind the received bytes. Doubles it if the last read took less than there
    /// was: a client that sends batches is read and answered once for each. Releases capacity that
    /// was needed only once.
    fn make_room(&mut self) {
        let len = self.end - self.start;
        if self.bytes.len() > KEPT && len <= CHUNK / 2 {
            self.move_to_front();
            self.bytes.truncate(CHUNK);
            self.bytes.shrink_to_fit();
        } else if self.was_filled && self.bytes.len() < KEPT {
            self.start_at_front(2 * self.bytes.len());
        } else if len == 0 {
            (self.start, self.end) = (0, 0);
        } else if self.end == self.bytes.len() {
            self.reserve(2 * len);
        }
    }

    /// Makes capacity for a request of `len` bytes at the start of the next one.
    fn reserve(&mut self, len: usize) {
        if self.start + len > self.bytes.len() {
            self.start_at_front(len);
        }
    }

    /// Moves the next request to the front, with capacity for at least `len` bytes.
    fn start_at_front(&mut self, len: usize) {
        self.move_to_front();
        if self.bytes.len() < len {
            self.bytes.resize(len, 0);
        }
    }

    fn move_to_front(&mut self) {
        if self.start == 0 {
            return;
        }
        self.bytes.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
    }
}

/// The first line of an array or of one of its strings.
struct Header {
    mark: u8,
    /// `None` if it is malformed.
    number: Option<i64>,
}

/// The length of the end of a line. Its bytes are not checked, as in Redis.
const END: usize = 2;

/// Initial capacity of a connection: the size of one read in Redis.
const CHUNK: usize = 16 << 10;

/// Capacity that a connection keeps, for bytes and for arguments. Arbitrary; a batch of 16 requests
/// with 1 KiB each, as redis-benchmark sends, fits.
const KEPT: usize = 64 << 10;
const KEPT_ARGS: usize = 1 << 10;

/// Maximum memory of one request, and of one transaction: `client-query-buffer-limit` of Redis.
/// Also that of what is copied for the answers to one of them.
pub(crate) const MOST: usize = 1 << 30;

/// Maximum length of a line in Redis.
const LONGEST_LINE: usize = 64 << 10;

/// Maximum length of a string in Redis: `proto-max-bulk-len`.
pub(crate) const LONGEST: usize = 512 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Given;

    /// Returns the requests in `text`, which arrives `step` bytes at a time, and the error that
    /// ends them.
    fn requests(text: &[u8], step: usize) -> (Vec<Vec<Vec<u8>>>, Option<Broken>) {
        split(Input::new(), text, step)
    }

    fn split(
        mut input: Input,
        text: &[u8],
        step: usize,
    ) -> (Vec<Vec<Vec<u8>>>, Option<Broken>) {
        let mut found = Vec::new();
        for part in text.chunks(step) {
            let mut part = part;
            while !part.is_empty() {
                input.fill(&mut part).unwrap();
                loop {
                    match input.next() {
                        Ok(Some(request)) => {
                            found.push(request.args(0).map(<[u8]>::to_vec).collect());
                        }
                        Ok(None) => break,
                        Err(broken) => return (found, Some(broken)),
                    }
                }
            }
        }
        (found, None)
    }

    // Proves: N5-X-kv.
    #[test]
    fn requests_are_found_however_they_come() {
        let value = vec![b'x'; 3 * CHUNK];
        let mut text =
            b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n\r\n*0\r\nSET \"a b\" c\r\n".to_vec();
        text.extend(format!("*1\r\n${}\r\n", value.len()).bytes());
        text.extend(&value);
        text.extend(b"\r\nPING\n");
        let expected: Vec<Vec<Vec<u8>>> = vec![
            vec![b"GET".into(), b"k".into()],
            vec![b"SET".into(), b"a b".into(), b"c".into()],
            vec![value],
            vec![b"PING".into()],
        ];
        for step in [1, 2, 3, 7, 100, CHUNK, text.len()] {
            assert!(requests(&text, step) == (expected.clone(), None), "{step}");
        }
    }

    // Proves: N5-X-kvmemory.
    #[test]
    fn a_large_argument_is_received_apart() {
        let value = vec![b'v'; LARGE];
        let head = format!("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n${}\r\n", value.len());
        let text = [head.as_bytes(), &value, b"\r\nPING\r\n"].concat();
        for step in [1000, CHUNK, text.len()] {
            let mut input = Input::new();
            let mut names = Vec::new();
            for mut part in text.chunks(step) {
                while !part.is_empty() {
                    input.fill(&mut part).unwrap();
                    while let Some(request) = input.next().unwrap() {
                        names.push(request.arg(0).to_vec());
                        if request.len() == 3 {
                            let is_apart = matches!(request.value(2), Given::Shared(_));
                            assert!(is_apart && request.arg(2) == value);
                        }
                    }
                }
            }
            assert_eq!(names, [b"SET".to_vec(), b"PING".to_vec()]);
            // A waiting connection does not share the value.
            assert!(input.args.is_empty() && input.large.is_none());
        }
    }

    // Proves: N5-X-kvmemory.
    #[test]
    fn memory_for_many_arguments_is_given_back() {
        let mut text = b"*100000\r\n".to_vec();
        text.extend(b"$1\r\na\r\n".repeat(100_000));
        // The start of another request stays.
        text.extend(b"*2\r\n$4\r\nECHO\r\n");
        let text = text.as_slice();
        let line = b"ECHO "
            .iter()
            .chain(&[b'x'; KEPT - 100])
            .copied()
            .collect::<Vec<u8>>();
        let mut input = Input::new();
        for mut part in [text, b"$1\r\na\r\n", &line, b"\r\n*"] {
            while !part.is_empty() {
                input.fill(&mut part).unwrap();
                while input.next().unwrap().is_some() {}
            }
        }
        input.fill(io::empty()).unwrap();
        assert!(input.args.capacity() <= KEPT_ARGS);
        assert!(input.words.capacity() <= KEPT);
        assert!(input.bytes.capacity() <= KEPT);
    }

    // Proves: N5-X-kvmemory.
    #[test]
    fn a_request_has_a_limit() {
        let text = b"*10\r\n".iter().copied().chain(b"$1\r\na\r\n".repeat(9));
        let value = format!("*1\r\n${}\r\n{}", 2 * LARGE, "x".repeat(LARGE));
        for text in [text.collect(), value.into_bytes()] {
            let (found, broken) = split(Input::with_limit(200), &text, 10);
            assert_eq!((found.len(), broken), (0, Some(Broken::Huge(200))));
        }
    }

    /// A client that sends more than one read takes gets larger ones.
    // Proves: N5-X-kv.
    #[test]
    fn batches_are_read_whole() {
        let request = format!("*2\r\n$4\r\nECHO\r\n$1024\r\n{}\r\n", "x".repeat(1024));
        let batch = request.repeat(16).into_bytes();
        assert!(batch.len() > CHUNK);
        let mut input = Input::new();
        let mut reads = 0;
        for _ in 0..10 {
            let mut part = batch.as_slice();
            while !part.is_empty() {
                input.fill(&mut part).unwrap();
                reads += 1;
                while input.next().unwrap().is_some() {}
            }
        }
        assert_eq!(reads, 11, "all but the first at once");
        assert!(input.bytes.capacity() <= KEPT);
    }

    // Proves: N5-X-kv.
    #[test]
    fn what_is_no_request_is_reported() {
        let long = vec![b'1'; LONGEST_LINE + 1];
        let after = |start: &[u8]| [start, &long].concat();
        let cases = [
            (b"*x\r\n".to_vec(), Broken::Count),
            (b"*2147483648\r\n".to_vec(), Broken::Count),
            (b"*1\r\n+3\r\n".to_vec(), Broken::NoLength(b'+')),
            (b"*1\r\n$-1\r\n".to_vec(), Broken::Length),
            (b"*1\r\n$536870913\r\n".to_vec(), Broken::Length),
            (b"GET \"k\r\n".to_vec(), Broken::Quotes),
            (after(b""), Broken::LongLine),
            (after(b"\0\r\n"), Broken::LongLine),
            (after(b"GET a\0b\r\n"), Broken::LongLine),
            (after(b"*"), Broken::LongCount),
            (after(b"*1\r\n$"), Broken::LongLength),
        ];
        for (text, broken) in cases {
            assert_eq!(requests(&text, 1000), (vec![], Some(broken)));
        }
    }
}
