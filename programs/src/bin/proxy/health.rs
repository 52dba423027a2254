//! Checks whether a backend is up.

use std::time::Duration;

use anyhow::{Context as _, anyhow, ensure};
use http_body_util::{Either, Empty};
use hyper::Request;
use hyper::header::{CONNECTION, HOST};
use hyper::http::uri::PathAndQuery;

use crate::backend::{Backend, Failure};

/// How long a backend may take for the answer to a check. Arbitrary.
const LIMIT: Duration = Duration::from_secs(2);

/// Checks a backend again and again, until it is cancelled.
pub(crate) fn check(backend: &Backend, path: &PathAndQuery, every: Duration) {
    loop {
        let checked = check_once(backend, path);
        // At a shutdown a check is interrupted, which says nothing about the backend.
        if pirn::cancel::check().is_err() {
            return;
        }
        backend.set_up(checked.as_ref().copied());
        // The next check returns.
        let _ = pirn::sleep(every);
    }
}

/// Asks for the path, on a new connection that is closed after it.
fn check_once(backend: &Backend, path: &PathAndQuery) -> anyhow::Result<()> {
    let request = Request::get(path.as_str())
        .header(HOST, backend.address.to_string())
        .header(CONNECTION, "close")
        .body(Either::Right(Empty::new()))
        .with_context(|| format!("no path for a check: {path}"))?;
    let (response, _connection) = match backend.ask_anew(request, LIMIT) {
        Ok(answered) => answered,
        Err(Failure::Upload(error)) => return Err(error.into()),
        Err(Failure::Late) => return Err(anyhow!("no answer within {LIMIT:?}")),
        Err(Failure::Unsent(_, error) | Failure::Lost(error) | Failure::Wrong(error)) => {
            return Err(error);
        }
    };
    let status = response.status();
    ensure!(status.is_success(), "{path} answers {status}");
    Ok(())
}
