//! One request and its answer, into a file; keeps a partial answer for the next attempt.
//!
//! Received bytes are kept if the server has named their version (`version`). The next request is
//! then for the rest, under the condition that the version is the same. A whole answer restarts the
//! file and its sum. So does every partial answer that is not exactly the continuation: its range,
//! length and version are compared with the request and with earlier answers.

use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::Path;

use anyhow::{Context as _, anyhow};
use indicatif::ProgressBar;
use sha2::{Digest as _, Sha256};
use ureq::http::{HeaderMap, Response, StatusCode, Version as Http, header};
use ureq::{Agent, Body};

use crate::range::{ContentRange, number};
use crate::temporary::Temporary;
use crate::version::{Version, only};

/// An incomplete file.
pub(crate) struct Part {
    file: Temporary,
    /// Bytes in it.
    len: u64,
    /// The sum of those bytes.
    sum: Sha256,
    /// Length of the whole file, if an answer has given it.
    total: Option<u64>,
    /// Its version, if the server has named that.
    version: Option<Version>,
}

/// The outcome of a successful attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Received {
    /// The file is complete.
    Whole,
    /// The server has sent fewer bytes than requested, as it may; the rest is missing.
    Incomplete,
}

/// The failure of an attempt.
pub(crate) enum Failure {
    /// Another one may succeed.
    Passing(anyhow::Error),
    /// None will.
    Lasting(anyhow::Error),
}

impl Part {
    /// Creates an empty file under a temporary name in `directory`.
    pub(crate) fn create(directory: &Path) -> anyhow::Result<Part> {
        Ok(Part {
            file: Temporary::create(directory)?,
            len: 0,
            sum: Sha256::new(),
            total: None,
            version: None,
        })
    }

    /// Requests the file, or the rest of it, and writes the body.
    pub(crate) fn attempt(
        &mut self,
        agent: &Agent,
        url: &str,
        progress: &ProgressBar,
    ) -> Result<Received, Failure> {
        // No coding: sums and ranges refer to the bytes of the file itself.
        let mut request = agent.get(url).header(header::ACCEPT_ENCODING, "identity");
        let version = self.version.as_ref().filter(|_| self.len > 0);
        if let Some(version) = version {
            request = request
                .header(header::RANGE, format!("bytes={}-", self.len))
                .header(header::IF_RANGE, version.if_range());
        }
        let asked_for_rest = version.is_some();
        let response = request.call().map_err(of_request)?;
        let end = self.check(&response, asked_for_rest)?;
        if let Some(total) = self.total {
            progress.set_length(total);
        }
        self.receive(response.into_body(), end, progress)?;
        match self.total {
            Some(total) if self.len < total => Ok(Received::Incomplete),
            _ => Ok(Received::Whole),
        }
    }

