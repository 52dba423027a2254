//! Where answers come from: a runtime, or a recording.

#![expect(
    clippy::disallowed_methods,
    reason = "a program of plain threads, which looks at others' fibers"
)]

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

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
    /// The last answer, and when it came: all pages share it.
    last: Mutex<Option<(Instant, Arc<[u8]>)>>,
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
    pub(super) fn snapshot(&self) -> Result<Arc<[u8]>, Failure> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, answer)) = &*last
            && at.elapsed() < self.interval / 2
        {
            return Ok(Arc::clone(answer));
        }
        let request = format!("snapshot {}\n", self.most);
        let answer: Arc<[u8]> = ask_raw(&self.socket, &request)?.into();
        *last = Some((Instant::now(), Arc::clone(&answer)));
        Ok(answer)
    }
}

impl Source {
    /// Returns the snapshot of this number of a recording, or a new one of a runtime; none if the
    /// recording has fewer.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn snapshot(&self, number: usize) -> Result<Option<Arc<[u8]>>, Failure> {
        match self {
            Source::Live(live) => live.snapshot().map(Some),
            Source::Recording(recording) => Ok(recording.answer(number)?.map(Arc::from)),
        }
    }

    /// Returns the answer about a fiber; none from a recording.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn fiber(&self, id: u64) -> Result<Option<Arc<[u8]>>, Failure> {
        match self {
            Source::Live(live) => {
                let answer = ask_raw(&live.socket, &format!("fiber {id}\n"))?;
                Ok(Some(answer.into()))
            }
            Source::Recording(_) => Ok(None),
        }
    }

    /// Describes it to the page, as JSON.
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
