//! Recordings: answers in a file, each behind a line with its time.

#![expect(
    clippy::disallowed_methods,
    reason = "a program of plain threads, which looks at others' fibers"
)]

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;

use crate::wire::{Failure, read};

/// The version of the format of recordings.
const VERSION: u64 = 1;

/// Maximum bytes of a line that is read. Arbitrary: a line describes one fiber, in some 300 bytes.
const LONGEST_LINE: u64 = 16 << 20;

/// Maximum bytes of an answer, which is read as a whole: as many as `wire` accepts.
const LARGEST_ANSWER: u64 = 1 << 30;

/// Writes a recording.
#[derive(Debug)]
pub struct Recorder {
    file: File,
    path: PathBuf,
    /// Number of answers written.
    pub written: u64,
}

impl Recorder {
    /// Creates the file, for this user only, as the socket is.
    ///
    /// # Errors
    /// The system's error, with the path; one of them is that the file exists.
    pub fn create(path: &Path) -> Result<Recorder, Failure> {
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path);
        Ok(Recorder {
            file: file.map_err(|error| at(path, &error))?,
            path: path.to_owned(),
            written: 0,
        })
    }

    /// Appends an answer that came at this time, in milliseconds since 1970.
    ///
    /// # Errors
    /// The system's error, with the path. The answers before remain in the file.
    pub fn append(&mut self, at_ms: u64, answer: &[u8]) -> Result<(), Failure> {
        let head = format!(
            "{{\"kind\":\"recorded\",\"version\":{VERSION},\"at_ms\":{at_ms}}}\n"
        );
        let written = self.file.write_all(&[head.as_bytes(), answer].concat());
        written.map_err(|error| at(&self.path, &error))?;
        self.written += 1;
        Ok(())
    }
}

/// A recording that is read.
#[derive(Debug)]
pub struct Recording {
    file: Mutex<File>,
    path: PathBuf,
    /// The answers: the time of each, in milliseconds since 1970, and its bytes in the file.
    answers: Vec<(u64, Range<u64>)>,
}

/// The line before an answer.
#[derive(Deserialize)]
struct Head {
    kind: String,
    version: Option<u64>,
    at_ms: Option<u64>,
}

impl Recording {
    /// Opens a file, and finds the answers in it. An incomplete one is left out: the recorder was
    /// killed, or the disk was full.
    ///
    /// # Errors
    /// The system's error, or the line that is not in the format, is too long, or makes its answer
    /// too large.
    pub fn open(path: &Path) -> Result<Recording, Failure> {
        Recording::open_within(path, LARGEST_ANSWER)
    }

    /// Opens a file with answers of at most `largest` bytes.
    fn open_within(path: &Path, largest: u64) -> Result<Recording, Failure> {
        let file = File::open(path).map_err(|error| at(path, &error))?;
        let mut lines = BufReader::new(&file);
        let mut answers = Vec::new();
        // The answer that is being read: its time, and its first byte.
        let mut begun: Option<(u64, u64)> = None;
        let (mut line, mut number, mut position) = (Vec::new(), 0, 0);
        loop {
            line.clear();
            number += 1;
            let mut bounded = lines.by_ref().take(LONGEST_LINE);
            let read = bounded.read_until(b'\n', &mut line);
            let length = read.map_err(|error| at(path, &error))? as u64;
            let bad = |why: &str| {
                let path = path.display();
                Failure::Recording(format!("{path}: line {number}: {why}"))
            };
            if !line.ends_with(b"\n") {
                if length == LONGEST_LINE {
                    return Err(bad(&format!("longer than {LONGEST_LINE} bytes")));
                }
                break;
            }
            position += length;
            if begun.is_some_and(|(_, start)| position - start > largest) {
                let why = format!("its snapshot has more than {largest} bytes");
                return Err(bad(&why));
            }
            let head: Head =
                serde_json::from_slice(&line).map_err(|error| bad(&error.to_string()))?;
            match (&*head.kind, begun) {
                ("recorded", _) if head.version != Some(VERSION) => {
                    let why = "its version is not 1; a newer pirn-top may read it";
                    return Err(bad(why));
                }
                ("recorded", _) => {
                    let at = head.at_ms.ok_or_else(|| bad("no `at_ms`"))?;
                    begun = Some((at, position));
                }
                (_, None) => {
                    return Err(bad("a snapshot without a `recorded` line before it"));
                }
                ("end", Some((at, start))) => {
                    answers.push((at, start..position));
                    begun = None;
                }
                _ => {}
            }
        }
        if answers.is_empty() {
            let path = path.display();
            return Err(Failure::Recording(format!(
                "{path}: it has no complete snapshot"
            )));
        }
        Ok(Recording {
            file: Mutex::new(file),
            path: path.to_owned(),
            answers,
        })
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> String {
        self.path.display().to_string()
    }

    /// Returns the time of each answer, in milliseconds since 1970.
    pub fn times(&self) -> impl ExactSizeIterator<Item = u64> {
        self.answers.iter().map(|(at, _)| *at)
    }

    /// Returns the answer with this index.
    ///
    /// # Errors
    /// That there is none, that the file has been changed, or the system's error.
    pub fn answer(&self, index: usize) -> Result<Vec<u8>, Failure> {
        let bad = |why: String| Failure::Recording(format!("{}: {why}", self.path()));
        let Some((_, bytes)) = self.answers.get(index) else {
            let most = self.answers.len() - 1;
            return Err(bad(format!(
                "it has the snapshots 0 to {most}, not {index}"
            )));
        };
        let mut answer = Vec::new();
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(bytes.start))
            .and_then(|_| {
                (&*file)
                    .take(bytes.end - bytes.start)
                    .read_to_end(&mut answer)
            })
            .map_err(|error| at(&self.path, &error))?;
        read(&mut &answer[..])
            .map_err(|why| bad(format!("it was changed meanwhile: {why}")))?;
        Ok(answer)
    }
}

/// Returns the system's error with the path.
fn at(path: &Path, error: &io::Error) -> Failure {
    // A closed pipe ends the program without a message, a file does not.
    let kind = match error.kind() {
        ErrorKind::BrokenPipe => ErrorKind::Other,
        kind => kind,
    };
    Failure::System(io::Error::new(kind, format!("{}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An answer of the largest size is found; one more byte is an error.
    #[test]
    fn an_answer_has_a_largest_size() {
        let name = format!("pirn-top-recording-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let mut recorder = Recorder::create(&path).expect("a new file");
        let answer = b"{\"kind\":\"runtime\"}\n{\"kind\":\"end\"}\n";
        recorder.append(1, answer).expect("space");
        recorder.append(2, answer).expect("space");
        let size = answer.len() as u64;
        let found = Recording::open_within(&path, size);
        let refused = Recording::open_within(&path, size - 1);
        std::fs::remove_file(&path).expect("it exists");
        assert_eq!(found.expect("two answers").times().len(), 2);
        let said = refused.expect_err("too large").to_string();
        let words = format!("line 3: its snapshot has more than {} bytes", size - 1);
        assert!(said.ends_with(&words), "{said}");
    }
}
