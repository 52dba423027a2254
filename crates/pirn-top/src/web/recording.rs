//! Recordings: answers in a file, each behind a line with its time.

#![expect(
    clippy::disallowed_methods,
    reason = "a program of plain threads, which looks at others' fibers"
)]

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Deserialize;

use crate::wire::{Failure, read};

/// The version of the format of recordings.
const VERSION: u64 = 1;

/// Writes a recording.
#[derive(Debug)]
pub struct Recorder {
    file: File,
    path: PathBuf,
    /// Number of answers written.
    pub written: u64,
}

impl Recorder {
    /// Creates the file.
    ///
    /// # Errors
    /// The system's error, with the path; one of them is that the file exists.
    pub fn create(path: &Path) -> Result<Recorder, Failure> {
        let file = OpenOptions::new().write(true).create_new(true).open(path);
        Ok(Recorder {
            file: file.map_err(|error| at(path, &error))?,
            path: path.to_owned(),
            written: 0,
        })
    }

    /// Appends an answer.
    ///
    /// # Errors
    /// The system's error, with the path. The answers before remain in the file.
    pub fn append(&mut self, answer: &[u8]) -> Result<(), Failure> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let millis = now.map_or(0, |since| since.as_millis());
        let head = format!(
            "{{\"kind\":\"recorded\",\"version\":{VERSION},\"at_ms\":{millis}}}\n"
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
    /// Opens a file, and finds the answers in it. The last one is left out if it is incomplete: the
    /// recorder was killed, or the disk was full.
    ///
    /// # Errors
    /// The system's error, or the line that is not in the format.
    pub fn open(path: &Path) -> Result<Recording, Failure> {
        let file = File::open(path).map_err(|error| at(path, &error))?;
        let mut lines = BufReader::new(&file);
        let mut answers = Vec::new();
        // The answer that is being read: its time, and its first byte.
        let mut begun = None;
        let (mut line, mut number, mut position) = (Vec::new(), 0, 0);
        loop {
            line.clear();
            number += 1;
            let read = lines.read_until(b'\n', &mut line);
            let length = read.map_err(|error| at(path, &error))? as u64;
            if !line.ends_with(b"\n") {
                break;
            }
            position += length;
            let bad = |why: &str| {
                let path = path.display();
                Failure::Nonsense(format!("{path}, line {number}: {why}"))
            };
            let head: Head =
                serde_json::from_slice(&line).map_err(|error| bad(&error.to_string()))?;
            match (&*head.kind, begun) {
                ("recorded", _) if head.version != Some(VERSION) => {
                    return Err(bad("another version of the format"));
                }
                ("recorded", _) => {
                    let at = head.at_ms.ok_or_else(|| bad("no time"))?;
                    begun = Some((at, position));
                }
                (_, None) => return Err(bad("an answer without a time before it")),
                ("end", Some((at, start))) => {
                    answers.push((at, start..position));
                    begun = None;
                }
                _ => {}
            }
        }
        if answers.is_empty() {
            let path = path.display();
            return Err(Failure::Nonsense(format!("{path} has no complete answer")));
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

    /// Returns the answer of this number; none if there are fewer.
    ///
    /// # Errors
    /// The system's error, or that the file has been changed.
    pub fn answer(&self, number: usize) -> Result<Option<Vec<u8>>, Failure> {
        let Some((_, bytes)) = self.answers.get(number) else {
            return Ok(None);
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
        read(&mut &answer[..])?;
        Ok(Some(answer))
    }
}

/// The error of the system, with the path.
fn at(path: &Path, error: &io::Error) -> Failure {
    // A closed pipe ends the program without a message, a file does not.
    let kind = match error.kind() {
        ErrorKind::BrokenPipe => ErrorKind::Other,
        kind => kind,
    };
    Failure::System(io::Error::new(kind, format!("{}: {error}", path.display())))
}
