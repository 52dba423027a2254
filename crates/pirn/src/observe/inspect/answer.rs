//! Answers: lines of JSON, each an object that says by its `kind` what it is about. The form is a
//! promise, described in `docs/inspect-format.md`.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Instant;

use super::super::json::Line;
use super::super::metrics::Metrics;
use super::inspector::{Why, refuse};
use super::request::Request;
use crate::fiber::life::State;
use crate::sched::counters::Counters;
use crate::sched::fiber_info::FiberInfo;
use crate::sched::glance::{Glance, Mood};
use crate::sched::pool::Pool;
use crate::sched::roll::{Question, WorkerInfo};
use crate::sched::tally::Tally;
use crate::shim;

/// The version of the form. It changes when what a reader of the older one relies on changes;
/// new kinds and new fields do not change it.
const VERSION: u64 = 1;

/// Answers `request` about `pool`, which has been there since `began`.
///
/// # Errors
/// Those of `out`.
pub(super) fn answer(
    pool: &Arc<Pool>,
    began: Instant,
    request: Request,
    out: &mut dyn Write,
) -> io::Result<()> {
    match request {
        Request::Snapshot { most } => snapshot(pool, began, most, out),
        Request::Fiber { id } => fiber(pool, id, out),
    }
}

fn snapshot(
    pool: &Arc<Pool>,
    began: Instant,
    most: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    // Before the roll, which wakes everybody.
    let glances = pool.glance();
    let roll = pool.call_roll(Question::Fibers(most));
    let metrics = Metrics::of(pool);
    let uptime = shim::now().saturating_duration_since(began);
    Line::of("runtime")
        .raw("version", VERSION)
        .text("name", pool.name())
        .raw("pid", std::process::id())
        .raw("uptime_ns", uptime.as_nanos())
        .raw("workers", pool.workers())
        .raw("injected", pool.injected())
        .raw("waiting_for_stack", metrics.waiting_for_stack)
        .raw("pressure", metrics.pressure)
        .raw("aged_wakes", metrics.aged_wakes)
        .raw("slow_fibers", metrics.slow_fibers)
        .numbers("counters", named(&metrics.total))
        .end(out)?;
    let mut tally = Tally::default();
    for glance in &glances {
        let told = roll
            .workers
            .iter()
            .find(|told| told.worker == glance.worker);
        let counters = metrics.workers.get(glance.worker);
        worker(glance, told, counters.map(|worker| &worker.counters), out)?;
    }
    for told in &roll.workers {
        told.fibers
            .iter()
            .for_each(|fiber| tally.count((fiber.state, fiber.reason)));
        tally.merge(&told.others);
    }
    for (state, reason, fibers) in tally.iter() {
        Line::of("tally")
            .text("state", state_name(state))
            .some_text("reason", reason.map(|reason| format!("{reason:?}")))
            .raw("fibers", fibers)
            .end(out)?;
    }
    for (reason, times) in &metrics.scale {
        Line::of("scale")
            .text("reason", &reason.to_string())
            .raw("times", times)
            .end(out)?;
    }
    for told in &roll.workers {
        for fiber in &told.fibers {
            describe(fiber).end(out)?;
        }
    }
    Line::of("end").end(out)
}

fn worker(
    glance: &Glance,
    told: Option<&WorkerInfo>,
    counters: Option<&Counters>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mood = match glance.mood {
        Mood::Gone => "gone",
        Mood::Awake => "awake",
        Mood::Asleep => "asleep",
        Mood::Timed => "timed",
    };
    let mut line = Line::of("worker")
        .raw("worker", glance.worker)
        .text("state", mood)
        .raw("member", glance.member)
        .raw("answered", told.is_some_and(|told| told.answered))
        .raw("started", glance.started)
        .raw("ready", told.map_or(0, |told| told.ready))
        .raw("fresh", glance.fresh);
    if let Some(running) = &glance.running {
        line = line
            .text("running", &running.id.to_string())
            .text("running_spawned_at", &running.spawned_at.to_string());
    }
    if let Some(counters) = counters {
        line = line.numbers("counters", named(counters));
    }
    line.end(out)
}

fn fiber(pool: &Arc<Pool>, id: u64, out: &mut dyn Write) -> io::Result<()> {
    let fibers = pool.call_roll(Question::Fiber(id)).fibers();
    // Of a worker that does not answer, what it runs is told, asked for or not.
    let Some(fiber) = fibers.iter().find(|fiber| fiber.id.number() == id) else {
        let said = format!("no fiber {id}, or its worker does not answer");
        return refuse(Why::Fiber, &said, out);
    };
    describe(fiber).texts("frames", &fiber.frames()).end(out)?;
    Line::of("end").end(out)
}

fn describe(fiber: &FiberInfo) -> Line {
    let mut line = Line::of("fiber")
        .text("id", &fiber.id.to_string())
        .some_text("name", fiber.name.as_ref())
        .text("state", state_name(fiber.state))
        .some_text("reason", fiber.reason.map(|reason| format!("{reason:?}")))
        .some_text("object", fiber.waits_for.as_ref())
        .raw("waited_ns", fiber.since.as_nanos())
        .raw("limited", fiber.deadline.is_some())
        .text("spawned_at", &fiber.spawned_at.to_string())
        .some_text("waits_at", fiber.waits_at)
        .raw("worker", fiber.worker);
    if fiber.stack_size > 0 {
        line = line
            .raw("stack_used", fiber.stack_used)
            .raw("stack_size", fiber.stack_size);
    }
    line
}

fn state_name(state: State) -> &'static str {
    match state {
        State::Running => "running",
        State::Parked => "parked",
        _ => "ready",
    }
}

/// All counters by their names.
fn named(counters: &Counters) -> Vec<(&'static str, u64)> {
    let mut all = Vec::new();
    counters.each(|name, _, value| all.push((name, value)));
    all
}
