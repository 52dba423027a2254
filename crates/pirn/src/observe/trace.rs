//! The trace: a runtime's events as JSON in the trace-event format, which `about:tracing`
//! and Perfetto (`ui.perfetto.dev`) open.
//!
//! One track for each worker. On it a slice (`X`) for each run of a fiber has the fiber's name or
//! the place of its spawn. An arrow (`s` to `f`) leads from the point where a running fiber wakes
//! or spawns another to that fiber's next run. A mark (`i`) stands for moves between workers. One
//! more track, `outside`, has a slice without length for each spawn by a thread that is no worker.
//! Fibers that such a thread or a timer has woken have no arrow, since it would have no start.
//! Times are in microseconds since the process first read the clock.

use std::collections::HashMap;
use std::fmt::{self, Display};
use std::io::{self, Write};
use std::panic::Location;

use super::json::Text;
use crate::base::clock;
use crate::events::{Event, Kind};
use crate::sched::pool::shared::Pool;

/// Writes the recorded events of `pool`.
///
/// # Errors
/// Errors of `out`.
pub(crate) fn write_trace(pool: &Pool, out: &mut dyn Write) -> io::Result<()> {
    let kept = pool.events();
    let workers = kept.len() - 1;
    let now = clock::now();
    let lost: u64 = kept.iter().map(|(_, lost)| lost).sum();
    let mut events: Vec<(usize, Event)> = Vec::new();
    for (worker, (own, _)) in kept.iter().enumerate() {
        events.extend(own.iter().map(|event| (worker, *event)));
    }
    // At equal times, causes come first. The order of each worker's own events stays.
    events.sort_by_key(|(_, event)| (event.time, !begins_arrow(event.kind)));
    let mut trace = Trace {
        out,
        first: true,
        names: pool.fiber_names().into_iter().collect(),
        running: vec![None; workers + 1],
        arrows: HashMap::new(),
        arrow: 0,
    };
    trace.begin(pool.name(), workers, lost)?;
    for (worker, event) in events {
        if worker == workers {
            // A slice for the arrow to begin in.
            trace.enter(worker, event)?;
            trace.event(worker, event)?;
            trace.leave(worker, event.time, &"spawn")?;
        } else {
            trace.event(worker, event)?;
        }
    }
    for worker in 0..workers {
        trace.leave(worker, now, &"running")?;
    }
    trace.out.write_all(b"\n]}\n")
}

/// The state while a trace is written.
struct Trace<'a> {
    out: &'a mut dyn Write,
    first: bool,
    names: HashMap<u64, String>,
    /// The running fiber of each worker.
    running: Vec<Option<Run>>,
    /// By fiber: the start of an arrow to its next run.
    arrows: HashMap<u64, Arrow>,
    /// The number of the last arrow.
    arrow: u64,
}

#[derive(Debug, Copy, Clone)]
struct Run {
    fiber: u64,
    place: Option<&'static Location<'static>>,
    began: u64,
}

#[derive(Debug, Copy, Clone)]
struct Arrow {
    worker: usize,
    time: u64,
    name: &'static str,
}

