//! One request: to a backend, and the answer back.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use http_body_util::{Either, Empty};
use hyper::body::{Body as _, Incoming};
use hyper::header::{
    ALLOW, CONNECTION, CONTENT_LENGTH, HOST, HeaderMap, HeaderName, HeaderValue,
    MAX_FORWARDS, TRANSFER_ENCODING, VIA,
};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode, Uri, Version};
use pirn_programs::log;

use crate::answer::Answer;
use crate::backend::{Backend, Failure, Sent};
use crate::metrics;
use crate::upload::{Upload, UploadError};

/// The time limits of a request.
#[derive(Debug, Copy, Clone)]
pub(crate) struct Limits {
    /// For its turn at a backend.
    pub(crate) wait: Duration,
    /// For the head of the answer.
    pub(crate) answer: Duration,
    /// For each piece of the client's body.
    pub(crate) upload: Duration,
}

/// All backends, and the counters.
#[derive(Debug)]
pub(crate) struct Proxy {
    backends: Vec<Arc<Backend>>,
    limits: Limits,
    /// The backend with which the next search begins.
    next: AtomicUsize,
    /// The numbers of answers by the first digit of their status, from 1 on.
    pub(crate) answers: [AtomicU64; 5],
}

impl Proxy {
    pub(crate) fn new(to: &[SocketAddr], at_once: usize, limits: Limits) -> Proxy {
        let backend = |address: &SocketAddr| Backend::new(*address, at_once);
        Proxy {
            backends: to.iter().map(backend).collect(),
            limits,
            next: AtomicUsize::new(0),
            answers: Default::default(),
        }
    }

    pub(crate) fn backends(&self) -> &[Arc<Backend>] {
        &self.backends
    }

