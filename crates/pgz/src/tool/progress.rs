//! The progress bar, on a terminal only.

use std::io::{self, Read};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A reader that displays its progress. Dropping it removes the bar.
pub(super) struct Progress<R> {
    from: R,
    bar: Option<ProgressBar>,
}

impl<R: Read> Progress<R> {
    /// Returns a reader of `from`, which has `length` bytes if that is known.
    pub(super) fn over(from: R, name: &str, length: Option<u64>, visible: bool) -> Self {
        let worth_it = length.is_none_or(|length| length >= WORTH_A_BAR);
        let bar = (visible && worth_it).then(|| {
            let target = ProgressDrawTarget::stderr();
            let bar = ProgressBar::with_draw_target(length, target);
            let template = match length {
                Some(_) => "{prefix} {wide_bar} {bytes}/{total_bytes} {eta}",
                None => "{prefix} {spinner} {bytes} {binary_bytes_per_sec}",
            };
            let style = ProgressStyle::with_template(template);
            bar.set_style(style.expect("the template is well-formed"));
            bar.set_prefix(name.to_owned());
            bar
        });
        Progress { from, bar }
    }
}

impl<R: Read> Read for Progress<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.from.read(buf)?;
        if let Some(bar) = &self.bar {
            bar.inc(n as u64);
        }
        Ok(n)
    }
}

impl<R> Drop for Progress<R> {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Smaller files complete before a bar could be read.
const WORTH_A_BAR: u64 = 32 << 20;
