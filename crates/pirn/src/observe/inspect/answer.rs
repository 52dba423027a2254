//! Answers: lines of JSON, each an object with its `kind`. The format is a promise, described in
//! `docs/inspect-format.md`.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::json::Line;
use super::super::metrics::Metrics;
use super::super::report::{self, LeftOut, Question, ThreadState, Walked, WorkerGlance};
use super::super::stack_use::StackUse;
use super::request::Request;
use crate::fiber::state_names::State;
use crate::report::fiber_info::FiberInfo;
use crate::sched::pool::counters::Counters;
use crate::sched::pool::shared::Pool;
use crate::shim;

/// The version of the format. It changes when something changes that a reader of the older one
/// relies on; new kinds and new fields do not change it.
const VERSION: u64 = 1;

/// The limit on describing fibers in one answer: less than the time for a client to read it, so
/// that the client learns what was left out. Arbitrary; a million fibers take some seconds.
const WALK: Duration = Duration::from_secs(8);

/// The limit on a search for one fiber. Nothing is answered before it ends, and `pirn-top` calls a
/// runtime silent after a second and a half.
const SEARCH: Duration = Duration::from_secs(1);

/// The longest time that output stays in a buffer while more is collected. Arbitrary.
const FLUSH: Duration = Duration::from_millis(100);

/// The reason why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// The client has no permission.
    Refused,
    /// The request is malformed.
    Request,
    /// No such fiber was described: it does not exist, or its worker does not answer.
    Fiber,
}

/// Answers `request` about `pool`, which exists since `began`.
///
/// # Errors
/// Errors of `out`.
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
    let until = shim::now() + WALK;
    // Before the walk, which wakes workers.
    let glances = report::glance(pool);
    let metrics = Metrics::of(pool);
    let uptime = shim::now().saturating_duration_since(began);
    let stacks = StackUse::of(pool);
    let mut first = Line::of("runtime")
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
        .raw("stalled_ns", metrics.stalled.as_nanos())
        .raw("stall_delays_ms", delays(&metrics.stall_delays))
        .raw("stacks", stacks.stacks)
        .raw("stack_size", stacks.size)
        .raw("stack_touched", stacks.touched)
        .numbers("counters", named(&metrics.total));
    if let Some(size) = stacks.suggested_size() {
        first = first.raw("stack_size_suggested", size);
    }
    first.end(out)?;
    // The client sees at once that it is served, before the rest is ready.
    out.flush()?;
    let mut flushed = shim::now();
    // Without the turn the time is up, and all fibers are left out.
    let _turn = report::begin_walk(pool, until);
    let is_over = || shim::now() >= until || pool.is_end_reported();
    let (question, frames) = (Question::Piece, 0);
    let walk = report::walk(pool, question, most, frames, &is_over, &mut |fiber| {
        describe(&fiber).end(out)?;
        if shim::now().saturating_duration_since(flushed) > FLUSH {
            out.flush()?;
            flushed = shim::now();
        }
        Ok(())
    })?;
    for glance in &glances {
        let walked = walk.workers.iter().find(|it| it.worker == glance.worker);
        let counters = metrics.workers.get(glance.worker);
        worker(glance, walked, counters.map(|worker| &worker.counters), out)?;
    }
    for (state, reason, fibers) in walk.tally.iter() {
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
    for line in pool.spawn_lines() {
        Line::of("spawn_line")
            .text("spawned_at", &line.location.to_string())
            .text("class", &line.class.to_string())
            .raw("live", line.live)
            .raw("placed", line.placed)
            .raw("held", line.held)
            .end(out)?;
    }
    let left_out: usize = walk.workers.iter().map(|it| it.left_out).sum();
    let mut end = Line::of("end").raw("complete", left_out == 0);
    if left_out > 0 {
        end = end.raw("left_out", left_out);
    }
    end.end(out)
}

/// Formats pairs of a bucket's bound in milliseconds, null for the last, and its count; omits empty
/// buckets.
fn delays(delays: &[(Duration, u64)]) -> String {
    let filled = delays.iter().filter(|(_, stalls)| *stalls > 0);
    let pairs = filled.map(|(bound, stalls)| match *bound {
        Duration::MAX => format!("[null,{stalls}]"),
        bound => format!("[{},{stalls}]", bound.as_millis()),
    });
    format!("[{}]", pairs.collect::<Vec<_>>().join(","))
}

fn worker(
    glance: &WorkerGlance,
    walked: Option<&Walked>,
    counters: Option<&Counters>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let state = match glance.thread {
        ThreadState::Gone => "gone",
        ThreadState::Awake => "awake",
        ThreadState::Asleep => "asleep",
        ThreadState::Timed => "timed",
    };
    let there = walked.filter(|_| glance.thread != ThreadState::Gone);
    let mut line = Line::of("worker")
        .raw("worker", glance.worker)
        .text("state", state)
        .raw("member", glance.member)
        .raw("answered", there.is_some_and(|walked| walked.answered))
        .raw("started", glance.started)
        .raw("ready", walked.map_or(0, |walked| walked.ready))
        .raw("fresh", glance.fresh);
    if let Some(walked) = walked {
        line = line.raw("described", walked.described);
        if let Some(why) = walked.why {
            line = line
                .raw("left_out", walked.left_out)
                .text("left_out_why", left_out_name(why));
        }
        if let Some(silent) = walked.silent {
            line = line.raw("age_ns", silent.as_nanos());
        }
    }
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

fn left_out_name(why: LeftOut) -> &'static str {
    match why {
        LeftOut::Limit => "limit",
        LeftOut::Busy => "busy",
        LeftOut::Late => "late",
    }
}

fn fiber(pool: &Arc<Pool>, id: u64, out: &mut dyn Write) -> io::Result<()> {
    let until = shim::now() + SEARCH;
    let is_over = || shim::now() >= until || pool.is_end_reported();
    let _turn = report::begin_walk(pool, until);
    let mut found = None;
    let question = Question::Fiber(id);
    let _ = report::walk(pool, question, usize::MAX, 1, &is_over, &mut |fiber| {
        if fiber.id.number() != id {
            return Ok(());
        }
        found = Some(fiber);
        // Ends the walk.
        Err(io::ErrorKind::Other.into())
    });
    let Some(fiber) = found else {
        let said = format!("no fiber {id}, or its worker does not answer");
        return refuse(Why::Fiber, &said, out);
    };
    describe(&fiber).texts("frames", &fiber.frames()).end(out)?;
    Line::of("end").end(out)
}

/// Answers with a refusal.
pub(super) fn refuse(why: Why, said: &str, out: &mut dyn Write) -> io::Result<()> {
    let why = match why {
        Why::Refused => "refused",
        Why::Request => "request",
        Why::Fiber => "fiber",
    };
    let line = Line::of("error").text("why", why);
    line.text("message", said).end(out)
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
    if fiber.stack_touched > 0 {
        line = line.raw("stack_touched", fiber.stack_touched);
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

/// Returns all counters by name.
fn named(counters: &Counters) -> Vec<(&'static str, u64)> {
    let mut all = Vec::new();
    counters.each(|name, _, value| all.push((name, value)));
    all
}
