//! The head: the runtime as a whole.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Stylize;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::words::{count, time};
use crate::model::App;
use crate::wire::{Runtime, Snapshot, sum};

/// Its height in rows.
pub(super) const ROWS: u16 = 4;

/// The counters shown as rates, with their labels.
const RATES: [(&str, &str); 6] = [
    ("spawned", "spawned"),
    ("completed", "ended"),
    ("dispatched", "runs"),
    ("fiber_wakes", "wakes"),
    ("stolen", "stolen"),
    ("parks", "sleeps"),
];

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, app: &App) {
    let lines = match &app.last {
        Some(last) => lines(app, last),
        None => vec![Line::from(format!("pirn-top: asks {} …", app.source))],
    };
    frame.render_widget(Paragraph::new(lines), area);
}

fn lines(app: &App, last: &Snapshot) -> Vec<Line<'static>> {
    let Some(runtime) = &last.runtime else {
        return Vec::new();
    };
    let threads = last.workers.iter().filter(|w| &*w.state != "gone").count();
    let mut title = vec![
        Span::raw("pirn-top ").bold(),
        Span::raw(runtime.name.to_string()).bold().cyan(),
        Span::raw(format!(
            " of process {}, up {}: {} workers, {threads} threads",
            runtime.pid,
            time(runtime.uptime_ns),
            runtime.workers,
        )),
    ];
    if app.ended.is_some() {
        title.push(Span::raw("  ENDED").bold().red());
    } else if app.silent.is_some() {
        title.push(Span::raw("  NO ANSWER").bold().yellow());
    } else if app.paused {
        title.push(Span::raw("  PAUSED").bold().yellow());
    }
    vec![
        Line::from(title),
        Line::from(fibers(last, runtime)),
        Line::from(tallies(last)),
        Line::from(rates(app.before.as_ref(), runtime)),
    ]
}

fn fibers(last: &Snapshot, runtime: &Runtime) -> String {
    let mut text = format!(
        "{} fibers started, {} fresh, {} in the injector",
        count(sum(last.workers.iter().map(|worker| worker.started))),
        count(runtime.pressure),
        count(runtime.injected),
    );
    let warnings = [
        (runtime.waiting_for_stack, "wait for a stack"),
        (runtime.slow_fibers, "stalls"),
    ];
    for (number, what) in warnings.into_iter().filter(|(number, _)| *number > 0) {
        text.push_str(&format!(", {} {what}", count(number)));
    }
    if let Some((bound, _)) = runtime.stall_delays_ms.last() {
        let up_to = |ms: u64| time(ms.saturating_mul(1_000_000));
        let bound = bound.map_or("longer".to_owned(), up_to);
        text.push_str(&format!(" of up to {bound}"));
    }
    let silent = last
        .workers
        .iter()
        .filter(|worker| worker.is_silent())
        .count();
    if silent > 0 {
        text.push_str(&format!(", {silent} busy"));
    }
    let left_out = last.left_out();
    if left_out > 0 {
        text.push_str(&format!(", {} not shown", count(left_out)));
    }
    text
}

/// The states and reasons of fibers, the most frequent first.
fn tallies(last: &Snapshot) -> String {
    let mut tallies: Vec<_> = last.tallies.iter().collect();
    tallies.sort_by(|a, b| {
        b.fibers
            .cmp(&a.fibers)
            .then_with(|| a.reason.cmp(&b.reason))
    });
    let named = tallies.into_iter().map(|tally| {
        let what = tally.reason.as_deref().unwrap_or(tally.state.name());
        format!("{} {what}", count(tally.fibers))
    });
    named.collect::<Vec<_>>().join(", ")
}

/// Returns the rate per second since the previous snapshot, else since the start.
fn rates(before: Option<&Snapshot>, now: &Runtime) -> String {
    let before = before.and_then(|before| before.runtime.as_ref());
    let before = before.filter(|before| before.uptime_ns < now.uptime_ns);
    let since = before.map_or(0, |before| before.uptime_ns);
    let seconds = (now.uptime_ns - since).max(1) as f64 / 1e9;
    let named = RATES.map(|(name, title)| {
        let of = |runtime: &Runtime| runtime.counters.get(name).copied().unwrap_or(0);
        let more = of(now).saturating_sub(before.map_or(0, of));
        format!("{} {title}", count((more as f64 / seconds).round() as u64))
    });
    format!("a second: {}", named.join(", "))
}
