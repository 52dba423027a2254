//! The bodies of answers: passed on piece by piece, or the proxy's own.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http_body_util::Full;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::{Response, StatusCode};
use pirn::sync::OwnedPermit;

use crate::backend::{Backend, Connection};

/// The body of an answer.
#[derive(Debug)]
pub(crate) enum Answer {
    Own(Full<Bytes>),
    Passed(Passed),
}

/// The body of a backend's answer. When it has ended, its connection is idle; if it is dropped
/// before, the connection is closed. In both cases the turn ends.
#[derive(Debug)]
pub(crate) struct Passed {
    body: Incoming,
    connection: Option<Connection>,
    backend: Arc<Backend>,
    _turn: OwnedPermit,
}

impl Answer {
    /// Returns an answer of the proxy itself.
    pub(crate) fn status(status: u16, text: &str) -> Response<Answer> {
        let body = Full::new(Bytes::from(format!("{text}\n")));
        let mut response = Response::new(Answer::Own(body));
        *response.status_mut() =
            StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        response
    }

    /// Returns the body of an answer of `backend`, which came over `connection`.
    pub(crate) fn passed(
        body: Incoming,
        connection: Connection,
        backend: Arc<Backend>,
        turn: OwnedPermit,
    ) -> Answer {
        let mut passed = Passed {
            body,
            connection: Some(connection),
            backend,
            _turn: turn,
        };
        if passed.body.is_end_stream() {
            passed.end();
        }
        Answer::Passed(passed)
    }
}

impl Passed {
    /// Makes the connection idle.
    fn end(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.backend.keep(connection);
        }
    }
}

impl Body for Answer {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match self.get_mut() {
            Answer::Own(body) => Pin::new(body)
                .poll_frame(context)
                .map_err(|never| match never {}),
            Answer::Passed(passed) => {
                let frame = Pin::new(&mut passed.body).poll_frame(context);
                if matches!(frame, Poll::Ready(None)) || passed.body.is_end_stream() {
                    passed.end();
                }
                frame
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Answer::Own(body) => body.is_end_stream(),
            Answer::Passed(passed) => passed.body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Answer::Own(body) => body.size_hint(),
            Answer::Passed(passed) => passed.body.size_hint(),
        }
    }
}
