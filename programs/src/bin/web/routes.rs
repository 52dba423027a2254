//! The handlers of requests.
//!
//! | request | answer |
//! |---|---|
//! | `GET /notes` | the names of all notes; 503 while too much of such lists is unread |
//! | `GET`, `PUT`, `DELETE /notes/NAME` | one of them, of 64 KiB at most; 507 if there is no room |
//! | `POST /digest` | the SHA-256 sum of the body, which is not kept |
//! | `GET /primes/N` | the number of primes up to N, a long computation; 503 under load |
//! | `GET /later/MS` | `late`, after MS milliseconds |
//!
//! A handler is polled, and so may wait only by `await`. Code that waits (for a lock, for time) or
//! computes runs on a fiber of its own, by [`on_fiber`] or [`Computing::run`]; if the client
//! disconnects, it is interrupted.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use http_body_util::BodyExt as _;
use pirn::future::fiber;
use pirn::spawn::{JoinError, checkpoint};
use pirn::{Interrupt, time};
use sha2::{Digest as _, Sha256};

use crate::computing::Computing;
use crate::notes::{Notes, Put};

/// The type of a list of names.
const TEXT: &str = "text/plain; charset=utf-8";

/// The largest N for counting primes.
const MOST: u32 = 10_000_000;

/// Maximum delay of an answer, in milliseconds.
const LONGEST: u64 = 60_000;

/// Maximum length of a note, in bytes: notes are buffered in memory. Arbitrary.
const NOTE: usize = 64 << 10;

/// Number of steps between two checkpoints. Arbitrary.
const STEPS: usize = 1 << 10;

/// Returns all routes, with their own notes, of at most this number of bytes.
pub(crate) fn all(computing: Computing, notes: usize) -> Router {
    let note = get(read).put(write).delete(forget);
    let note = note.layer(DefaultBodyLimit::max(NOTE));
    let primes = get(primes).with_state(Arc::new(computing));
    Router::new()
        .route("/notes", get(list))
        .route("/notes/{name}", note)
        .route("/digest", post(digest))
        .route("/primes/{upto}", primes)
        .route("/later/{milliseconds}", get(later))
        .with_state(Arc::new(Notes::new(notes)))
}

async fn list(State(notes): State<Arc<Notes>>) -> Response {
    on_fiber(move || match notes.names() {
        Some(names) => ([(CONTENT_TYPE, TEXT)], names).into_response(),
        None => {
            let later = [(RETRY_AFTER, "1")];
            let refusal = "others are reading the list";
            (StatusCode::SERVICE_UNAVAILABLE, later, refusal).into_response()
        }
    })
    .await
}

async fn read(State(notes): State<Arc<Notes>>, Path(name): Path<String>) -> Response {
    on_fiber(move || notes.get(&name).ok_or(StatusCode::NOT_FOUND)).await
}

async fn write(
    State(notes): State<Arc<Notes>>,
    Path(name): Path<String>,
    text: Bytes,
) -> Response {
    if name.contains(char::is_control) {
        // In the list of names it could be taken for several.
        let refusal = "no control characters in a name";
        return (StatusCode::BAD_REQUEST, refusal).into_response();
    }
    on_fiber(move || match notes.put(name, &text) {
        Put::New => StatusCode::CREATED.into_response(),
        Put::Replaced => StatusCode::NO_CONTENT.into_response(),
        Put::Full(most) => {
            let refusal = format!("no room: all notes take at most {most} bytes");
            (StatusCode::INSUFFICIENT_STORAGE, refusal).into_response()
        }
    })
    .await
}

async fn forget(State(notes): State<Arc<Notes>>, Path(name): Path<String>) -> Response {
    on_fiber(move || match notes.delete(&name) {
        true => StatusCode::NO_CONTENT,
        false => StatusCode::NOT_FOUND,
    })
    .await
}

/// Piece by piece: a body of any length takes as much memory as a short one.
async fn digest(mut body: Body) -> Response {
    let mut sum = Sha256::new();
    while let Some(piece) = body.frame().await {
        match piece.map(http_body::Frame::into_data) {
            Ok(Ok(data)) => sum.update(data),
            // Trailers.
            Ok(Err(_)) => {}
            Err(error) => {
                return (StatusCode::BAD_REQUEST, error.to_string()).into_response();
            }
        }
    }
    let mut text = String::new();
    for byte in sum.finalize() {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text.into_response()
}

async fn primes(
    State(computing): State<Arc<Computing>>,
    Path(upto): Path<u32>,
) -> Response {
    if upto > MOST {
        let refusal = format!("no more than {MOST}");
        return (StatusCode::UNPROCESSABLE_ENTITY, refusal).into_response();
    }
    let compute = move || {
        count_primes(upto)
            .map(|count| count.to_string())
            .map_err(gone)
    };
    computing.run(compute).await.map(answer).into_response()
}

async fn later(Path(milliseconds): Path<u64>) -> Response {
    if milliseconds > LONGEST {
        let refusal = format!("no longer than {LONGEST} milliseconds");
        return (StatusCode::UNPROCESSABLE_ENTITY, refusal).into_response();
    }
    let wait = Duration::from_millis(milliseconds);
    on_fiber(move || time::sleep(wait).map(|()| "late").map_err(gone)).await
}

/// Returns the answer of plain code on a fiber of its own.
async fn on_fiber<R>(plain: impl FnOnce() -> R + Send + 'static) -> Response
where
    R: IntoResponse + Send + 'static,
{
    answer(fiber(plain).await)
}

/// Returns the answer of a fiber that has ended.
fn answer<R: IntoResponse>(ended: Result<R, JoinError>) -> Response {
    ended
        .map_err(|error| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
        .into_response()
}

/// An answer without a reader: the server shuts down, or the client has disconnected.
fn gone(_: Interrupt) -> StatusCode {
    StatusCode::SERVICE_UNAVAILABLE
}

/// Counts by the sieve of Eratosthenes; yields to other fibers, and ends if nothing waits for the
/// answer.
fn count_primes(upto: u32) -> Result<usize, Interrupt> {
    let size = upto as usize + 1;
    let mut is_prime = vec![true; size];
    is_prime[..size.min(2)].fill(false);
    for n in 2..size {
        if n * n >= size {
            break;
        }
        if is_prime[n] {
            for (step, multiple) in (n * n..size).step_by(n).enumerate() {
                if step % STEPS == 0 {
                    checkpoint()?;
                }
                is_prime[multiple] = false;
            }
        }
    }
    let mut count = 0;
    for part in is_prime.chunks(STEPS) {
        checkpoint()?;
        count += part.iter().filter(|prime| **prime).count();
    }
    Ok(count)
}
