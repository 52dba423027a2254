//! One request and its answer, into a file; and what is kept of it when it breaks off.
//!
//! What has come is asked for no second time if the server has named the version of which it is a part
//! (a strong `ETag`), still has that, and can begin in the middle. If it answers with all of it,
//! the file begins again; so does its sum.

use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::Path;

use anyhow::Context as _;
use indicatif::ProgressBar;
use pirn::fs::File;
use sha2::{Digest as _, Sha256};
use ureq::http::{HeaderMap, Response, StatusCode, header};
use ureq::{Agent, Body};

/// A file that is not whole yet.
pub(crate) struct Part {
    file: File,
    /// Bytes in it.
    len: u64,
    /// Of those bytes.
    sum: Sha256,
    /// The version of which it is a part, if the server has named that.
    version: Option<String>,
}

/// Why an attempt has failed.
pub(crate) enum Failure {
    /// Another one may succeed.
    Passing(anyhow::Error),
    /// None will.
    Lasting(anyhow::Error),
}

impl Part {
    /// An empty file; what was there is gone.
    pub(crate) fn create(path: &Path) -> anyhow::Result<Part> {
        let file = File::create(path)
            .with_context(|| format!("cannot create {}", path.display()))?;
        Ok(Part {
            file,
            len: 0,
            sum: Sha256::new(),
            version: None,
        })
    }

    /// Asks for the file, or for the rest of it, and writes what comes.
    pub(crate) fn attempt(
        &mut self,
        agent: &Agent,
        url: &str,
        progress: &ProgressBar,
    ) -> Result<(), Failure> {
        let mut request = agent.get(url);
        if let Some(version) = self.version.as_ref().filter(|_| self.len > 0) {
            request = request
                .header(header::RANGE, format!("bytes={}-", self.len))
                .header(header::IF_RANGE, version);
        }
        let response = request.call().map_err(of_request)?;
        self.check(&response)?;
        let length = response.body().content_length();
        if let Some(length) = length {
            progress.set_length(self.len + length);
        }
        self.receive(response.into_body(), progress)
    }

    /// Writes all of it to the disk; returns the sum.
    pub(crate) fn finish(self) -> anyhow::Result<String> {
        self.file.sync_all().context("cannot write")?;
        let sum = self.sum.finalize();
        Ok(sum.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Judges an answer before its body, and goes back to the start if all of it comes.
    fn check(&mut self, response: &Response<Body>) -> Result<(), Failure> {
        match response.status() {
            StatusCode::PARTIAL_CONTENT => {
                let range = text(response.headers(), header::CONTENT_RANGE);
                let expected = format!("bytes {}-", self.len);
                if range.is_some_and(|range| range.starts_with(&expected)) {
                    return Ok(());
                }
                self.restart().map_err(Failure::Lasting)?;
                Err(Failure::Passing(anyhow::anyhow!(
                    "another part than was asked for"
                )))
            }
            StatusCode::OK => {
                self.restart().map_err(Failure::Lasting)?;
                let version = text(response.headers(), header::ETAG);
                let version = version.filter(|version| version.starts_with('"'));
                self.version = version.map(str::to_owned);
                Ok(())
            }
            // All of it had come, but for the word that it is the end.
            StatusCode::RANGE_NOT_SATISFIABLE if self.len > 0 => {
                self.restart().map_err(Failure::Lasting)?;
                Err(Failure::Passing(anyhow::anyhow!(
                    "no more than what has come"
                )))
            }
            status => {
                let passes = status.is_server_error()
                    || status == StatusCode::REQUEST_TIMEOUT
                    || status == StatusCode::TOO_MANY_REQUESTS;
                let error = anyhow::anyhow!("the server says {status}");
                Err(if passes {
                    Failure::Passing(error)
                } else {
                    Failure::Lasting(error)
                })
            }
        }
    }

    fn receive(&mut self, body: Body, progress: &ProgressBar) -> Result<(), Failure> {
        let mut body = body.into_reader();
        let mut buffer = vec![0; 64 << 10];
        loop {
            progress.set_position(self.len);
            let n = body.read(&mut buffer).map_err(|error| {
                let received = format!("broken off after {} bytes", self.len);
                Failure::Passing(anyhow::Error::from(error).context(received))
            })?;
            if n == 0 {
                return Ok(());
            }
            let written = self.file.write_all(&buffer[..n]).context("cannot write");
            written.map_err(Failure::Lasting)?;
            self.sum.update(&buffer[..n]);
            self.len += u64::try_from(n).unwrap_or_default();
        }
    }

    fn restart(&mut self) -> anyhow::Result<()> {
        self.file.set_len(0).context("cannot shorten the file")?;
        self.file.rewind().context("cannot go back in the file")?;
        self.len = 0;
        self.sum = Sha256::new();
        self.version = None;
        Ok(())
    }
}

/// Whether another request may succeed.
fn of_request(error: ureq::Error) -> Failure {
    use ureq::Error::{BadUri, Http, Io, Rustls, Tls, TooManyRedirects};
    let lasts = match &error {
        BadUri(_) | Http(_) | Rustls(_) | Tls(_) | TooManyRedirects => true,
        // A certificate that is not believed, or no TLS at all.
        Io(error) => error.kind() == io::ErrorKind::InvalidData,
        _ => false,
    };
    if lasts {
        Failure::Lasting(error.into())
    } else {
        Failure::Passing(error.into())
    }
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}
