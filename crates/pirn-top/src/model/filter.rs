//! Which fibers are shown: those that every word of the filter is true of.
//!
//! | word | is true of a fiber |
//! |---|---|
//! | `state:parked`, `reason:recv`, `worker:3`, `id:17` | that has exactly that |
//! | `name:clerk` | whose name has it in it |
//! | anything else | that has it in any of its columns |
//!
//! Upper and lower case are the same.

use crate::wire::{Fiber, Text};

/// Which fibers are shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    text: String,
}

impl Filter {
    /// The filter that somebody has typed.
    #[must_use]
    pub fn new(text: &str) -> Filter {
        let text = text.trim().to_owned();
        Filter { text }
    }

    /// As it was typed.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether `fiber` is shown.
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
