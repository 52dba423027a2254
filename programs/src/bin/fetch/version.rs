//! The version of the file in an answer (RFC 9110, sections 8.8 and 13.1.5).

use std::time::Duration;

use ureq::http::{HeaderMap, HeaderName, Response, Uri, header};
use ureq::{Body, ResponseExt as _};

/// One version of one file: two answers with the same one have the same bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Version {
    /// The source of the answer, after all redirections. A validator does not apply to files
    /// elsewhere.
    uri: Uri,
    validator: Validator,
}

#[derive(Debug, PartialEq, Eq)]
enum Validator {
    /// A strong entity tag.
    Tag(String),
    /// A date of modification.
    Date(String),
}

impl Version {
    /// Returns the version of a whole answer, if the server identifies it uniquely.
    pub(crate) fn of(response: &Response<Body>) -> Option<Version> {
        let headers = response.headers();
        let validator = match only(headers, header::ETAG) {
            Some(tag) => strong(tag)?,
            None if headers.contains_key(header::ETAG) => return None,
            None => dated(headers)?,
        };
        let uri = response.get_uri().clone();
        Some(Version { uri, validator })
    }

    /// Returns the value for the header `If-Range`.
    pub(crate) fn if_range(&self) -> &str {
        match &self.validator {
            Validator::Tag(text) | Validator::Date(text) => text,
        }
    }

    /// Returns true if a partial answer declares this version.
    pub(crate) fn is_of(&self, response: &Response<Body>) -> bool {
        let headers = response.headers();
        let is_named = match &self.validator {
            Validator::Tag(tag) => only(headers, header::ETAG) == Some(tag),
            Validator::Date(date) => {
                !headers.contains_key(header::ETAG)
                    && only(headers, header::LAST_MODIFIED) == Some(date)
            }
        };
        is_named && self.uri == *response.get_uri()
    }
}

/// Returns the text of a header that occurs once.
pub(crate) fn only(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// A tag that begins with `W/` is weak: files that differ may share it.
fn strong(tag: &str) -> Option<Validator> {
    let inside = tag.strip_prefix('"')?.strip_suffix('"')?;
    (!inside.contains('"')).then(|| Validator::Tag(tag.to_owned()))
}

/// A date identifies a version only if the file had been unchanged for some time when it was sent:
/// within the same second it may have changed again.
fn dated(headers: &HeaderMap) -> Option<Validator> {
    let modified = only(headers, header::LAST_MODIFIED)?;
    let sent = httpdate::parse_http_date(only(headers, header::DATE)?).ok()?;
    let rested = sent.duration_since(httpdate::parse_http_date(modified).ok()?);
    (rested.ok()? >= REST).then(|| Validator::Date(modified.to_owned()))
}

/// Enough that a difference between the clocks of a server and of its files hardly matters. The RFC
/// requires a second by one clock; the rest is arbitrary.
const REST: Duration = Duration::from_secs(60);
