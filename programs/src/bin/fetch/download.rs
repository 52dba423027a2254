//! One file: attempts until it is complete, then its final name.
//!
//! An incomplete file has a temporary name: `fetch-`, 16 random digits and `.part`. It gets its
//! final name when all of it is on the disk, and is removed otherwise.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use ureq::Agent;
use ureq::http::Uri;

use crate::attempt::{Failure, Part, Received};

/// The state shared by all downloads.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) agent: Agent,
    pub(crate) directory: PathBuf,
    pub(crate) retries: u32,
    pub(crate) progress: MultiProgress,
}

/// Returns the names of the files: the ends of the paths, which must differ.
pub(crate) fn names(urls: &[String]) -> anyhow::Result<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    for url in urls {
        let uri: Uri = url.parse().with_context(|| format!("no URL: {url}"))?;
        let name = uri.path().rsplit('/').next().unwrap_or_default();
        ensure!(
            !matches!(name, "" | "." | ".."),
            "no name of a file at the end of {url}"
        );
        ensure!(
            !names.iter().any(|n| n == name),
            "two files of the name {name}"
        );
        names.push(name.to_owned());
    }
    Ok(names)
}

/// Downloads one file; returns its sum.
pub(crate) fn run(settings: &Settings, url: &str, name: &str) -> anyhow::Result<String> {
    let part = Part::create(&settings.directory)?;
    let progress = settings.progress.add(ProgressBar::no_length());
    progress.set_style(style());
    progress.set_prefix(name.to_owned());
    let path = settings.directory.join(name);
    let downloaded = attempts(settings, url, part, &path, &progress);
    progress.finish_and_clear();
    downloaded
}

/// Tries until the file is complete, or no attempt can succeed.
fn attempts(
    settings: &Settings,
    url: &str,
    mut part: Part,
    path: &Path,
    progress: &ProgressBar,
) -> anyhow::Result<String> {
    let (mut left, mut pause) = (settings.retries, PAUSE);
    loop {
        let error = match part.attempt(&settings.agent, url, progress) {
            Ok(Received::Whole) => return part.finish(path),
            // Each such answer has at least a byte.
            Ok(Received::Incomplete) => continue,
            Err(Failure::Lasting(error)) => return Err(error),
            Err(Failure::Passing(error)) => error,
        };
        if left == 0 {
            let tried = format!("after {} attempts", settings.retries + 1);
            return Err(error).context(tried);
        }
        progress.set_message(format!("{error:#}; {left} more attempts"));
        left -= 1;
        pirn::sleep(pause)?;
        pause = (2 * pause).min(LONGEST_PAUSE);
    }
}

fn style() -> ProgressStyle {
    let style = "{prefix} {bytes}/{total_bytes} {wide_bar} {bytes_per_sec} {msg}";
    ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// The pause between the first two attempts, and its maximum: it doubles. Arbitrary.
const PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
