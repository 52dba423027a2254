//! The state of the program: the last answers, and how they are looked at.

use super::filter::Filter;
use super::order::{Column, Order};
use crate::wire::{Failure, Fiber, Silence, Snapshot};

/// The state of the program.
#[derive(Debug)]
pub struct App {
    /// Where the answers come from, to be shown.
    pub source: String,
    /// The last answer.
    pub last: Option<Snapshot>,
    /// The one before it, for rates.
    pub before: Option<Snapshot>,
    /// What is shown.
    pub page: Page,
    /// In which order.
    pub order: Order,
    /// Which of them.
    pub filter: Filter,
    /// The filter that is being typed.
    pub typing: Option<String>,
    /// The fiber that the cursor is on, by its number.
    pub selected: Option<String>,
    /// The fiber that is looked at closely.
    pub detail: Option<Detail>,
    /// The keys are shown.
    pub help: bool,
    /// No further answers are wanted.
    pub paused: bool,
    /// The last question has had no answer; the next one may.
    pub silent: Option<Silence>,
    /// There will be no further answers, and why.
    pub ended: Option<Failure>,
    /// Rows of the fibers' table, as the screen has them: how far a page goes.
    pub page_rows: usize,
    /// Indices of the fibers in `last` that are shown, in order.
    rows: Vec<usize>,
}

/// What is shown below the head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Page {
    /// Workers in short, and fibers.
    Fibers,
    /// Workers with their counters.
    Workers,
    /// Decisions about the number of threads.
    Decisions,
}

/// One fiber, looked at closely.
#[derive(Debug, Default)]
pub struct Detail {
    /// Which one.
    pub id: String,
    /// What was answered.
    pub fiber: Option<Fiber>,
    /// Why there was no answer.
    pub said: Option<String>,
    /// Lines that are above the screen.
    pub scroll: u16,
}

impl App {
    /// Nothing has been answered yet.
    #[must_use]
    pub fn new(source: &str) -> App {
        App {
            source: source.to_owned(),
            last: None,
            before: None,
            page: Page::Fibers,
            order: Order::by(Column::Age),
            filter: Filter::default(),
            typing: None,
            selected: None,
            detail: None,
            help: false,
            paused: false,
            silent: None,
            ended: None,
            page_rows: 10,
            rows: Vec::new(),
        }
    }

    /// Takes in an answer about everything. If there is none, or no more, the last picture stays.
    pub fn take_snapshot(&mut self, answer: Result<Snapshot, Failure>) {
        match answer {
            Ok(snapshot) => {
                self.before = self.last.replace(snapshot);
                self.silent = None;
                self.arrange();
            }
            Err(Failure::Silent(silence)) => self.silent = Some(silence),
            Err(failure) => self.ended = Some(failure),
        }
    }

    /// Takes in an answer about the fiber `id`.
    pub fn take_fiber(&mut self, id: &str, answer: Result<Fiber, Failure>) {
        let Some(detail) = self.detail.as_mut().filter(|detail| detail.id == id) else {
            return;
        };
        match answer {
            Ok(fiber) => {
                detail.fiber = Some(fiber);
                detail.said = None;
            }
            Err(failure) => detail.said = Some(failure.to_string()),
        }
    }

    /// The fibers that are shown, in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &Fiber> {
        let fibers = self.last.as_ref().map_or(&[][..], |last| &last.fibers);
        self.rows.iter().map(|row| &fibers[*row])
    }

    /// The row that the cursor is on.
    #[must_use]
    pub fn cursor(&self) -> Option<usize> {
        let selected = self.selected.as_deref()?;
        self.rows().position(|fiber| &*fiber.id == selected)
    }

    /// Moves the cursor by so many rows, as far as there are some. Without one it comes from
    /// above, or from below.
    pub fn move_cursor(&mut self, by: isize) {
        let Some(last) = self.rows.len().checked_sub(1) else {
            return;
        };
        let row = match self.cursor() {
            Some(row) => row.saturating_add_signed(by).min(last),
            None if by > 0 => by.unsigned_abs().saturating_sub(1).min(last),
            None => self.rows.len().saturating_add_signed(by).min(last),
        };
        let selected = self.rows().nth(row).map(|fiber| fiber.id.to_string());
        self.selected = selected;
    }

    /// Finds the rows anew, after fibers, filter or order have changed.
    pub fn arrange(&mut self) {
        let fibers = self.last.as_ref().map_or(&[][..], |last| &last.fibers);
        let filter = match &self.typing {
            Some(typing) => Filter::new(typing),
            None => self.filter.clone(),
        };
        let order = self.order;
        let mut rows: Vec<usize> = (0..fibers.len()).collect();
        rows.retain(|row| filter.admits(&fibers[*row]));
        rows.sort_by(|a, b| order.compare(&fibers[*a], &fibers[*b]));
        self.rows = rows;
    }
}
