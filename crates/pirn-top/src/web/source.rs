//! Where answers come from: a runtime, or a recording.

#![expect(
    clippy::disallowed_methods,
    reason = "a program of plain threads, which looks at others' fibers"
)]

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::recording::Recording;
use crate::wire::{Failure, ask_raw};

/// Where answers come from.
pub(super) enum Source {
    Live(Live),
    Recording(Recording),
}

/// A runtime.
pub(super) struct Live {
    socket: PathBuf,
    most: u64,
    interval: Duration,
    /// The last answer: all pages and the recorder share it.
    last: Mutex<Option<Taken>>,
}

/// An answer.
#[derive(Clone)]
pub(super) struct Taken {
    came: Instant,
    /// When it came, in milliseconds since 1970.
    pub(super) at_ms: u64,
    pub(super) answer: Arc<[u8]>,
}

impl Live {
    pub(super) fn new(socket: PathBuf, most: u64, interval: Duration) -> Live {
        Live {
            socket,
            most,
            interval,
            last: Mutex::new(None),
        }
    }

    /// Returns an answer that is at most half an interval old.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn snapshot(&self) -> Result<Taken, Failure> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(taken) = &*last
            && taken.came.elapsed() < self.interval / 2
        {
            return Ok(taken.clone());
        }
        let answer = ask_raw(&self.socket, &format!("snapshot {}\n", self.most))?;
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let millis = since.map_or(0, |since| since.as_millis());
        let taken = Taken {
            came: Instant::now(),
            at_ms: u64::try_from(millis).unwrap_or(u64::MAX),
            answer: answer.into(),
        };
        *last = Some(taken.clone());
        Ok(taken)
    }
}

impl Source {
    /// Returns the snapshot with this index in a recording, or one of a runtime.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn snapshot(&self, index: usize) -> Result<Arc<[u8]>, Failure> {
        match self {
            Source::Live(live) => Ok(live.snapshot()?.answer),
            Source::Recording(recording) => Ok(recording.answer(index)?.into()),
        }
    }

    /// Returns the answer about a fiber.
    ///
    /// # Errors
    /// Why there is none: a recording has no frames.
    pub(super) fn fiber(&self, id: u64) -> Result<Arc<[u8]>, Failure> {
        match self {
            Source::Live(live) => {
                Ok(ask_raw(&live.socket, &format!("fiber {id}\n"))?.into())
            }
            Source::Recording(recording) => {
                let path = recording.path();
                Err(Failure::Recording(format!("{path}: it has no frames")))
            }
        }
    }

    /// Returns its description for the page, as JSON.
    pub(super) fn about(&self) -> String {
        match self {
            Source::Live(live) => {
                let millis = live.interval.as_millis();
                let socket = live.socket.display().to_string();
                serde_json::json!({"source": socket, "interval_ms": millis as u64})
            }
            Source::Recording(recording) => {
                let times: Vec<_> = recording.times().collect();
                serde_json::json!({"source": recording.path(), "recorded_ms": times})
            }
        }
        .to_string()
    }
}
