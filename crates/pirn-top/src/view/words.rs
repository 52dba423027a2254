//! Formats numbers and source locations for columns.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::model::Column;
use crate::wire::{Fiber, FiberState, Runtime, Text};

/// Formats a time, with two or three digits: `812ns`, `4.2ms`, `59s`, `3m05s`, `2h07m`, `4d03h`.
#[must_use]
pub fn time(nanos: u64) -> String {
    let seconds = nanos / 1_000_000_000;
    match seconds {
        0 => small(nanos),
        1..10 => format!("{:.1}s", nanos as f64 / 1e9),
        10..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{}h{:02}m", seconds / 3_600, seconds / 60 % 60),
        _ => format!("{}d{:02}h", seconds / 86_400, seconds / 3_600 % 24),
    }
}

fn small(nanos: u64) -> String {
    let (value, unit) = match nanos {
        0..1_000 => return format!("{nanos}ns"),
        1_000..1_000_000 => (nanos as f64 / 1e3, "us"),
        _ => (nanos as f64 / 1e6, "ms"),
    };
    match value {
        0.0..9.95 => format!("{value:.1}{unit}"),
        // Below a thousand of the unit.
        _ => format!("{:.0}{unit}", value.min(999.0)),
    }
}

/// Formats a number of bytes: `812`, `4.2K`, `256K`, `3.0M`.
#[must_use]
pub fn bytes(bytes: u64) -> String {
    let mut value = bytes as f64;
    let mut unit = "";
    for next in ["K", "M", "G", "T"] {
        if value < 1_000.0 {
            break;
        }
        value /= 1_024.0;
        unit = next;
    }
    match unit {
        "" => format!("{bytes}"),
        _ if value < 9.95 => format!("{value:.1}{unit}"),
        _ => format!("{value:.0}{unit}"),
    }
}

/// Formats a number with separators of thousands: `1,234,567`.
#[must_use]
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns the beginning of a text, in `columns` columns, with `…` for the omitted part.
#[must_use]
pub fn front(text: &str, columns: usize) -> String {
    let end = fitting(text.chars(), columns);
    match columns {
        _ if text.width() <= columns => text.to_owned(),
        0 => String::new(),
        _ => format!("{}…", &text[..end]),
    }
}

/// Returns the end of a text, in `columns` columns, with `…` for the omitted part: the end of a
/// path is more informative.
#[must_use]
pub fn tail(text: &str, columns: usize) -> String {
    let start = text.len() - fitting(text.chars().rev(), columns);
    match columns {
        _ if text.width() <= columns => text.to_owned(),
        0 => String::new(),
        _ => format!("…{}", &text[start..]),
    }
}

/// Returns the number of bytes of the first characters that fit beside `…`. Each is measured once,
/// by itself, since a text may have any length.
fn fitting(chars: impl Iterator<Item = char>, columns: usize) -> usize {
    let mut taken = 1;
    let fit = chars.take_while(|c| {
        taken += c.width().unwrap_or(0);
        taken <= columns
    });
    fit.map(char::len_utf8).sum()
}

/// Returns the text of a column for a fiber.
#[must_use]
pub fn cell(fiber: &Fiber, column: Column) -> String {
    let text = |text: &Option<Text>| text.as_deref().unwrap_or_default().to_owned();
    match column {
        Column::Id => fiber.id.to_string(),
        Column::Name => text(&fiber.name),
        Column::State => fiber.state.name().to_owned(),
        Column::Reason => text(&fiber.reason),
        Column::Age if fiber.state == FiberState::Parked => time(fiber.waited_ns),
        Column::Age => String::new(),
        Column::Worker => fiber.worker.to_string(),
        Column::Stack => stack(fiber),
        Column::Object => text(&fiber.object),
        Column::WaitsAt => text(&fiber.waits_at),
        Column::SpawnedAt => fiber.spawned_at.to_string(),
    }
}

/// Returns the stack in use and its size.
#[must_use]
pub fn stack(fiber: &Fiber) -> String {
    match (fiber.stack_used, fiber.stack_size) {
        (Some(used), Some(size)) => format!("{}/{}", bytes(used), bytes(size)),
        _ => String::new(),
    }
}

/// Returns the deepest use of a stack of the runtime, if known, with the advice on `stack_size`.
#[must_use]
pub fn stack_use(runtime: &Runtime) -> Option<String> {
    let touched = runtime.stack_touched.filter(|touched| *touched > 0)?;
    let size = runtime.stack_size?;
    let advice = match runtime.stack_size_suggested {
        None => String::new(),
        Some(more) if more > size => format!(": raise to {}", bytes(more)),
        Some(less) => format!(": {} would do", bytes(less)),
    };
    let (touched, size) = (bytes(touched), bytes(size));
    Some(format!("deepest stack {touched}/{size}{advice}"))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn numbers_fit_their_columns() {
        let times = [
            (0, "0ns"),
            (999, "999ns"),
            (4_200, "4.2us"),
            (9_960, "10us"),
            (999_999, "999us"),
            (50_000_000, "50ms"),
            (999_999_999, "999ms"),
            (1_500_000_000, "1.5s"),
            (59_900_000_000, "59s"),
            (185_000_000_000, "3m05s"),
            (7_620_000_000_000, "2h07m"),
            (356_400_000_000_000, "4d03h"),
        ];
        for (nanos, text) in times {
            assert_eq!(time(nanos), text);
        }
        assert!(time(u64::MAX).len() < 12);
        let sizes = [(0, "0"), (999, "999"), (4_300, "4.2K"), (262_144, "256K")];
        for (n, text) in sizes {
            assert_eq!(bytes(n), text);
        }
        assert_eq!(bytes(3 << 20), "3.0M");
        assert_eq!(bytes(u64::MAX), "16777216T");
        let counts = [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (12_345_678, "12,345,678"),
        ];
        for (n, text) in counts {
            assert_eq!(count(n), text);
        }
    }

    #[test]
    fn tails_have_as_many_columns_as_asked_for() {
        assert_eq!(tail("src/main.rs:10:5", 16), "src/main.rs:10:5");
        assert_eq!(tail("src/main.rs:10:5", 10), "…n.rs:10:5");
        assert_eq!(tail("纤程纤程", 8), "纤程纤程");
        assert_eq!(tail("纤程纤程", 6), "…纤程");
        assert_eq!(tail("纤程", 1), "…");
        assert_eq!(tail("纤程", 0), "");
    }

    #[test]
    fn fronts_have_as_many_columns_as_asked_for() {
        assert_eq!(front("acceptor", 8), "acceptor");
        assert_eq!(front("acceptor", 5), "acce…");
        assert_eq!(front("e\u{301}e\u{301}e\u{301}", 2), "e\u{301}…");
        assert_eq!(front("纤程纤程", 8), "纤程纤程");
        assert_eq!(front("纤程纤程", 6), "纤程…");
        assert_eq!(front("纤程", 1), "…");
        assert_eq!(front("纤程", 0), "");
    }

    /// The time for a text grows with its length, not with the square of it.
    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "measures the time of this machine"
    )]
    fn the_longest_texts_are_cut_soon() {
        let marks = "\u{301}".repeat(400_000);
        let text = format!("{}{marks}", "纤程".repeat(100));
        let start = Instant::now();
        assert!(tail(&text, 6) == format!("…纤程{marks}"));
        assert_eq!(front(&text, 6), "纤程…");
        let took = start.elapsed();
        assert!(took < Duration::from_secs(30), "{took:?}");
    }
}