    /// Returns the answer to a request of the client with this address.
    pub(crate) fn answer(
        &self,
        request: Request<Incoming>,
        client: IpAddr,
    ) -> Response<Answer> {
        let answer = match request.uri().path() {
            metrics::PATH if client.is_loopback() => metrics::page(self),
            _ => self.forward(request, client),
        };
        let class = usize::from(answer.status().as_u16() / 100);
        if let Some(count) = self.answers.get(class.wrapping_sub(1)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        answer
    }

    /// Asks one backend after the other, until one has answered or may have received the request.
    /// A request that may be repeated goes to the next one in this case, too.
    fn forward(&self, request: Request<Incoming>, client: IpAddr) -> Response<Answer> {
        let hosts = request.headers().get_all(HOST).iter().count();
        // HTTP/1.0 needs none (RFC 9112, 3.2).
        if hosts > 1 || (hosts == 0 && request.version() != Version::HTTP_10) {
            return Answer::status(400, "one Host is needed");
        }
        let (mut head, body) = request.into_parts();
        if let Some(answer) = answer_here(&head) {
            return answer;
        }
        if let Some(authority) = head.uri.authority()
            && let Ok(host) = HeaderValue::from_str(without_user(authority.as_str()))
        {
            head.headers.insert(HOST, host);
        }
        let has_host = head.headers.contains_key(HOST);
        pass_on(&mut head.headers);
        add_client(&mut head.headers, client);
        add_via(&mut head);
        if let Some(more) = forwards_left(&head) {
            let more = HeaderValue::from(more.saturating_sub(1));
            head.headers.insert(MAX_FORWARDS, more);
        }
        let may_repeat = body.is_end_stream() && is_idempotent(&head.method);
        let body = Upload::new(body, self.limits.upload);
        let mut request = build(&head, Either::Left(body));
        let mut tried = Vec::new();
        loop {
            let Some(backend) = self.choose(&tried) else {
                return match tried.is_empty() {
                    true => Answer::status(503, "no server is up"),
                    false => Answer::status(502, "no server has answered"),
                };
            };
            let Some(turn) = backend.turn(self.limits.wait) else {
                let mut answer = Answer::status(503, "all servers are busy");
                let headers = answer.headers_mut();
                headers.insert("retry-after", HeaderValue::from_static("1"));
                return answer;
            };
            if !has_host {
                set_host(request.headers_mut(), backend.address);
            }
            let asked = backend.ask(request, self.limits.answer);
            if asked.is_err() && pirn::cancel::check().is_err() {
                // Says nothing about the backend, and nothing reads it.
                return Answer::status(503, "the client has left");
            }
            match asked {
                Ok((response, _))
                    if response.status() == StatusCode::SWITCHING_PROTOCOLS =>
                {
                    return Answer::status(502, "the server switches protocols");
                }
                Err(Failure::Wrong(error)) => {
                    log(format_args!("{}: {error:#}", backend.address));
                    return Answer::status(502, "the server has sent no answer of HTTP");
                }
                Ok((response, connection)) => {
                    let mut response = response.map(|body| {
                        Answer::passed(body, connection, Arc::clone(&backend), turn)
                    });
                    pass_on(response.headers_mut());
                    return response;
                }
                Err(Failure::Upload(error)) => {
                    let status = match error {
                        UploadError::Stalled => 408,
                        UploadError::Broken => 400,
                    };
                    return Answer::status(status, &error.to_string());
                }
                Err(Failure::Late) => {
                    return Answer::status(504, "no answer in time");
                }
                Err(Failure::Unsent(unsent, error)) => {
                    backend.set_up(Err(&error));
                    request = *unsent;
                }
                // It may be due to this request. If the server is down, the next connect fails.
                Err(Failure::Lost(error)) => {
                    log(format_args!("{}: {error:#}", backend.address));
                    if !may_repeat {
                        let text = "the connection to the server was lost";
                        return Answer::status(502, text);
                    }
                    request = build(&head, Either::Right(Empty::new()));
                }
            }
            tried.push(backend.address);
        }
    }

    /// Returns a backend that is up and was not `tried`: in turn, those with a free place first.
    fn choose(&self, tried: &[SocketAddr]) -> Option<Arc<Backend>> {
        let start = self.next.fetch_add(1, Ordering::Relaxed) % self.backends.len();
        let (before, from) = self.backends.split_at(start);
        let is_open = |backend: &&Arc<Backend>| {
            backend.is_up() && !tried.contains(&backend.address)
        };
        let open = || from.iter().chain(before).filter(is_open);
        let free = open().find(|backend| backend.free() > 0);
        free.or_else(|| open().next()).cloned()
    }
}

/// Returns the answer to a request that is not passed on.
fn answer_here(head: &Parts) -> Option<Response<Answer>> {
    if head.method == Method::CONNECT {
        return Some(with_methods(405, "this proxy opens no tunnels"));
    }
    if !is_chunked_at_most(&head.headers) {
        return Some(Answer::status(501, "the only transfer coding is chunked"));
    }
    match forwards_left(head) {
        Some(0) if head.method == Method::OPTIONS => Some(with_methods(200, "a proxy")),
        Some(0) => Some(with_methods(405, "this proxy reflects no requests")),
        _ => None,
    }
}

/// Returns an answer of the proxy itself that names the methods it serves.
fn with_methods(status: u16, text: &str) -> Response<Answer> {
    let mut answer = Answer::status(status, text);
    let headers = answer.headers_mut();
    headers.insert(ALLOW, HeaderValue::from_static(METHODS));
    answer
}

/// True if a body has no transfer coding but the one that hyper decodes.
fn is_chunked_at_most(headers: &HeaderMap) -> bool {
    let mut codings = headers.get_all(TRANSFER_ENCODING).iter();
    match (codings.next(), codings.next()) {
        (None, _) => true,
        (Some(coding), None) => coding.as_bytes().eq_ignore_ascii_case(b"chunked"),
        (Some(_), Some(_)) => false,
    }
}

/// Returns the number of servers that may still pass this request on, if it is limited (RFC 9110,
/// 7.6.2).
fn forwards_left(head: &Parts) -> Option<u64> {
    let is_limited = head.method == Method::OPTIONS || head.method == Method::TRACE;
    let left = head.headers.get(MAX_FORWARDS).filter(|_| is_limited)?;
    left.to_str().ok()?.parse().ok()
}

/// Builds a request with this head, for the path alone.
fn build(head: &Parts, body: Sent) -> Request<Sent> {
    let is_chunked = !body.is_end_stream() && body.size_hint().exact().is_none();
    let mut request = Request::new(body);
    *request.method_mut() = head.method.clone();
    *request.uri_mut() = head
        .uri
        .path_and_query()
        .cloned()
        .map_or_else(Uri::default, Uri::from);
    *request.headers_mut() = head.headers.clone();
    if is_chunked {
        // Without it hyper sends no body with GET and HEAD.
        let chunked = HeaderValue::from_static("chunked");
        request.headers_mut().insert(TRANSFER_ENCODING, chunked);
    }
    *request.version_mut() = Version::HTTP_11;
    request
}

/// True if a request may be sent twice (RFC 9110, 9.2.2).
fn is_idempotent(method: &Method) -> bool {
    [
        Method::GET,
        Method::HEAD,
        Method::OPTIONS,
        Method::TRACE,
        Method::PUT,
        Method::DELETE,
    ]
    .contains(method)
}

/// Removes the headers that are for one connection only (RFC 9110, 7.6.1), and the length of a
/// body that a transfer coding delimits (RFC 9112, 6.3).
fn pass_on(headers: &mut HeaderMap) {
    if headers.contains_key(TRANSFER_ENCODING) {
        headers.remove(CONTENT_LENGTH);
    }
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        // These are of the request itself, whatever the client says.
        .filter(|name| *name != HOST && *name != CONTENT_LENGTH)
        .collect();
    for name in named {
        headers.remove(name);
    }
    for name in ONE_CONNECTION {
        headers.remove(*name);
    }
}

/// Returns the authority of a target without the name of a user (RFC 9110, 7.2).
fn without_user(authority: &str) -> &str {
    authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host)
}

/// Sets the Host that HTTP/1.1 needs, for a request of HTTP/1.0 without one.
fn set_host(headers: &mut HeaderMap, backend: SocketAddr) {
    if let Ok(host) = HeaderValue::from_str(&backend.to_string()) {
        headers.insert(HOST, host);
    }
}

/// Adds the client's address to those that other proxies have added.
fn add_client(headers: &mut HeaderMap, client: IpAddr) {
    let before: Vec<&str> = headers
        .get_all(FORWARDED)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .collect();
    let mut all = before.join(", ");
    if !all.is_empty() {
        all.push_str(", ");
    }
    all.push_str(&client.to_string());
    if let Ok(value) = HeaderValue::from_str(&all) {
        headers.insert(FORWARDED, value);
    }
}

/// Adds the version of the client's message and the name of the proxy (RFC 9110, 7.6.3).
fn add_via(head: &mut Parts) {
    let via = match head.version {
        Version::HTTP_10 => "1.0 proxy",
        _ => "1.1 proxy",
    };
    head.headers.append(VIA, HeaderValue::from_static(via));
}

/// The methods that are served here or at a backend.
const METHODS: &str = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";

const FORWARDED: &str = "x-forwarded-for";

/// Headers for one connection only. hyper writes `transfer-encoding` anew.
const ONE_CONNECTION: &[&str] = &[
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];
