//! `--once` and `--fiber`: one answer as plain text, for scripts and output without a terminal.

use std::io::{self, BufWriter, Write};

use unicode_width::UnicodeWidthStr;

use super::args::Args;
use crate::model::{App, Column};
use crate::view::words::{cell, count, front, stack_use, tail, time};
use crate::wire::{Failure, Fiber, Worker, ask_fiber, ask_snapshot};

/// Maximum width of a text in the table, so that one does not widen the column of all fibers.
/// Arbitrary; `--fiber` prints the whole text.
const WIDEST: usize = 200;

/// Sends one request, and prints the answer.
///
/// # Errors
/// The reason why there is no answer, or why it cannot be printed.
pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    if let Some(id) = args.fiber {
        let fiber = ask_fiber(&args.socket, &id.to_string())?;
        print_fiber(&mut out, &fiber).map_err(Failure::System)?;
    } else {
        let mut app = App::new(&args.socket.display().to_string());
        app.order = args.order;
        app.filter = args.filter.clone();
        app.take_snapshot(Ok(ask_snapshot(&args.socket, args.most)?));
        print(&mut out, &app).map_err(Failure::System)?;
    }
    out.flush().map_err(Failure::System)
}

/// Writes the contents of `app`.
///
/// # Errors
/// Those of `out`.
pub fn print(out: &mut dyn Write, app: &App) -> io::Result<()> {
    let Some(last) = &app.last else {
        return Ok(());
    };
    if let Some(runtime) = &last.runtime {
        writeln!(
            out,
            "runtime '{}' of process {}, up {}",
            runtime.name,
            runtime.pid,
            time(runtime.uptime_ns)
        )?;
        let numbers = [
            ("workers", runtime.workers),
            ("started", last.counted()),
            ("listed", last.fibers.len() as u64),
            ("left_out", last.left_out()),
            ("pressure", runtime.pressure),
            ("injected", runtime.injected),
            ("waiting_for_stack", runtime.waiting_for_stack),
            ("slow_fibers", runtime.slow_fibers),
        ];
        for (name, number) in numbers {
            writeln!(out, "  {name:<20}{number:>12}")?;
        }
        if let Some(stacks) = stack_use(runtime) {
            writeln!(out, "{stacks}")?;
        }
        if !runtime.stall_delays_ms.is_empty() {
            writeln!(out, "stalls, {} together", time(runtime.stalled_ns))?;
            for (bound, stalls) in &runtime.stall_delays_ms {
                let bound = bound.map_or("longer".to_owned(), |bound| {
                    format!("up to {}", time(bound.saturating_mul(1_000_000)))
                });
                writeln!(out, "  {bound:<20}{stalls:>12}")?;
            }
        }
        writeln!(out, "counters")?;
        for (name, number) in &runtime.counters {
            writeln!(out, "  {name:<20}{number:>12}")?;
        }
    }
    writeln!(out, "tallies")?;
    for tally in &last.tallies {
        let reason = tally.reason.as_deref().unwrap_or("-");
        let state = tally.state.name();
        writeln!(out, "  {state:<8} {reason:<11}{:>12}", tally.fibers)?;
    }
    writeln!(out, "decisions")?;
    for decision in &last.scale {
        writeln!(out, "  {:<20}{:>12}", decision.reason, decision.times)?;
    }
    if !last.spawn_lines.is_empty() {
        writeln!(out, "spawn lines")?;
    }
    for line in &last.spawn_lines {
        writeln!(
            out,
            "  {:<9} {} live, {} placed, {} held, {}",
            line.class,
            count(line.live),
            count(line.placed),
            count(line.held),
            line.spawned_at,
        )?;
    }
    writeln!(out, "workers")?;
    for worker in &last.workers {
        let runs = worker.running.as_deref().unwrap_or("-");
        writeln!(
            out,
            "  {:>4} {:<7} {} fibers, {} ready, {} fresh, runs {runs}{}{}",
            worker.worker,
            worker.state,
            count(worker.started),
            count(worker.ready),
            count(worker.fresh),
            silence(worker),
            left_out(worker),
        )?;
    }
    print_table(out, app)
}

/// Returns the note on a worker that has not answered: the age of its data.
fn silence(worker: &Worker) -> String {
    match (worker.is_silent(), worker.age_ns) {
        (false, _) => String::new(),
        (true, None) => ", does not answer".to_owned(),
        (true, Some(age)) => format!(" for {}, does not answer", time(age)),
    }
}

/// Returns the note on a worker with omitted fibers, with the reason.
fn left_out(worker: &Worker) -> String {
    let why = worker.left_out_why.as_deref();
    let why = why.map(|why| match why {
        "limit" => "more than --most",
        "busy" => "it does not answer",
        "late" => "the answer took too long",
        other => other,
    });
    why.map_or(String::new(), |why| {
        format!(", {} left out: {why}", count(worker.left_out))
    })
}

/// Writes the fibers that are shown, in order, in columns of the necessary width.
fn print_table(out: &mut dyn Write, app: &App) -> io::Result<()> {
    writeln!(out, "fibers")?;
    let mut rows = vec![Column::ALL.map(|column| column.title().to_owned())];
    rows.extend(
        app.rows()
            .map(|fiber| Column::ALL.map(|column| shown(fiber, column))),
    );
    let width = |at: usize| rows.iter().map(|row| row[at].width()).max();
    let widths: Vec<usize> = (0..Column::ALL.len()).filter_map(width).collect();
    for row in &rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let rest = width - cell.width();
            line.push_str(&format!("  {cell}{:rest$}", ""));
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Returns the text of a column, in [`WIDEST`] columns.
fn shown(fiber: &Fiber, column: Column) -> String {
    let text = cell(fiber, column);
    match column {
        _ if text.is_empty() => "-".to_owned(),
        Column::WaitsAt | Column::SpawnedAt => tail(&text, WIDEST),
        _ => front(&text, WIDEST),
    }
}

fn print_fiber(out: &mut dyn Write, fiber: &Fiber) -> io::Result<()> {
    crate::view::describe(fiber)
        .iter()
        .try_for_each(|line| writeln!(out, "{line}"))
}
