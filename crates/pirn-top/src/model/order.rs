//! The columns of the fibers' table, and the order of its rows.

use std::cmp::Ordering;

use crate::wire::Fiber;

/// A column of the fibers' table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of columns")]
pub enum Column {
    Id,
    Name,
    State,
    Reason,
    Age,
    Worker,
    Stack,
    Object,
    WaitsAt,
    SpawnedAt,
}

/// The order of the fibers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// The column.
    pub column: Column,
    /// The largest first.
    pub descending: bool,
}

impl Column {
    /// All, from left to right.
    pub const ALL: [Column; 10] = [
        Column::Id,
        Column::Name,
        Column::State,
        Column::Reason,
        Column::Age,
        Column::Worker,
        Column::Stack,
        Column::Object,
        Column::WaitsAt,
        Column::SpawnedAt,
    ];

    /// Returns its title.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Column::Id => "FIBER",
            Column::Name => "NAME",
            Column::State => "STATE",
            Column::Reason => "REASON",
            Column::Age => "AGE",
            Column::Worker => "W",
            Column::Stack => "STACK",
            Column::Object => "WAITS FOR",
            Column::WaitsAt => "WAITS AT",
            Column::SpawnedAt => "SPAWNED AT",
        }
    }

    /// Returns the column with this title, in any case, with `-` for the space. An unambiguous part
    /// such as `waits` suffices.
    #[must_use]
    pub fn named(name: &str) -> Option<Column> {
        let wanted = name.to_ascii_uppercase().replace('-', " ");
        let mut all = Column::ALL.into_iter();
        let exact = all.find(|column| column.title() == wanted);
        exact.or_else(|| {
            let begins = |column: &Column| column.title().starts_with(&wanted);
            let mut all = Column::ALL.into_iter().filter(begins);
            let first = all.next().filter(|_| !wanted.is_empty());
            first.filter(|_| all.next().is_none())
        })
    }

    /// Returns true if the largest value is first by default.
    fn largest_first(self) -> bool {
        matches!(self, Column::Age | Column::Stack)
    }

    /// Returns the column `steps` further to the right, with wrap-around.
    fn moved(self, steps: usize) -> Column {
        let at = Column::ALL.iter().position(|column| *column == self);
        Column::ALL[(at.unwrap_or(0) + steps) % Column::ALL.len()]
    }
}

impl Order {
    /// Orders by `column`, in its default direction.
    #[must_use]
    pub fn by(column: Column) -> Order {
        Order {
            column,
            descending: column.largest_first(),
        }
    }

    /// Orders by the next column, or the one before.
    #[must_use]
    pub fn next(self, forward: bool) -> Order {
        let steps = if forward { 1 } else { Column::ALL.len() - 1 };
        Order::by(self.column.moved(steps))
    }

    /// Compares two fibers; equal ones by their ids.
    #[must_use]
    pub fn compare(self, a: &Fiber, b: &Fiber) -> Ordering {
        let by_column = match self.column {
            Column::Id => number(a).cmp(&number(b)),
            Column::Name => a.name.cmp(&b.name),
            Column::State => a.state.cmp(&b.state),
            Column::Reason => a.reason.cmp(&b.reason),
            Column::Age => a.waited_ns.cmp(&b.waited_ns),
            Column::Worker => a.worker.cmp(&b.worker),
            Column::Stack => a.stack_used.cmp(&b.stack_used),
            Column::Object => a.object.cmp(&b.object),
            Column::WaitsAt => a.waits_at.cmp(&b.waits_at),
            Column::SpawnedAt => a.spawned_at.cmp(&b.spawned_at),
        };
        let by_column = match self.descending {
            true => by_column.reverse(),
            false => by_column,
        };
        by_column.then_with(|| number(a).cmp(&number(b)))
    }
}

fn number(fiber: &Fiber) -> u64 {
    fiber.id.parse().unwrap_or(u64::MAX)
}
