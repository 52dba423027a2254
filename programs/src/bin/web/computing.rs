//! How many handlers compute at once.
//!
//! A handler that computes takes memory and a worker. So a few may, some more wait for their turn, and
//! others are sent away: what the server takes is bounded, whatever is asked of it.

use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use axum::response::{IntoResponse, Response};
use pirn::sync::Semaphore;

/// The places for handlers that compute, and for those that wait.
#[derive(Debug)]
pub(crate) struct Computing {
    running: Semaphore,
    /// Those that run have one of these, too.
    places: Semaphore,
}

/// There are as many already as may be.
#[derive(Debug)]
pub(crate) struct Busy;

impl Computing {
    /// Lets `running` handlers compute at once, and `waiting` more wait.
    pub(crate) fn new(running: usize, waiting: usize) -> Computing {
        Computing {
            running: Semaphore::new(running),
            places: Semaphore::new(running + waiting),
        }
    }

    /// Computes when it is this one's turn. A handler that is interrupted while it waits is not wanted any
    /// more, and does not.
    pub(crate) fn run<T>(&self, compute: impl FnOnce() -> T) -> Result<T, Busy> {
        let _place = self.places.try_acquire(1).ok_or(Busy)?;
        let _turn = self.running.acquire(1).map_err(|_| Busy)?;
        Ok(compute())
    }
}

impl IntoResponse for Busy {
    fn into_response(self) -> Response {
        // A computation takes less than that.
        let later = [(RETRY_AFTER, "1")];
        (
            StatusCode::SERVICE_UNAVAILABLE,
            later,
            "others are computing",
        )
            .into_response()
    }
}
