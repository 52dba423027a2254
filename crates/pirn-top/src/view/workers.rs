//! Workers: a line each, or all of their counters.

use ratatui::Frame;
use ratatui::layout::{Constraint, Rect};
use ratatui::style::{Color, Style};
use ratatui::widgets::{Cell, Row, Table};

use super::words::{count, tail, time};
use crate::model::App;
use crate::wire::Worker;

/// Columns of the running fiber's spawn line, which gets the rest.
const OTHERS: u16 = 52;

/// Draws a line for each, as many as fit.
pub(super) fn draw_short(frame: &mut Frame<'_>, area: Rect, app: &App) {
    let workers = app.last.as_ref().map_or(&[][..], |last| &last.workers);
    let room = usize::from(area.height.saturating_sub(1));
    let mut shown: Vec<&Worker> = workers.iter().collect();
    if shown.len() > room {
        // The workers with notes.
        shown.retain(|worker| &*worker.state != "gone");
        shown.sort_by_key(|worker| {
            (worker.ready == 0, &*worker.state != "awake", worker.worker)
        });
        shown.truncate(room);
        shown.sort_by_key(|worker| worker.worker);
    }
    let place = usize::from(area.width.saturating_sub(OTHERS));
    let rows = shown.into_iter().map(|worker| short(worker, place));
    let hidden = workers.len().saturating_sub(room);
    let last = match hidden {
        0 => "RUNS".to_owned(),
        hidden => format!("RUNS ({hidden} more workers: 2)"),
    };
    let heads = ["W", "STATE", "FIBERS", "READY", "FRESH", "STOLEN"].map(str::to_owned);
    let head = Row::new(heads.into_iter().chain([last]));
    let widths = [3, 8, 9, 7, 7, 10].map(Constraint::Length);
    let widths = widths.into_iter().chain([Constraint::Min(0)]);
    let table =
        Table::new(rows, widths).header(head.style(Style::new().bold().reversed()));
    frame.render_widget(table, area);
}

fn short(worker: &Worker, place: usize) -> Row<'static> {
    let stolen = worker.counters.get("stolen").copied().unwrap_or(0);
    // The age of the data of a worker that has not answered.
    let age = worker.age_ns.map(|age| format!("for {}: ", time(age)));
    let age = age.unwrap_or_default();
    let runs = match (&worker.running, &worker.running_spawned_at) {
        (Some(id), Some(at)) => age + &tail(&format!("{id} {at}"), place),
        _ => String::new(),
    };
    let number = match worker.member {
        true => worker.worker.to_string(),
        // It is a standby worker.
        false => format!("{}+", worker.worker),
    };
    Row::new([
        Cell::new(number),
        Cell::new(state(worker)).style(style(worker)),
        Cell::new(count(worker.started)),
        Cell::new(count(worker.ready)),
        Cell::new(count(worker.fresh)),
        Cell::new(count(stolen)),
        Cell::new(runs),
    ])
}

/// `busy` marks a worker that has not answered.
fn state(worker: &Worker) -> String {
    match worker.is_silent() {
        true => "busy".to_owned(),
        false => worker.state.to_string(),
    }
}

fn style(worker: &Worker) -> Style {
    if worker.is_silent() {
        return Style::new().fg(Color::Yellow);
    }
    match &*worker.state {
        "awake" => Style::new().fg(Color::Green),
        "gone" => Style::new().dim(),
        _ => Style::new(),
    }
}

/// Draws every counter of every worker: a column for each worker.
pub(super) fn draw_counters(frame: &mut Frame<'_>, area: Rect, app: &App) {
    let Some(last) = &app.last else {
        return;
    };
    const NAME: u16 = 18;
    const NUMBER: u16 = 14;
    let room = usize::from(area.width.saturating_sub(NAME + NUMBER) / NUMBER);
    let there = || {
        last.workers
            .iter()
            .filter(|worker| &*worker.state != "gone")
    };
    let shown: Vec<&Worker> = there().take(room).collect();
    let hidden = there().count() - shown.len();
    let total = last.runtime.as_ref().map(|runtime| &runtime.counters);
    let mut heads = vec![
        match hidden {
            0 => "COUNTER".to_owned(),
            hidden => format!("COUNTER (+{hidden} w)"),
        },
        format!("{:>13}", "ALL"),
    ];
    heads.extend(shown.iter().map(|worker| format!("{:>13}", worker.worker)));
    let rows = total.into_iter().flatten().map(|(name, total)| {
        let own = |worker: &&Worker| worker.counters.get(name).copied().unwrap_or(0);
        let numbers = [*total].into_iter().chain(shown.iter().map(own));
        let cells = numbers.map(|number| format!("{:>13}", count(number)));
        Row::new([name.to_string()].into_iter().chain(cells))
    });
    let widths = [Constraint::Length(NAME)];
    let numbers = (0..=shown.len()).map(|_| Constraint::Length(NUMBER - 1));
    let table = Table::new(rows, widths.into_iter().chain(numbers))
        .header(Row::new(heads).style(Style::new().bold().reversed()));
    frame.render_widget(table, area);
}
