//! The output of `PIRN_LOG`: lines on standard error, one for each event of a category.
//!
//! A line is built in a buffer on the stack and written by one system call. It bypasses `std`'s
//! lock of standard error, which a fiber may hold while it waits. So a line never blocks a worker
//! behind one of its own fibers, and lines of several threads do not mix.

use std::fmt::{self, Write};

use super::event::{Event, Kind};
use super::mask::LogMask;
use crate::base::clock;
use crate::base::name::Name;
use crate::context::SignalWriter;

/// Writes one line: the time, the category, the runtime, and `what`.
#[cold]
pub(crate) fn log(category: LogMask, runtime: &str, what: fmt::Arguments<'_>) {
    let (micros, runtime) = (clock::now() / 1_000, Name(runtime));
    let mut line = SignalWriter::new();
    // An overlong line is truncated, so the results are ignored.
    let _ = write!(
        line,
        "pirn: {}.{:06} [{category}] {runtime:.128}{what}",
        micros / 1_000_000,
        micros % 1_000_000
    );
    line.finish_line();
}

/// The worker on which something has happened, as lines name it.
#[derive(Copy, Clone)]
pub(crate) struct Origin<'a> {
    /// The name of its runtime.
    pub(crate) runtime: &'a str,
    /// Its number there.
    pub(crate) worker: usize,
}

/// Writes the line of an event on a worker.
#[cold]
pub(super) fn log_event(origin: Origin<'_>, event: &Event, name: Option<&str>) {
    let Origin { runtime, worker } = origin;
    log(
        event.categories(),
        runtime,
        format_args!("-{worker} {}", EventText { event, name }),
    );
}

/// An event in words.
struct EventText<'a> {
    event: &'a Event,
    name: Option<&'a str>,
}

impl fmt::Display for EventText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let event = self.event;
        write!(f, "fiber {}", event.fiber)?;
        if let Some(name) = self.name {
            write!(f, " '{:.128}'", Name(name))?;
        }
        match event.kind {
            Kind::Spawn => f.write_str(" is spawned")?,
            Kind::Start => f.write_str(" starts")?,
            Kind::Run => f.write_str(" runs")?,
            Kind::Park => match event.reason() {
                Some(reason) => write!(f, " waits ({reason:?})")?,
                None => f.write_str(" waits")?,
            },
            Kind::Yield => f.write_str(" yields")?,
            Kind::Wake => f.write_str(" is woken")?,
            Kind::Steal => write!(f, " is stolen from worker {}", event.detail)?,
            Kind::Done => f.write_str(" has ended")?,
            Kind::Overflow => f.write_str(" overflows the ring")?,
            Kind::Fetch => f.write_str(" comes from the injector")?,
            Kind::Place => write!(f, " is handed to worker {}", event.detail)?,
        }
        match event.place {
            Some(place) => write!(f, ", spawned at {place}"),
            None => Ok(()),
        }
    }
}
