//! Counters in the text format of Prometheus.
//!
//! Each series has a line of help, which is the documentation of the counter, and a type. Names end
//! in the unit: `_total` for a number of events, `_seconds` for a time. Times are counted in
//! nanoseconds (`_nanos`) and written in seconds, the base unit of Prometheus. A gauge that counts
//! things has no unit.

use std::fmt;
use std::io;
use std::time::Duration;

use super::metrics::Metrics;
use crate::sched::pool::counters::Counters;

impl Metrics {
    /// Writes all counters in the text exposition format of Prometheus, version 0.0.4:
    /// `pirn_NAME_total{worker="N"}` for counters that only grow, `pirn_NAME{worker="N"}` for
    /// gauges. Serve it as `text/plain; version=0.0.4`.
    ///
    /// Each series has a `# HELP` and a `# TYPE` line. Names end in the unit: counters in `_total`,
    /// times in `_seconds`, total times in `_seconds_total`; numbers of workers and fibers have
    /// none. So [`Counters::run_nanos`] is `pirn_run_seconds_total` here, and
    /// [`Counters::run_nanos_max`] is `pirn_run_max_seconds`.
    ///
    /// The part of a counter of workers that belongs to none of them has the label
    /// `worker="outside"`, so that the sum over `worker` is the total. Values of the whole runtime,
    /// such as `pirn_workers`, have no label.
    ///
    /// # Errors
    /// Errors of `out`.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends, unless `out` does.
    ///
    /// # Examples
    /// ```
    /// let runtime = pirn::Runtime::builder().workers(1).build()?;
    /// let mut text = Vec::new();
    /// runtime.metrics().prometheus(&mut text)?;
    /// let text = String::from_utf8_lossy(&text);
    /// assert!(text.contains("# TYPE pirn_workers gauge\npirn_workers 1\n"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn prometheus(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let mut counters = Vec::new();
        self.total
            .each(|name, grows, total| counters.push((name, grows, total)));
        for (at, (name, grows, total)) in counters.into_iter().enumerate() {
            let series = Series::of(name, grows, Counters::HELP[at]);
            series.head(out)?;
            let mut rest = total;
            for worker in &self.workers {
                let mut values = Vec::new();
                worker.counters.each(|_, _, value| values.push(value));
                let value = values[at];
                rest = rest.saturating_sub(value);
                series.sample(out, &worker.index, value)?;
            }
            if grows && rest > 0 {
                series.sample(out, &"outside", rest)?;
            }
        }
        for (name, kind, help, value) in [
            (
                "pirn_workers",
                "gauge",
                "Workers that have been started, including standby workers.",
                self.workers.len() as u64,
            ),
            (
                "pirn_fibers",
                "gauge",
                "Fibers that have been spawned and have not ended.",
                self.total.spawned.saturating_sub(self.total.completed),
            ),
            (
                "pirn_unstarted_fibers",
                "gauge",
                "Fibers that have been spawned and have not started yet.",
                self.pressure,
            ),
            (
                "pirn_waiting_for_stack",
                "gauge",
                "Fibers that currently wait for a stack.",
                self.waiting_for_stack as u64,
            ),
            (
                "pirn_aged_wakes_total",
                "counter",
                "Workers woken because work had waited without being taken; a part of the wakes.",
                self.aged_wakes,
            ),
            (
                "pirn_slow_fibers_total",
                "counter",
                "Times a fiber kept its worker for longer than the threshold while others waited.",
                self.slow_fibers,
            ),
        ] {
            head(out, name, kind, help)?;
            writeln!(out, "{name} {value}")?;
        }
        self.stall_histogram(out)
    }

    fn stall_histogram(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let help =
            "The longest wait of a fiber in each stall that has ended, in seconds.";
        head(out, "pirn_stall_seconds", "histogram", help)?;
        let mut below = 0;
        for (bound, stalls) in &self.stall_delays {
            below += stalls;
            match *bound {
                Duration::MAX => {
                    writeln!(out, "pirn_stall_seconds_bucket{{le=\"+Inf\"}} {below}")?;
                }
                bound => {
                    let bound = bound.as_secs_f64();
                    writeln!(out, "pirn_stall_seconds_bucket{{le=\"{bound}\"}} {below}")?;
                }
            }
        }
        let sum = self.stalled.as_secs_f64();
        writeln!(out, "pirn_stall_seconds_sum {sum}")?;
        writeln!(out, "pirn_stall_seconds_count {below}")
    }
}

/// A counter of the workers.
struct Series<'a> {
    name: String,
    kind: &'static str,
    help: &'a str,
    /// The counter's unit is the nanosecond.
    is_time: bool,
}

impl Series<'_> {
    fn of<'a>(name: &str, grows: bool, help: &'a str) -> Series<'a> {
        let (total, kind) = match grows {
            true => ("_total", "counter"),
            false => ("", "gauge"),
        };
        let time = name.split_once("_nanos");
        let name = match time {
            Some((what, which)) => format!("pirn_{what}{which}_seconds{total}"),
            None => format!("pirn_{name}{total}"),
        };
        Series {
            name,
            kind,
            help,
            is_time: time.is_some(),
        }
    }

    fn head(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let help = self.help.trim().replace("nanoseconds", "seconds");
        head(out, &self.name, self.kind, &help)
    }

    fn sample(
        &self,
        out: &mut dyn io::Write,
        worker: &dyn fmt::Display,
        value: u64,
    ) -> io::Result<()> {
        let name = &self.name;
        write!(out, "{name}{{worker=\"{worker}\"}} ")?;
        match self.is_time {
            true => writeln!(out, "{}", Duration::from_nanos(value).as_secs_f64()),
            false => writeln!(out, "{value}"),
        }
    }
}

/// Writes the lines before the samples of a series. `help` has neither a backslash nor a line feed.
fn head(out: &mut dyn io::Write, name: &str, kind: &str, help: &str) -> io::Result<()> {
    writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}")
}
