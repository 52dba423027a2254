//! The state of the program: the last answers, and the settings of the view.

use super::filter::Filter;
use super::order::{Column, Order};
use crate::wire::{Failure, Fiber, Snapshot};

/// The state of the program.
#[derive(Debug)]
pub struct App {
    /// Name of the source of the answers, for display.
    pub source: String,
    /// The last answer.
    pub last: Option<Snapshot>,
    /// The one before it, for rates.
    pub before: Option<Snapshot>,
    /// The page shown.
    pub page: Page,
    /// The order of the fibers.
    pub order: Order,
    /// The filter of the fibers.
    pub filter: Filter,
    /// The filter that is being edited.
    pub typing: Option<String>,
    /// Id of the fiber under the cursor.
    pub selected: Option<String>,
    /// The fiber shown in detail.
    pub detail: Option<Detail>,
    /// The keys are shown.
    pub help: bool,
    /// Updates are paused.
    pub paused: bool,
    /// The last request failed; the next one may succeed.
    pub silent: Option<Failure>,
    /// The reason why there will be no further answers.
    pub ended: Option<Failure>,
    /// Rows of the fibers' table on the screen: the length of a page.
    pub page_rows: usize,
    /// Indices of the fibers in `last` that are shown, in order.
    rows: Vec<usize>,
}

/// The part below the head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Page {
    /// Workers in short, and fibers.
    Fibers,
    /// Workers with their counters.
    Workers,
    /// Decisions about the number of threads.
    Decisions,
}

/// One fiber in detail.
#[derive(Debug, Default)]
pub struct Detail {
    /// Its id.
    pub id: String,
    /// The answer.
    pub fiber: Option<Fiber>,
    /// The reason why there was no answer.
    pub said: Option<String>,
    /// Lines that are above the screen.
    pub scroll: u16,
}

impl App {
    /// No answer has arrived yet.
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

    /// Accepts a snapshot. If there is none, or no more, the last picture stays.
    pub fn take_snapshot(&mut self, answer: Result<Snapshot, Failure>) {
        use Failure::{CutOff, Excess, Silent};
        match answer {
            Ok(snapshot) => {
                self.before = self.last.replace(snapshot);
                self.silent = None;
                self.arrange();
            }
            Err(failure @ (Silent(_) | Excess(..) | CutOff)) => {
                self.silent = Some(failure);
            }
            Err(failure) => self.ended = Some(failure),
        }
    }

    /// Accepts an answer about the fiber `id`.
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

    /// Returns the fibers that are shown, in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &Fiber> {
        let fibers = self.last.as_ref().map_or(&[][..], |last| &last.fibers);
        self.rows.iter().map(|row| &fibers[*row])
    }

    /// Returns the row of the cursor.
    #[must_use]
    pub fn cursor(&self) -> Option<usize> {
        let selected = self.selected.as_deref()?;
        self.rows().position(|fiber| &*fiber.id == selected)
    }

    /// Moves the cursor by `by` rows, within the table. Without a cursor it enters from above or
    /// below.
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

    /// Recomputes the rows, after fibers, filter or order have changed.
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
