//! The bodies of requests: passed on piece by piece, with a time limit for each piece.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use pirn::future::{Sleep, sleep};
use thiserror::Error;

/// The body of a client's request. It fails if a piece of it has not come for the time `limit`, so
/// that a backend that has answered without it keeps its connection no longer.
#[derive(Debug)]
pub(crate) struct Upload {
    body: Incoming,
    limit: Duration,
    /// The time limit of the next piece, once it is awaited.
    due: Option<Sleep>,
}

/// Why a client's body has failed.
#[derive(Debug, Copy, Clone, Error)]
pub(crate) enum UploadError {
    #[error("the body of the request has stalled")]
    Stalled,
    #[error("the body of the request is wrong or incomplete")]
    Broken,
}

impl Upload {
    pub(crate) fn new(body: Incoming, limit: Duration) -> Upload {
        Upload {
            body,
            limit,
            due: None,
        }
    }
}

impl Body for Upload {
    type Data = Bytes;
    type Error = UploadError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, UploadError>>> {
        let this = self.get_mut();
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(context) {
            this.due = None;
            return Poll::Ready(
                frame.map(|frame| frame.map_err(|_| UploadError::Broken)),
            );
        }
        let due = this.due.get_or_insert_with(|| sleep(this.limit));
        ready!(Pin::new(due).poll(context));
        Poll::Ready(Some(Err(UploadError::Stalled)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
