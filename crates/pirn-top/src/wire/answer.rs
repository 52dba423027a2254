//! The bytes of an answer, and their limits in time and in number.

#![expect(
    clippy::disallowed_methods,
    reason = "a program of plain threads, which looks at others' fibers"
)]

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use super::failure::Excess;

/// The limits on one answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// The longest silence before an explanation, and the longest time until the first byte.
    pub(super) silence: Duration,
    /// The longest time until the last byte.
    pub(super) time: Duration,
    /// The largest number of bytes.
    pub(super) bytes: u64,
}

impl Limits {
    /// The limits of this program. A runtime begins its answer at once and writes several times a
    /// second; a screen should not stay blank for more than two seconds. A runtime disconnects a
    /// client ten seconds after its request (`docs/inspect-format.md`). A gibibyte describes some
    /// millions of fibers.
    pub(super) const ALL: Limits = Limits {
        silence: Duration::from_millis(1_500),
        time: Duration::from_secs(12),
        bytes: 1 << 30,
    };
}

/// The reader of an answer. It fails at the first limit.
pub(super) struct Answer {
    socket: UnixStream,
    began: Instant,
    limits: Limits,
    received: u64,
    excess: Option<Excess>,
}

impl Answer {
    /// Returns the reader of what arrives on `socket`, for a request that was made at `began`.
    pub(super) fn new(socket: UnixStream, began: Instant, limits: Limits) -> Answer {
        Answer {
            socket,
            began,
            limits,
            received: 0,
            excess: None,
        }
    }

    /// Returns the limit that was exceeded. A silence is no limit.
    pub(super) fn excess(&self) -> Option<Excess> {
        self.excess
    }

    fn fail(&mut self, excess: Excess) -> io::Error {
        self.excess = Some(excess);
        io::ErrorKind::FileTooLarge.into()
    }
}

impl Read for Answer {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let Limits {
            silence,
            time,
            bytes,
        } = self.limits;
        let passed = self.began.elapsed();
        let left = time.saturating_sub(passed);
        // The time for the connection counts as silence.
        let patience = match self.received {
            0 => silence.saturating_sub(passed),
            _ => silence,
        };
        if left.is_zero() {
            return Err(self.fail(Excess::Time(time)));
        }
        // A timeout of zero would be none.
        let timeout = patience.min(left).max(Duration::from_millis(1));
        self.socket.set_read_timeout(Some(timeout))?;
        match self.socket.read(into) {
            Ok(read) => {
                self.received += read as u64;
                match self.received > bytes {
                    true => Err(self.fail(Excess::Bytes(bytes))),
                    false => Ok(read),
                }
            }
            Err(error) if is_timeout(&error) && left < patience => {
                Err(self.fail(Excess::Time(time)))
            }
            Err(error) => Err(error),
        }
    }
}

/// Returns true if the socket had a timeout, and it has passed.
pub(super) fn is_timeout(error: &io::Error) -> bool {
    use io::ErrorKind::{TimedOut, WouldBlock};
    matches!(error.kind(), WouldBlock | TimedOut)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// Returns a sending socket, and the reader at the other end.
    fn answer(limits: Limits) -> (UnixStream, Answer) {
        let (from, to) = UnixStream::pair().expect("sockets");
        (from, Answer::new(to, Instant::now(), limits))
    }

    /// An answer of the largest number of bytes is read; one more byte is an error, and no end.
    #[test]
    fn bytes_have_a_limit() {
        let limits = Limits {
            bytes: 10,
            ..Limits::ALL
        };
        for (sent, excess) in [(10, None), (11, Some(Excess::Bytes(10)))] {
            let (mut from, mut answer) = answer(limits);
            from.write_all(&vec![b'x'; sent]).expect("sent");
            drop(from);
            let read = answer.read_to_end(&mut Vec::new());
            assert_eq!(
                (read.ok(), answer.excess()),
                (excess.is_none().then_some(sent), excess)
            );
        }
    }

    /// A peer that is never silent for long, and never done, is given up.
    #[test]
    fn time_has_a_limit() {
        let time = Duration::from_millis(200);
        let (mut from, mut answer) = answer(Limits {
            time,
            ..Limits::ALL
        });
        let peer = std::thread::spawn(move || {
            while from.write_all(b"x").is_ok() {
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        assert!(answer.read_to_end(&mut Vec::new()).is_err());
        assert_eq!(answer.excess(), Some(Excess::Time(time)));
        drop(answer);
        peer.join().expect("it ends");
    }

    /// A silence is no excess, and the time before the first byte counts.
    #[test]
    fn a_silence_is_a_timeout() {
        let silence = Duration::from_millis(50);
        let (_from, mut answer) = answer(Limits {
            silence,
            ..Limits::ALL
        });
        let error = answer.read(&mut [0]).expect_err("a silent peer");
        assert!(is_timeout(&error) && answer.excess().is_none(), "{error}");
        assert!(answer.began.elapsed() >= silence);
    }
}
