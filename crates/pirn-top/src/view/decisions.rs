//! Decisions about the number of threads.

use ratatui::Frame;
use ratatui::layout::{Constraint, Rect};
use ratatui::style::Style;
use ratatui::widgets::{Row, Table};

use super::words::count;
use crate::model::App;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, app: &App) {
    let scale = app.last.as_ref().map_or(&[][..], |last| &last.scale);
    let before = app.before.as_ref();
    let rows = scale.iter().map(|decision| {
        let before = before.and_then(|before| {
            before.scale.iter().find(|it| it.reason == decision.reason)
        });
        let since = before.map_or(0, |it| decision.times.saturating_sub(it.times));
        let lately = match since {
            0 => String::new(),
            since => format!("+{}", count(since)),
        };
        let times = count(decision.times);
        Row::new([
            decision.reason.to_string(),
            format!("{times:>12}"),
            format!("{lately:>12}"),
            meaning(&decision.reason).to_owned(),
        ])
    });
    let widths = [14, 12, 12].map(Constraint::Length);
    let widths = widths.into_iter().chain([Constraint::Min(0)]);
    let heads = ["DECISION", "       TIMES", "      LATELY", "MEANS"];
    let table = Table::new(rows, widths)
        .header(Row::new(heads).style(Style::new().bold().reversed()));
    frame.render_widget(table, area);
}

/// Returns the description of the `pirn::diag::ScaleReason`.
fn meaning(reason: &str) -> &'static str {
    match reason {
        "no_work" => "unchanged: no fiber waits to be started",
        "nonpositive" => "unchanged: what waited has been started",
        "young" => "unchanged: what waits has not waited for long",
        "idle_capacity" => "unchanged: a worker slept, and was woken",
        "not_stuck" => "unchanged: no worker is stuck",
        "at_limit" => "unchanged: as many threads as there may be",
        "no_thread" => "unchanged: the system had no thread",
        "started" => "one more: a thread was started",
        "recalled" => "one more: a thread was called back",
        "sent_away" => "one less: enough others make progress",
        "retired" => "one less: a thread had no fibers",
        _ => "",
    }
}
