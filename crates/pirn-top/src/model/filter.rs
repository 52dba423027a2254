//! The filter: a fiber is shown if it matches every word.
//!
//! | word | matches a fiber |
//! |---|---|
//! | `state:parked`, `reason:recv`, `worker:3`, `id:17` | with exactly that value |
//! | `name:clerk` | with `clerk` in its name |
//! | any other word | with the word in any of its columns |
//!
//! Case is ignored.

use crate::wire::{Fiber, Text};

/// A parsed filter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    text: String,
}

impl Filter {
    /// Parses a filter.
    #[must_use]
    pub fn new(text: &str) -> Filter {
        let text = text.trim().to_owned();
        Filter { text }
    }

    /// Returns the text of the filter.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns true if `fiber` is shown.
    #[must_use]
    pub fn admits(&self, fiber: &Fiber) -> bool {
        let mut words = self.text.split_whitespace();
        words.all(|word| admits(&word.to_lowercase(), fiber))
    }
}

fn admits(word: &str, fiber: &Fiber) -> bool {
    let text = |text: &Option<Text>| lower(text.as_deref().unwrap_or_default());
    match word.split_once(':') {
        Some(("state", state)) => fiber.state.name() == state,
        Some(("reason", reason)) => text(&fiber.reason) == reason,
        Some(("worker", worker)) => fiber.worker.to_string() == worker,
        Some(("id", id)) => &*fiber.id == id,
        Some(("name", name)) => text(&fiber.name).contains(name),
        _ => {
            let columns = [
                text(&fiber.name),
                text(&fiber.reason),
                text(&fiber.object),
                text(&fiber.waits_at),
                lower(&fiber.spawned_at),
                lower(&fiber.id),
            ];
            fiber.state.name().contains(word)
                || columns.iter().any(|column| column.contains(word))
        }
    }
}

fn lower(text: &str) -> String {
    text.to_lowercase()
}
