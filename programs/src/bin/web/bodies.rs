//! Bodies with limits: of a request, in time; of an answer, in pieces.

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, HttpBody};
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use pirn::future::{Sleep, sleep_until};
use pirn::time;

use crate::pace::Asked;

/// The body of a request, which fails when the time is up.
#[derive(Debug)]
pub(crate) struct InTime {
    body: Incoming,
    due: Instant,
    alarm: Sleep,
    late: Arc<AtomicBool>,
}

/// True if a body was late. Written by the body, read by the service.
#[derive(Debug)]
pub(crate) struct Late(Arc<AtomicBool>);

/// The body of an answer, in pieces: so it does not end before nearly all of it has been written to
/// the socket, and at most a piece is buffered for the client.
#[derive(Debug)]
pub(crate) struct Answer {
    body: Body,
    /// The rest of the present frame.
    rest: Bytes,
    _asked: Asked,
}

#[derive(Debug)]
struct TimeIsUp;

impl InTime {
    /// Limits a body to this time from now on.
    pub(crate) fn new(body: Incoming, limit: Duration) -> (InTime, Late) {
        let due = time::now() + limit;
        let late = Arc::new(AtomicBool::new(false));
        let alarm = sleep_until(due);
        let body = InTime {
            body,
            due,
            alarm,
            late: Arc::clone(&late),
        };
        (body, Late(late))
    }

    fn fail<T>(&self) -> Poll<Option<Result<T, Box<dyn Error + Send + Sync>>>> {
        // ORDERING: the service reads it after the handler, which has had the error.
        self.late.store(true, Ordering::Relaxed);
        Poll::Ready(Some(Err(Box::new(TimeIsUp))))
    }
}

impl Late {
    pub(crate) fn is_late(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl HttpBody for InTime {
    type Data = Bytes;
    type Error = Box<dyn Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        // Also for a body that is always ready.
        if self.due <= time::now() {
            return self.fail();
        }
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        ready!(Pin::new(&mut self.alarm).poll(context));
        self.fail()
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Answer {
    /// Returns the body of an answer; the request is over when it has been sent.
    pub(crate) fn new(body: Body, asked: Asked) -> Answer {
        Answer {
            body,
            rest: Bytes::new(),
            _asked: asked,
        }
    }
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.rest.is_empty() {
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                },
                ended => return Poll::Ready(ended),
            }
        }
        let size = self.rest.len().min(PIECE);
        let piece = self.rest.split_to(size);
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (hint, rest) = (self.body.size_hint(), self.rest.len() as u64);
        let mut all = SizeHint::new();
        // The upper bound first: it must not be below the lower one.
        if let Some(upper) = hint.upper() {
            all.set_upper(upper + rest);
        }
        all.set_lower(hint.lower() + rest);
        all
    }
}

impl fmt::Display for TimeIsUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the body has not come in time")
    }
}

impl Error for TimeIsUp {}

/// Bytes of an answer that are passed to the connection at once. Arbitrary.
const PIECE: usize = 16 << 10;
