//! The fibers' table.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style, Stylize};
use ratatui::text::Line;
use ratatui::widgets::{Cell, Row, Table, TableState};

use super::words::{cell, count, stack_use, tail};
use crate::model::{App, Column};
use crate::wire::{Fiber, FiberState};

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, app: &App) {
    let [line, table] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(area);
    frame.render_widget(summary(app), line);
    let widths = widths(area.width);
    let rows = usize::from(table.height.saturating_sub(1));
    let (first, cursor) = window(app, rows);
    let shown = app.rows().skip(first).take(rows);
    let shown = shown.map(|fiber| row(fiber, &widths));
    let heads = widths.iter().map(|(column, _)| head(app, *column));
    let constraints = widths.iter().map(|(_, width)| Constraint::Length(*width));
    let drawn = Table::new(shown, constraints)
        .header(Row::new(heads).style(Style::new().bold().reversed()))
        .row_highlight_style(Style::new().bg(Color::Blue).fg(Color::White));
    let mut state = TableState::new().with_selected(cursor);
    frame.render_stateful_widget(drawn, table, &mut state);
}

/// Returns the first row shown, and the position of the cursor among the rows shown.
fn window(app: &App, rows: usize) -> (usize, Option<usize>) {
    let cursor = app.cursor();
    let at = cursor.unwrap_or(0);
    // The cursor is in the middle, except at the beginning and end of the table.
    let last = app.rows().len().saturating_sub(rows);
    let first = at.saturating_sub(rows / 2).min(last);
    (first, cursor.map(|cursor| cursor - first))
}

/// The title: number of fibers, filter, and use of stacks.
fn summary(app: &App) -> Line<'static> {
    let listed = app.last.as_ref().map_or(0, |last| last.fibers.len());
    let counted = app.last.as_ref().map_or(0, |last| last.counted());
    let mut text = format!("{} fibers", count(app.rows().len() as u64));
    if app.rows().len() < listed {
        text.push_str(&format!(" of {}", count(listed as u64)));
    }
    if (listed as u64) < counted {
        text.push_str(&format!(
            " ({} are not listed)",
            count(counted - listed as u64)
        ));
    }
    if !app.filter.text().is_empty() && app.typing.is_none() {
        text.push_str(&format!(", filter '{}'", app.filter.text()));
    }
    let runtime = app.last.as_ref().and_then(|last| last.runtime.as_ref());
    if let Some(stacks) = runtime.and_then(stack_use) {
        text.push_str(&format!(", {stacks}"));
    }
    Line::from(text).bold()
}

/// Returns the columns that fit, with their widths.
fn widths(columns: u16) -> Vec<(Column, u16)> {
    let fixed = |column| match column {
        Column::Id => 13,
        Column::Name => 16,
        Column::State => 7,
        Column::Reason => 9,
        Column::Age => 6,
        Column::Worker => 3,
        Column::Stack => 11,
        Column::Object | Column::WaitsAt | Column::SpawnedAt => 0,
    };
    let mut widths: Vec<(Column, u16)> =
        Column::ALL.iter().map(|it| (*it, fixed(*it))).collect();
    // Columns that a narrow screen omits, the least important first.
    for least in [Column::SpawnedAt, Column::Stack, Column::WaitsAt] {
        let taken: u16 = widths.iter().map(|(_, width)| width + 1).sum();
        let texts = widths.iter().filter(|(_, width)| *width == 0).count() as u16;
        if taken + texts * TEXT <= columns {
            break;
        }
        widths.retain(|(column, _)| *column != least);
    }
    let taken: u16 = widths.iter().map(|(_, width)| width + 1).sum();
    let texts = widths.iter().filter(|(_, width)| *width == 0).count() as u16;
    let share = columns.saturating_sub(taken) / texts.max(1);
    for (_, width) in widths.iter_mut().filter(|(_, width)| *width == 0) {
        *width = share;
    }
    widths
}

/// Minimum width of a text without a fixed width.
const TEXT: u16 = 18;

fn head(app: &App, column: Column) -> String {
    let mark = match app.order.column == column {
        true if app.order.descending => "▼",
        true => "▲",
        false => "",
    };
    format!("{}{mark}", column.title())
}

fn row(fiber: &Fiber, widths: &[(Column, u16)]) -> Row<'static> {
    let cells = widths.iter().map(|(column, width)| {
        let text = cell(fiber, *column);
        let text = match column {
            Column::WaitsAt | Column::SpawnedAt => tail(&text, usize::from(*width)),
            _ => text,
        };
        let style = match (column, fiber.state) {
            (Column::State, FiberState::Running) => Style::new().fg(Color::Green),
            (Column::State, FiberState::Ready) => Style::new().fg(Color::Yellow),
            _ => Style::new(),
        };
        Cell::new(text).style(style)
    });
    Row::new(cells)
}
