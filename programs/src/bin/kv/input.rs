//! Bytes that have come, split into requests the way Redis does.
//!
//! A request is an array of strings (`*2\r\n$3\r\nGET\r\n$1\r\nk\r\n`), or a line of words as a person
//! types them. Requests are taken one after the other out of one buffer, and nothing is copied but the
//! words of such a line, which may be quoted.
//!
//! A request of which not all has come is remembered as far as it was read: `args`, `read` and `searched`
//! are of the request that begins at `start`. So what has come is not read again with each byte that
//! comes, but for the length of a string, until the string is there.

use std::io::{self, Read};
use std::mem;
use std::ops::Range;

use crate::{integer, words};

/// What has come on a connection and has not been taken.
#[derive(Debug)]
pub(crate) struct Input {
    /// Received up to `end`; room behind it.
    bytes: Vec<u8>,
    /// Where the request begins that comes next.
    start: usize,
    end: usize,
    /// How far that request has been read, from `start`.
    read: usize,
    /// How many bytes behind `read` have been looked at, and do not end a line.
    searched: usize,
    /// How many of its arguments are still to be read; `None` if it has not begun.
    missing: Option<usize>,
    /// Where its arguments are, from `start`; or in `words`.
    args: Vec<Range<usize>>,
    /// The words of a line, without quotes.
    words: Vec<u8>,
}

/// A request: a command and its arguments, one at least.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request<'a> {
    bytes: &'a [u8],
    args: &'a [Range<usize>],
}

/// What is no request. Redis's words for it.
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
}

impl<'a> Request<'a> {
    pub(crate) fn len(&self) -> usize {
        self.args.len()
    }

    /// The command for 0, and its arguments.
    pub(crate) fn arg(&self, n: usize) -> &'a [u8] {
        &self.bytes[self.args[n].clone()]
    }

    /// The arguments from the `n`th.
    pub(crate) fn args(&self, n: usize) -> impl Iterator<Item = &'a [u8]> {
        let bytes = self.bytes;
        self.args[n..].iter().map(|arg| &bytes[arg.clone()])
    }
}

impl Input {
    pub(crate) fn new() -> Input {
        Input {
            bytes: vec![0; CHUNK],
            start: 0,
            end: 0,
            read: 0,
            searched: 0,
            missing: None,
            args: Vec::new(),
            words: Vec::new(),
        }
    }

    /// Receives what has come, waiting for something; returns how many bytes.
    ///
    /// # Errors
    /// As for `read`.
    pub(crate) fn fill(&mut self, mut from: impl Read) -> io::Result<usize> {
        self.make_room();
        let n = from.read(&mut self.bytes[self.end..])?;
        self.end += n;
        Ok(n)
    }

    /// Takes the next request, if all of it has come.
    ///
    /// # Errors
    /// If it is none: there is no telling where the next one would begin.
    pub(crate) fn next(&mut self) -> Result<Option<Request<'_>>, Broken> {
        loop {
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
                return Ok(None);
            }
            let begins = self.start;
            self.start += self.read;
            self.read = 0;
            self.missing = None;
            if self.args.is_empty() {
                // An empty line or array is no request, and no mistake.
                continue;
            }
            let bytes = if is_array {
                &self.bytes[begins..]
            } else {
                &self.words
            };
            let args = &self.args;
            return Ok(Some(Request { bytes, args }));
        }
    }

    /// Reads an array as far as it has come; true if that is all of it.
    fn array(&mut self) -> Result<bool, Broken> {
        if self.missing.is_none() {
            let Some(header) = self.header(Broken::LongCount)? else {
                return Ok(false);
            };
            let count = header.number.filter(|count| *count <= i64::from(i32::MAX));
            let count = count.ok_or(Broken::Count)?;
            self.missing = Some(usize::try_from(count).unwrap_or(0));
            self.args.clear();
        }
        while self.missing > Some(0) {
            let before = self.read;
            let Some(header) = self.header(Broken::LongLength)? else {
                return Ok(false);
            };
            if header.mark != b'$' {
                return Err(Broken::NoLength(header.mark));
            }
            let len = header.number.and_then(|len| usize::try_from(len).ok());
            let len = len.filter(|len| *len <= LONGEST).ok_or(Broken::Length)?;
            if self.unread().len() < len + END {
                // Who promises much is given room as it comes. When it is there its length is
                // read again.
                let has_come = self.end - self.start;
                let room = CHUNK.max(2 * has_come);
                self.reserve(room.min(self.read + len + END));
                self.read = before;
                return Ok(false);
            }
            self.args.push(self.read..self.read + len);
            self.read += len + END;
            self.missing = self.missing.map(|missing| missing - 1);
        }
        Ok(true)
    }

    /// Reads a line of a mark and a number, if all of it has come.
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

    /// Reads a line of words, if all of it has come. Redis finds no end behind a byte 0: such a line
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
        self.args.clear();
        words::split(line, &mut self.words, &mut self.args).ok_or(Broken::Quotes)?;
        self.read += len + 1;
        Ok(true)
    }

    /// Where the first byte of a kind is in what is unread.
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

    /// Makes room behind what has come, by moving it to the front if that is enough.
    fn make_room(&mut self) {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            if self.bytes.len() > KEPT {
                self.bytes.truncate(CHUNK);
                self.bytes.shrink_to_fit();
            }
        } else if self.end == self.bytes.len() {
            self.reserve(2 * (self.end - self.start));
        }
    }

    /// Makes room for a request of `len` bytes where the next one begins.
    fn reserve(&mut self, len: usize) {
        if self.start + len <= self.bytes.len() {
            return;
        }
        self.bytes.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.bytes.len() < len {
            self.bytes.resize(len, 0);
        }
    }
}

/// The first line of an array or of one of its strings.
struct Header {
    mark: u8,
    /// `None` if it is not written as one.
    number: Option<i64>,
}

/// The length of the end of a line. What it is made of is not looked at, as Redis does not.
const END: usize = 2;

/// Room that a connection begins with: what Redis reads at once.
const CHUNK: usize = 16 << 10;

/// Room that a connection keeps while it has nothing to read. Arbitrary.
const KEPT: usize = 64 << 10;

/// The longest line, and the longest string, that Redis takes.
const LONGEST_LINE: usize = 64 << 10;
const LONGEST: usize = 512 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    /// The requests in `text`, which comes `step` bytes at a time; and what ends them.
    fn requests(text: &[u8], step: usize) -> (Vec<Vec<Vec<u8>>>, Option<Broken>) {
        let mut input = Input::new();
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

    #[test]
    fn what_is_no_request_is_told() {
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
