//! One URL: the request, and the answer.

use std::io::Read as _;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use ureq::http::{Response, StatusCode, header};
use ureq::{Agent, Body};
use url::Url;

use crate::pace::Pace;
use crate::page::Page;

/// How many bytes of a page are read. Arbitrary.
const PAGE: u64 = 16 << 20;

/// The state shared by all requests.
#[derive(Debug)]
pub(crate) struct Checker {
    /// It follows no redirections: each of them is a request with its own place in the pace.
    pub(crate) agent: Agent,
    pub(crate) pace: Pace,
    /// The time that a request has, with its answer.
    pub(crate) limit: Duration,
}

/// What a URL has answered.
#[derive(Debug)]
pub(crate) enum Found {
    /// A page of HTML.
    Page(Page),
    /// A redirection.
    Redirect(Url),
    /// Anything else.
    Other,
}

impl Checker {
    /// Requests a URL. If it belongs to the site, its links are read.
    pub(crate) fn check(&self, url: &Url, is_of_site: bool) -> anyhow::Result<Found> {
        if !is_of_site {
            // Of others only the head is of interest. Some servers do not answer such a request.
            let found = self.request(url, |agent| agent.head(url.as_str()).call(), false);
            if found.is_ok() {
                return found;
            }
        }
        self.request(url, |agent| agent.get(url.as_str()).call(), is_of_site)
    }

    fn request(
        &self,
        url: &Url,
        call: impl FnOnce(&Agent) -> Result<Response<Body>, ureq::Error>,
        is_read: bool,
    ) -> anyhow::Result<Found> {
        self.pace.wait()?;
        let requested = pirn::timeout(self.limit, || {
            let mut answer = call(&self.agent)?;
            match answer.status() {
                status if status.is_success() && !is_read => Ok(Found::Other),
                status if status.is_success() => read(url, &mut answer),
                status if status.is_redirection() => redirect(url, &answer),
                StatusCode::NOT_FOUND => bail!("not found (404)"),
                status => bail!("the server says {status}"),
            }
        });
        requested
            .unwrap_or_else(|_| bail!("timeout: no whole answer in {:?}", self.limit))
    }
}

/// Reads the links of an answer, if it is HTML.
fn read(url: &Url, answer: &mut Response<Body>) -> anyhow::Result<Found> {
    let kind = answer.headers().get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    let is_html = ["text/html", "application/xhtml+xml"]
        .iter()
        .any(|html| kind.eq_ignore_ascii_case(html));
    if !is_html {
        return Ok(Found::Other);
    }
    let coding = answer.headers().get(header::CONTENT_ENCODING);
    ensure!(
        coding.is_none_or(|coding| coding.as_bytes().eq_ignore_ascii_case(b"identity")),
        "the server sends the page in a coding that was not requested"
    );
    let mut html = Vec::new();
    // One byte more shows whether the page is longer.
    let body = answer.body_mut().as_reader();
    let length = body.take(PAGE + 1).read_to_end(&mut html)?;
    let mut page = Page::read(url, &html);
    page.is_cut |= length as u64 > PAGE;
    Ok(Found::Page(page))
}

/// Returns where an answer redirects to.
fn redirect(url: &Url, answer: &Response<Body>) -> anyhow::Result<Found> {
    let status = answer.status();
    let to = answer.headers().get(header::LOCATION);
    let to =
        to.with_context(|| format!("the server says {status}, without a Location"))?;
    let to = url.join(&String::from_utf8_lossy(to.as_bytes()));
    let to =
        to.with_context(|| format!("the server says {status}, with a wrong Location"))?;
    match to.scheme() {
        "http" | "https" => Ok(Found::Redirect(to)),
        _ => bail!("the server redirects to {to}"),
    }
}
