//! Counters in the text format of Prometheus.

use std::io;
use std::time::Duration;

use super::metrics::Metrics;

impl Metrics {
    /// Writes all counters in the text exposition format of Prometheus, version 0.0.4:
    /// `pirn_NAME_total{worker="N"}` for counters that only grow, `pirn_NAME{worker="N"}` for
    /// gauges. Serve it as `text/plain; version=0.0.4`.
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
    /// assert!(String::from_utf8_lossy(&text).contains("pirn_workers 1\n"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn prometheus(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let mut names = Vec::new();
        self.total
            .each(|name, grows, total| names.push((name, grows, total)));
        for (at, (name, grows, total)) in names.into_iter().enumerate() {
            let (suffix, kind) = if grows {
                ("_total", "counter")
            } else {
                ("", "gauge")
            };
            writeln!(out, "# TYPE pirn_{name}{suffix} {kind}")?;
            let mut rest = total;
            for worker in &self.workers {
                let mut values = Vec::new();
                worker.counters.each(|_, _, value| values.push(value));
                let value = values[at];
                rest = rest.saturating_sub(value);
                let index = worker.index;
                writeln!(out, "pirn_{name}{suffix}{{worker=\"{index}\"}} {value}")?;
            }
            if grows && rest > 0 {
                writeln!(out, "pirn_{name}{suffix}{{worker=\"outside\"}} {rest}")?;
            }
        }
        for (name, value) in [
            ("pirn_workers", self.workers.len()),
            ("pirn_waiting_for_stack", self.waiting_for_stack),
        ] {
            writeln!(out, "# TYPE {name} gauge\n{name} {value}")?;
        }
        for (name, value) in [
            ("pirn_aged_wakes_total", self.aged_wakes),
            ("pirn_slow_fibers_total", self.slow_fibers),
        ] {
            writeln!(out, "# TYPE {name} counter\n{name} {value}")?;
        }
        self.stall_histogram(out)
    }

    fn stall_histogram(&self, out: &mut dyn io::Write) -> io::Result<()> {
        writeln!(out, "# TYPE pirn_stall_seconds histogram")?;
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
