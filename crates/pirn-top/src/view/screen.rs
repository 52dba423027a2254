//! The screen: the head, a page, a line of keys; help over it.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style, Stylize};
use ratatui::text::{Line, Span};

use super::{decisions, detail, fibers, head, help, workers};
use crate::model::{App, Page};

/// Draws everything.
pub fn draw(frame: &mut Frame<'_>, app: &App) {
    let [top, middle, bottom] = parts(frame.area());
    head::draw(frame, top, app);
    match (&app.detail, app.page) {
        (Some(looked_at), _) => detail::draw(frame, middle, looked_at),
        (None, Page::Fibers) => {
            let [workers, table] = split(middle, app);
            workers::draw_short(frame, workers, app);
            fibers::draw(frame, table, app);
        }
        (None, Page::Workers) => workers::draw_counters(frame, middle, app),
        (None, Page::Decisions) => decisions::draw(frame, middle, app),
    }
    draw_bottom(frame, bottom, app);
    if app.help {
        help::draw(frame, frame.area());
    }
}

/// Returns the rows of the fibers' table on a screen of this size.
#[must_use]
pub fn table_rows(screen: Rect, app: &App) -> usize {
    let [_, middle, _] = parts(screen);
    let [_, table] = split(middle, app);
    // The line above it, and the heads of the columns.
    usize::from(table.height.saturating_sub(2))
}

fn parts(screen: Rect) -> [Rect; 3] {
    Layout::vertical([
        Constraint::Length(head::ROWS),
        Constraint::Min(0),
        Constraint::Length(1),
    ])
    .areas(screen)
}

/// Workers have a third of the page at most.
fn split(page: Rect, app: &App) -> [Rect; 2] {
    let workers = app.last.as_ref().map_or(0, |last| last.workers.len());
    let rows = u16::try_from(workers + 1).unwrap_or(u16::MAX);
    let rows = rows.min((page.height / 3).max(2));
    Layout::vertical([Constraint::Length(rows), Constraint::Min(0)]).areas(page)
}

fn draw_bottom(frame: &mut Frame<'_>, area: Rect, app: &App) {
    let line = if let Some(typing) = &app.typing {
        let hint = "  Enter keeps, Esc forgets; state:parked reason:recv worker:0 name:x";
        Line::from(vec![
            Span::raw("/").bold(),
            Span::raw(typing.clone()),
            Span::raw("_").slow_blink(),
            Span::raw(hint).dim(),
        ])
    } else if let Some(why) = &app.ended {
        let said = format!(" {why}; this is the last picture. q ends. ");
        Line::styled(said, Style::new().fg(Color::White).bg(Color::Red))
    } else if let Some(why) = &app.silent {
        let said = format!(" {why}; asking again. q ends. ");
        Line::styled(said, Style::new().fg(Color::Black).bg(Color::Yellow))
    } else if app.detail.is_some() {
        Line::from(" Esc back  ↑↓ scroll  p pause  ? keys  q quit").dim()
    } else {
        let keys = " 1 fibers 2 workers 3 decisions  ↑↓ Enter  ←→ order  / filter  p pause  \
                    ? keys  q quit";
        Line::from(keys).dim()
    };
    frame.render_widget(line, area);
}
