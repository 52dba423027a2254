//! The handshake: an HTTP request for a WebSocket, and the answer to a wrong or forbidden one.
//!
//! A browser sends the origin of the requesting page. A page of another site would use the user's
//! cookies and network, so its origin must be allowed.

use std::time::Duration;

use thiserror::Error;
use tungstenite::error::{CapacityError, ProtocolError};
use tungstenite::handshake::server::{ErrorResponse, Request, Response, write_response};
use tungstenite::http::header::{
    ALLOW, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap, HeaderName, ORIGIN,
    SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use tungstenite::http::{HeaderValue, StatusCode, Uri};
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Bytes, HandshakeError, WebSocket};

use crate::inbound::Inbound;

/// The allowed origins of pages.
#[derive(Debug)]
pub(crate) struct Origins(pub(crate) Vec<String>);

/// Why there is no WebSocket.
#[derive(Debug, Error)]
pub(crate) enum Refused {
    #[error("no handshake within {0:?}")]
    Late(Duration),
    #[error(transparent)]
    Broken(#[from] tungstenite::Error),
}

/// Reads a request and answers it, all within `limit`; returns the WebSocket and the requested
/// path.
#[expect(
    clippy::result_large_err,
    reason = "the answer to a handshake is tungstenite's"
)]
pub(crate) fn accept(
    inbound: Inbound,
    origins: &Origins,
    limit: Duration,
    config: WebSocketConfig,
) -> Result<(WebSocket<Inbound>, String), Refused> {
    let mut path = String::new();
    let check = |request: &Request, response: Response| {
        request.uri().path().clone_into(&mut path);
        if !only(request.headers(), &SEC_WEBSOCKET_KEY).is_some_and(is_key) {
            let text = "one Sec-WebSocket-Key of 16 bytes is needed";
            return Err(answer(StatusCode::BAD_REQUEST, &[], text));
        }
        origins.check(request.headers())?;
        Ok(response)
    };
    let accept = || tungstenite::accept_hdr_with_config(inbound, check, Some(config));
    match pirn::timeout(limit, accept) {
        Ok(Ok(socket)) => Ok((socket, path)),
        Ok(Err(HandshakeError::Failure(error))) => Err(error.into()),
        Ok(Err(HandshakeError::Interrupted(_))) | Err(_) => Err(Refused::Late(limit)),
    }
}

impl Refused {
    /// Returns the answer that the client still gets.
    pub(crate) fn answer(&self) -> Option<Bytes> {
        use tungstenite::Error::{
            AlreadyClosed, Capacity, ConnectionClosed, Http, Io, Protocol,
        };
        let error = match self {
            Refused::Late(_) => {
                return encode(&answer(StatusCode::REQUEST_TIMEOUT, &[], "no request"));
            }
            Refused::Broken(error) => error,
        };
        let refusal = match error {
            // Answered before, or the client no longer reads.
            Http(_)
            | Io(_)
            | ConnectionClosed
            | AlreadyClosed
            | Protocol(ProtocolError::HandshakeIncomplete) => return None,
            Protocol(
                ProtocolError::MissingConnectionUpgradeHeader
                | ProtocolError::MissingUpgradeWebSocketHeader
                | ProtocolError::MissingSecWebSocketVersionHeader,
            ) => answer(
                StatusCode::UPGRADE_REQUIRED,
                &[
                    (UPGRADE, "websocket"),
                    (CONNECTION, "upgrade"),
                    (SEC_WEBSOCKET_VERSION, "13"),
                ],
                "this is a WebSocket of version 13",
            ),
            Protocol(ProtocolError::WrongHttpMethod) => {
                let allowed = [(ALLOW, "GET")];
                answer(StatusCode::METHOD_NOT_ALLOWED, &allowed, "only GET")
            }
            Capacity(CapacityError::TooManyHeaders) => {
                let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
                answer(status, &[], "too many headers")
            }
            _ => answer(StatusCode::BAD_REQUEST, &[], "no request of a WebSocket"),
        };
        encode(&refusal)
    }
}

impl Origins {
    /// Refuses a page of a forbidden site. A client that is no browser has no origin.
    #[expect(
        clippy::result_large_err,
        reason = "the answer to a handshake is tungstenite's"
    )]
    fn check(&self, headers: &HeaderMap) -> Result<(), ErrorResponse> {
        let Some(host) = only(headers, &HOST) else {
            return Err(answer(StatusCode::BAD_REQUEST, &[], "one Host is needed"));
        };
        if !headers.contains_key(ORIGIN) {
            return Ok(());
        }
        let origin = only(headers, &ORIGIN).unwrap_or_default();
        let is_allowed = match &self.0[..] {
            [] => is_same_host(origin, host),
            allowed => allowed
                .iter()
                .any(|one| one == "*" || one.eq_ignore_ascii_case(origin)),
        };
        match is_allowed {
            true => Ok(()),
            false => Err(answer(
                StatusCode::FORBIDDEN,
                &[],
                "not from a page of this origin",
            )),
        }
    }
}

/// Returns the value of a header that occurs once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

/// Returns true for 16 bytes in base64 (RFC 6455, 4.2.1).
fn is_key(key: &str) -> bool {
    let is_digit =
        |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/';
    key.strip_suffix("==")
        .is_some_and(|digits| digits.len() == 22 && digits.bytes().all(is_digit))
}

/// Returns true if the page is from the requested host and port.
fn is_same_host(origin: &str, host: &str) -> bool {
    let Ok(origin) = origin.parse::<Uri>() else {
        return false;
    };
    let port = match origin.scheme_str() {
        Some("http") => ":80",
        Some("https") => ":443",
        _ => return false,
    };
    // The scheme's default port may be omitted.
    let bare = |host: &str| host.strip_suffix(port).unwrap_or(host).to_ascii_lowercase();
    origin
        .authority()
        .is_some_and(|own| bare(own.as_str()) == bare(host))
}

/// Returns an answer after which the connection ends.
fn answer(
    status: StatusCode,
    headers: &[(HeaderName, &'static str)],
    text: &str,
) -> ErrorResponse {
    let text = format!("{text}\n");
    let mut answer = ErrorResponse::new(None);
    *answer.status_mut() = status;
    let lines = answer.headers_mut();
    for (name, value) in headers {
        lines.append(name, HeaderValue::from_static(value));
    }
    lines.append(CONNECTION, HeaderValue::from_static("close"));
    lines.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    lines.insert(CONTENT_LENGTH, HeaderValue::from(text.len()));
    *answer.body_mut() = Some(text);
    answer
}

/// Returns the bytes of an answer; `None` if it cannot be encoded.
fn encode(answer: &ErrorResponse) -> Option<Bytes> {
    let mut bytes = Vec::new();
    write_response(&mut bytes, answer).ok()?;
    bytes.extend_from_slice(answer.body().as_deref().unwrap_or_default().as_bytes());
    Some(bytes.into())
}
