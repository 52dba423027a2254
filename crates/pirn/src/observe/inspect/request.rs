//! Requests: one line each.

/// The largest number of bytes of a request.
pub(super) const LONGEST: usize = 80;

/// A request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// Everything, with at most `most` fibers of each worker.
    Snapshot { most: usize },
    /// One fiber, with its frames.
    Fiber { id: u64 },
}

impl Request {
    /// Parses a client's line of at most [`LONGEST`] bytes.
    ///
    /// # Errors
    /// A text that says what is wrong.
    pub(super) fn read(said: &[u8]) -> Result<Request, String> {
        match said.iter().position(|byte| *byte == b'\n') {
            Some(end) => Request::parse(&said[..end]),
            None if said.len() >= LONGEST => {
                Err(format!("a request has at most {LONGEST} bytes"))
            }
            None => Err("a request ends with a line feed".to_owned()),
        }
    }

    fn parse(line: &[u8]) -> Result<Request, String> {
        let text = String::from_utf8_lossy(line);
        let mut words = text.split_ascii_whitespace();
        let request = match (words.next(), words.next().map(str::parse::<u64>)) {
            (Some("snapshot"), None) => Some(Request::Snapshot { most: usize::MAX }),
            (Some("snapshot"), Some(Ok(most))) => {
                let most = usize::try_from(most).unwrap_or(usize::MAX);
                Some(Request::Snapshot { most })
            }
            (Some("fiber"), Some(Ok(id))) => Some(Request::Fiber { id }),
            _ => None,
        };
        match request.filter(|_| words.next().is_none()) {
            Some(request) => Ok(request),
            None => Err(format!("unknown request '{text}'")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, Request};

    fn read(bytes: &[u8]) -> Result<Request, String> {
        Request::read(bytes)
    }

    #[test]
    fn requests_are_read() {
        let most = usize::MAX;
        assert_eq!(read(b"snapshot\n"), Ok(Request::Snapshot { most }));
        let most = 12;
        assert_eq!(read(b" snapshot  12\r\n"), Ok(Request::Snapshot { most }));
        let id = u64::MAX;
        let line = format!("fiber {id}\nand what follows");
        assert_eq!(read(line.as_bytes()), Ok(Request::Fiber { id }));
    }

    #[test]
    fn anything_else_is_refused() {
        for line in [
            "",
            " ",
            "snap",
            "snapshot -1",
            "snapshot 1 2",
            "fiber",
            "fiber x",
            "fiber 1 2",
            "snapshot 18446744073709551616",
        ] {
            let said = read(format!("{line}\n").as_bytes()).expect_err(line);
            assert_eq!(said, format!("unknown request '{line}'"));
        }
        assert!(
            read(b"\xff\x00\n")
                .expect_err("refused")
                .contains("unknown")
        );
        assert!(
            read(b"snapshot")
                .expect_err("refused")
                .contains("line feed")
        );
        assert!(read(b"").expect_err("refused").contains("line feed"));
        let long = [b'x'; LONGEST + 1];
        assert!(read(&long).expect_err("refused").contains("at most"));
    }
}