impl Trace<'_> {
    fn begin(&mut self, name: &str, workers: usize, lost: u64) -> io::Result<()> {
        let pid = std::process::id();
        write!(
            self.out,
            "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"events_lost\":\"{lost}\"}},\
             \"traceEvents\":["
        )?;
        self.separate()?;
        write!(
            self.out,
            "{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{pid},\"tid\":0,\
             \"args\":{{\"name\":{}}}}}",
            Text(&format!("pirn runtime {name}"))
        )?;
        for worker in 0..=workers {
            let track = if worker == workers {
                "outside".to_owned()
            } else {
                format!("{name}-{worker}")
            };
            self.separate()?;
            write!(
                self.out,
                "{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{pid},\"tid\":{worker},\
                 \"args\":{{\"name\":{}}}}}",
                Text(&track)
            )?;
        }
        Ok(())
    }

    fn event(&mut self, worker: usize, event: Event) -> io::Result<()> {
        match event.kind {
            Kind::Run => self.enter(worker, event),
            Kind::Park => match event.reason() {
                Some(reason) => {
                    self.leave(worker, event.time, &format_args!("{reason:?}"))
                }
                None => self.leave(worker, event.time, &"wait"),
            },
            Kind::Yield => self.leave(worker, event.time, &"yield"),
            Kind::Done => self.leave(worker, event.time, &"end"),
            Kind::Wake => self.remember(worker, event, "wake"),
            Kind::Spawn => self.remember(worker, event, "spawn"),
            Kind::Start => Ok(()),
            Kind::Steal => self.mark(worker, event, "steal"),
            Kind::Overflow => self.mark(worker, event, "overflow"),
            Kind::Fetch => self.mark(worker, event, "fetch"),
            Kind::Place => self.mark(worker, event, "place"),
        }
    }

    fn enter(&mut self, worker: usize, event: Event) -> io::Result<()> {
        // The end of the previous run was a lost event.
        self.leave(worker, event.time, &"?")?;
        self.running[worker] = Some(Run {
            fiber: event.fiber,
            place: event.place,
            began: event.time,
        });
        match self.arrows.remove(&event.fiber) {
            Some(arrow) => self.arrow(arrow, worker, event.time),
            None => Ok(()),
        }
    }

    fn leave(&mut self, worker: usize, time: u64, why: &dyn Display) -> io::Result<()> {
        let Some(run) = self.running[worker].take() else {
            return Ok(());
        };
        let name = match (self.names.get(&run.fiber), run.place) {
            (Some(name), _) => name.clone(),
            (None, Some(place)) => format!("{}:{}", place.file(), place.line()),
            (None, None) => "fiber".to_owned(),
        };
        let place = run.place.map(Location::to_string).unwrap_or_default();
        self.separate()?;
        write!(
            self.out,
            "{{\"ph\":\"X\",\"cat\":\"fiber\",\"name\":{},\"pid\":{},\"tid\":{worker},\
             \"ts\":{},\"dur\":{},\"args\":{{\"fiber\":\"{}\",\"spawned_at\":{},\
             \"until\":{}}}}}",
            Text(&name),
            std::process::id(),
            Micros(run.began),
            Micros(time.saturating_sub(run.began)),
            run.fiber,
            Text(&place),
            Text(&why.to_string()),
        )
    }

    /// Records the start of an arrow to the fiber's next run, if a fiber runs here.
    fn remember(
        &mut self,
        worker: usize,
        event: Event,
        name: &'static str,
    ) -> io::Result<()> {
        if self.running[worker].is_some() {
            let time = event.time;
            self.arrows
                .insert(event.fiber, Arrow { worker, time, name });
        }
        Ok(())
    }

    fn arrow(&mut self, from: Arrow, worker: usize, time: u64) -> io::Result<()> {
        self.arrow += 1;
        let ends = [("s", from.worker, from.time), ("f", worker, time)];
        for (phase, worker, time) in ends {
            self.separate()?;
            write!(
                self.out,
                "{{\"ph\":\"{phase}\",\"cat\":\"wake\",\"name\":\"{}\",\"id\":{},\
                 \"pid\":{},\"tid\":{worker},\"ts\":{}{}}}",
                from.name,
                self.arrow,
                std::process::id(),
                Micros(time),
                if phase == "f" { ",\"bp\":\"e\"" } else { "" },
            )?;
        }
        Ok(())
    }

    fn mark(&mut self, worker: usize, event: Event, name: &str) -> io::Result<()> {
        self.separate()?;
        write!(
            self.out,
            "{{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"queue\",\"name\":\"{name}\",\"pid\":{},\
             \"tid\":{worker},\"ts\":{},\"args\":{{\"fiber\":\"{}\",\"worker\":{}}}}}",
            std::process::id(),
            Micros(event.time),
            event.fiber,
            event.detail,
        )
    }

    fn separate(&mut self) -> io::Result<()> {
        let first = std::mem::replace(&mut self.first, false);
        self.out.write_all(if first { b"\n" } else { b",\n" })
    }
}

/// Nanoseconds, formatted as microseconds.
struct Micros(u64);

impl Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1_000, self.0 % 1_000)
    }
}

fn begins_arrow(kind: Kind) -> bool {
    matches!(kind, Kind::Wake | Kind::Spawn)
}
