//! The layer before the routes: checks the host of a request, and applies its time limits.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, HttpBody as _};
use axum::http::header::{CONNECTION, HOST};
use axum::http::uri::Authority;
use axum::http::{HeaderValue, Request, Response, StatusCode, Version};
use axum::response::IntoResponse as _;
use hyper::body::Incoming;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;

use crate::bodies::{Answer, InTime};
use crate::pace::Pace;

/// The routes, for one connection.
#[derive(Debug)]
pub(crate) struct Timed {
    routes: TowerToHyperService<Router>,
    pace: Arc<Pace>,
    body: Duration,
}

impl Timed {
    /// Limits the body of each request to the time `body`.
    pub(crate) fn new(routes: Router, pace: Arc<Pace>, body: Duration) -> Timed {
        let routes = TowerToHyperService::new(routes);
        Timed { routes, pace, body }
    }
}

impl Service<Request<Incoming>> for Timed {
    type Response = Response<Answer>;
    type Error = Infallible;
    type Future =
        Pin<Box<dyn Future<Output = Result<Response<Answer>, Infallible>> + Send>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let mut asked = self.pace.ask();
        let (routes, limit) = (self.routes.clone(), self.body);
        Box::pin(async move {
            let version = request.version();
            let response = match has_host(&request) {
                false => (StatusCode::BAD_REQUEST, "one Host is needed").into_response(),
                true if request.body().is_end_stream() => {
                    routes.call(request.map(Body::new)).await?
                }
                true => {
                    let (head, body) = request.into_parts();
                    let (body, late) = InTime::new(body, limit);
                    let request = Request::from_parts(head, Body::new(body));
                    let response = routes.call(request).await?;
                    match late.is_late() {
                        true => too_late(version),
                        false => response,
                    }
                }
            };
            asked.answer();
            Ok(response.map(|body| Answer::new(body, asked)))
        })
    }
}

/// Returns true if a request names its host exactly once, as HTTP/1.1 requires. HTTP/2 may name it
/// elsewhere.
fn has_host<B>(request: &Request<B>) -> bool {
    let mut hosts = request.headers().get_all(HOST).iter();
    match (hosts.next(), hosts.next()) {
        (None, _) => request.version() != Version::HTTP_11,
        (Some(host), None) => {
            host.is_empty()
                || Authority::try_from(host.as_bytes())
                    .is_ok_and(|host| !host.as_str().contains('@'))
        }
        (Some(_), Some(_)) => false,
    }
}

fn too_late(version: Version) -> Response<Body> {
    let mut response = StatusCode::REQUEST_TIMEOUT.into_response();
    // The rest of the body would be parsed as the next request.
    if version < Version::HTTP_2 {
        let headers = response.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}