    /// Writes all of it to the disk and gives it its name; returns the sum.
    pub(crate) fn finish(mut self, path: &Path) -> anyhow::Result<String> {
        self.file.file().sync_all().context("cannot write")?;
        self.file.rename(path)?;
        let sum = self.sum.finalize();
        Ok(sum.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Checks an answer before its body, and restarts the file unless the body continues it.
    /// Returns the length of the file after that body, if it is known.
    fn check(
        &mut self,
        response: &Response<Body>,
        asked_for_rest: bool,
    ) -> Result<Option<u64>, Failure> {
        match response.status() {
            StatusCode::PARTIAL_CONTENT if asked_for_rest => {
                check_coding(response).map_err(Failure::Lasting)?;
                check_single(response.headers()).map_err(Failure::Lasting)?;
                match self.continuation(response) {
                    Ok(range) => {
                        self.total = self.total.or(range.total);
                        Ok(Some(range.end))
                    }
                    Err(error) => self.start_over(error),
                }
            }
            StatusCode::PARTIAL_CONTENT => Err(Failure::Lasting(anyhow!(
                "the server sends a part (206) though the whole was asked for"
            ))),
            StatusCode::OK => {
                check_coding(response).map_err(Failure::Lasting)?;
                self.restart().map_err(Failure::Lasting)?;
                self.total = content_length(response.headers());
                self.version = Version::of(response);
                Ok(self.total)
            }
            // All bytes had been received, but not the end of the body.
            StatusCode::RANGE_NOT_SATISFIABLE if asked_for_rest => {
                self.start_over(anyhow!("no more than what has come"))
            }
            status => {
                let passes = status.is_server_error()
                    || status == StatusCode::REQUEST_TIMEOUT
                    || status == StatusCode::TOO_MANY_REQUESTS;
                let error = anyhow!("the server says {status}");
                Err(if passes {
                    Failure::Passing(error)
                } else {
                    Failure::Lasting(error)
                })
            }
        }
    }

    /// Returns the range of a partial answer if its body continues the file.
    fn continuation(&self, response: &Response<Body>) -> anyhow::Result<ContentRange> {
        let headers = response.headers();
        let text = only(headers, header::CONTENT_RANGE)
            .context("a part without one header Content-Range")?;
        let range = ContentRange::parse(text)
            .with_context(|| format!("a part with the Content-Range '{text}'"))?;
        let same_version = self.version.as_ref().is_some_and(|v| v.is_of(response));
        anyhow::ensure!(same_version, "a part of another version");
        anyhow::ensure!(
            range.start == self.len,
            "another part than was asked for: '{text}', not from {}",
            self.len
        );
        let total = self.total.or(range.total);
        let total = total.context("a part of a file of unknown length")?;
        anyhow::ensure!(
            range.end <= total && range.total.is_none_or(|of_part| of_part == total),
            "a part of a file of another length: '{text}', not of {total} bytes"
        );
        let length = content_length(headers);
        anyhow::ensure!(
            length.is_none_or(|length| length == range.end - range.start),
            "a part of another length than its Content-Range '{text}'"
        );
        Ok(range)
    }

    /// Writes a body that ends at position `end` of the file, if that is known.
    fn receive(
        &mut self,
        body: Body,
        end: Option<u64>,
        progress: &ProgressBar,
    ) -> Result<(), Failure> {
        let mut body = body.into_reader();
        let mut buffer = vec![0; 64 << 10];
        loop {
            progress.set_position(self.len);
            let n = body.read(&mut buffer).map_err(|error| {
                let received = format!("broken off after {} bytes", self.len);
                Failure::Passing(anyhow::Error::from(error).context(received))
            })?;
            let after = self.len + n as u64;
            if end.is_some_and(|end| after > end) {
                return self.start_over(anyhow!("more bytes than were announced"));
            }
            if n == 0 && end.is_some_and(|end| after < end) {
                let error = anyhow!("broken off after {after} bytes");
                return Err(Failure::Passing(error));
            }
            if n == 0 {
                return Ok(());
            }
            let written = self.file.file().write_all(&buffer[..n]);
            written.context("cannot write").map_err(Failure::Lasting)?;
            self.sum.update(&buffer[..n]);
            self.len = after;
        }
    }

    /// Discards all received bytes; another attempt may succeed.
    fn start_over<T>(&mut self, why: anyhow::Error) -> Result<T, Failure> {
        self.restart().map_err(Failure::Lasting)?;
        Err(Failure::Passing(why))
    }

    fn restart(&mut self) -> anyhow::Result<()> {
        let file = self.file.file();
        file.set_len(0).context("cannot shorten the file")?;
        file.rewind().context("cannot go back in the file")?;
        self.len = 0;
        self.sum = Sha256::new();
        self.total = None;
        self.version = None;
        Ok(())
    }
}

/// Refuses an answer with a body other than the bytes of the file: encoded, or framed in a way that
/// the client does not decode.
fn check_coding(response: &Response<Body>) -> anyhow::Result<()> {
    for coding in response.headers().get_all(header::CONTENT_ENCODING) {
        anyhow::ensure!(
            coding.as_bytes().eq_ignore_ascii_case(b"identity"),
            "the server sends the file in the coding {coding:?}, which was not asked for"
        );
    }
    for coding in response.headers().get_all(header::TRANSFER_ENCODING) {
        anyhow::ensure!(
            coding.as_bytes().eq_ignore_ascii_case(b"chunked")
                && response.version() == Http::HTTP_11,
            "the server sends the file with the Transfer-Encoding {coding:?}, which \
             {:?} and this program do not have",
            response.version()
        );
    }
    Ok(())
}

/// Refuses an answer of several parts, each with a head of its own in the body.
fn check_single(headers: &HeaderMap) -> anyhow::Result<()> {
    let types = headers.get_all(header::CONTENT_TYPE).iter();
    let mut prefixes = types.filter_map(|it| it.as_bytes().get(..MULTIPART.len()));
    anyhow::ensure!(
        !prefixes.any(|prefix| prefix.eq_ignore_ascii_case(MULTIPART)),
        "the server sends several parts (multipart/byteranges) though one was asked for"
    );
    Ok(())
}

/// Returns the length of a body by its head; the client has refused contradictions.
fn content_length(headers: &HeaderMap) -> Option<u64> {
    let text = headers.get(header::CONTENT_LENGTH)?.to_str().ok()?;
    number(text.split(',').next()?.trim())
}

/// Returns true if another request may succeed.
fn of_request(error: ureq::Error) -> Failure {
    use ureq::Error::{BadUri, Http, Io, Rustls, Tls, TooManyRedirects};
    let lasts = match &error {
        BadUri(_) | Http(_) | Rustls(_) | Tls(_) | TooManyRedirects => true,
        // An untrusted certificate, or no TLS at all.
        Io(error) => error.kind() == io::ErrorKind::InvalidData,
        _ => false,
    };
    if lasts {
        Failure::Lasting(error.into())
    } else {
        Failure::Passing(error.into())
    }
}

/// The type of an answer in several parts.
const MULTIPART: &[u8] = b"multipart/byteranges";
