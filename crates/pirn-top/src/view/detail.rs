//! One fiber, with its frames.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Stylize;
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Wrap};

use super::words::{bytes, stack, time};
use crate::model::Detail;
use crate::wire::{Fiber, FiberState, Text};

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, detail: &Detail) {
    let mut lines = Vec::new();
    match (&detail.fiber, &detail.said) {
        (Some(fiber), _) => lines.extend(describe(fiber).into_iter().map(Line::from)),
        (None, None) => lines.push(Line::from(format!("fiber {} …", detail.id))),
        (None, Some(_)) => {}
    }
    if let Some(said) = &detail.said {
        lines.push(Line::from(said.clone()).red());
    }
    if let Some(first) = lines.first_mut() {
        *first = std::mem::take(first).bold();
    }
    let text = Paragraph::new(lines)
        .wrap(Wrap { trim: false })
        .scroll((detail.scroll, 0));
    frame.render_widget(text, area);
}

/// Returns the lines about a fiber.
#[must_use]
pub fn describe(fiber: &Fiber) -> Vec<String> {
    let name = fiber.name.as_deref().unwrap_or("unnamed");
    let mut lines = vec![format!("fiber {} '{name}'", fiber.id)];
    let mut field = |title: &str, text: String| {
        if !text.is_empty() {
            lines.push(format!("  {title:<12}{text}"));
        }
    };
    let or_none = |text: &Option<Text>| text.as_deref().unwrap_or_default().to_owned();
    let state = match fiber.state {
        FiberState::Parked => {
            let limited = if fiber.limited {
                ", with a time limit"
            } else {
                ""
            };
            format!("parked for {}{limited}", time(fiber.waited_ns))
        }
        state => state.name().to_owned(),
    };
    field("state", state);
    field("reason", or_none(&fiber.reason));
    field("waits for", or_none(&fiber.object));
    field("waits at", or_none(&fiber.waits_at));
    field("spawned at", fiber.spawned_at.to_string());
    field("worker", fiber.worker.to_string());
    let touched = fiber.stack_touched.map(bytes);
    let touched = touched.map_or(String::new(), |it| format!(", {it} touched"));
    field("stack", stack(fiber) + &touched);
    if fiber.frames.is_empty() {
        field("frames", "none: see `FiberInfo::backtrace`".to_owned());
    } else {
        lines.push("  frames".to_owned());
        lines.extend(fiber.frames.iter().map(|frame| format!("    {frame}")));
    }
    lines
}
