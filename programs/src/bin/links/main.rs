//! Checks all links of a web site.
//!
//! A bounded pool of fibers makes the requests: plain code, one request after the other. One fiber,
//! the crawl, hands out URLs and collects the results. So the crawl's tables need no lock.
//!
//! * `crawl`: which URLs are to be checked, and which links are broken.
//! * `check`: one URL: the request, and the answer.
//! * `page`: the links and the places of a page of HTML.
//! * `pace`: how many requests there are in a second.

mod check;
mod crawl;
mod pace;
mod page;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::Parser;
use pirn::cancel::Token;
use pirn::signal::{self, Signal};
use pirn_programs::{agent, exit, seconds};
use url::Url;

use crate::check::Checker;
use crate::crawl::Crawl;
use crate::pace::Pace;

/// Checks the links of all pages of a site, to the site itself and to others, and prints those that
/// are broken. Reads the attributes href, src, data and poster of HTML; runs no scripts, and reads no
/// `srcset`, style sheet, other kind of file or robots.txt.
#[derive(Parser)]
#[command(name = "links")]
struct Args {
    /// How many requests run at once
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..))]
    at_once: u16,
    /// How many requests are begun in a second
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    rate: u32,
    /// How many URLs are checked; more are an error
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..))]
    most: u32,
    /// Seconds that a request has, with its whole answer; then the link is broken
    #[arg(long, default_value = "30", value_parser = seconds)]
    limit: Duration,
    /// The first page; where it leads to, pages of the same scheme, host and port are the site
    url: Url,
}

fn main() -> ExitCode {
    let args = Args::parse();
    exit("links", pirn::run(|| run(args)))
}

fn run(args: Args) -> anyhow::Result<()> {
    if !matches!(args.url.scheme(), "http" | "https") {
        bail!("{} is not a URL of HTTP or HTTPS", args.url);
    }
    let checker = Checker {
        agent: agent(args.limit, 0, None)?,
        pace: Pace::new(args.rate),
        limit: args.limit,
    };
    let mut crawl = Crawl::new(args.url, args.most as usize);
    // What is known after a signal is reported.
    let stop = Token::new();
    let _signals = signal::cancel_on(&[Signal::TERM, Signal::INT], &stop)
        .context("cannot listen to signals")?;
    let ended = stop.enter(|| crawl.run(&checker, args.at_once.into()));
    let broken = crawl.broken();
    let mut lines = String::new();
    for line in &broken {
        lines.push_str(line);
        lines.push('\n');
    }
    let (urls, pages) = crawl.counts();
    lines.push_str(&format!(
        "{urls} URLs checked, {pages} of them pages of the site, {} links broken\n",
        broken.len()
    ));
    std::io::Write::write_all(&mut pirn::io::stdout(), lines.as_bytes())
        .context("cannot write to standard output")?;
    if stop.is_cancelled() {
        bail!("interrupted");
    }
    ended?;
    match broken.len() {
        0 => Ok(()),
        count => bail!("{count} links are broken"),
    }
}
