//! The error of a check, as a timeline.
//!
//! Owns: the text. Does not own: which operations are in it (`prefix`).
//!
//! ```text
//! client 1  [Write(1) -> Written]   [Read -> Value(0)]
//! client 2   [CompareAndSet(1, 2) ....................
//! ```
//! Each event has a column of its own, to the right of those of all earlier events.

use std::error::Error;
use std::fmt::{self, Write as _};

use super::call::Call;
use super::model::Model;

/// A history that no order of its operations explains.
///
/// `Display` shows the smallest prefix of the history that has none: a line for each fiber or
/// thread, from the left to the right. It ends with the return of the operation that is named
/// first. A bracket opens where an operation is invoked, and closes where it returns. If the model
/// has parts, the operations are those of one part. `Debug` is the same, for `unwrap`.
///
/// # Examples
/// ```
/// use pirn_sim::history::{History, Register, RegisterOp, RegisterRet};
///
/// let history = History::<Register<u32>>::new();
/// let write = history.invoke(RegisterOp::Write(7));
/// history.invoke(RegisterOp::Read).done(RegisterRet::Value(7));
/// history.invoke(RegisterOp::Read).done(RegisterRet::Value(0));
/// write.done(RegisterRet::Written);
///
/// let expected = "\
/// not linearizable: no order of these operations explains Read -> Value(0)
///     client 1  [Write(7) ............................
///     client 1   [Read -> Value(7)] [Read -> Value(0)]";
/// assert_eq!(history.check().unwrap_err().to_string(), expected);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct NotLinearizable {
    text: String,
}

impl NotLinearizable {
    /// Describes the events before `until`, of which the last one is a return.
    pub(super) fn new<M: Model>(calls: &[&Call<M>], until: usize) -> NotLinearizable {
        let invoked = calls.partition_point(|call| call.invoked < until);
        let calls = &calls[..invoked];
        let last = calls.iter().filter(|call| call.returned(until).is_some());
        let last = last.max_by_key(|call| call.returned(until).map(|(at, _)| at));
        let mut text =
            "not linearizable: no order of these operations explains ".to_owned();
        text += &last.map(|call| label(call, until)).unwrap_or_default();
        let hidden = calls.len().saturating_sub(SHOWN);
        if hidden > 0 {
            // Writing to a string does not fail.
            let _ = write!(text, "\n    after {hidden} operations that began earlier:");
        }
        for row in rows(&calls[hidden..], until) {
            let _ = write!(text, "\n    client {}  {}", row.client, row.text);
        }
        NotLinearizable { text }
    }
}

impl fmt::Display for NotLinearizable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for NotLinearizable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for NotLinearizable {}

/// A line of the timeline.
struct Row {
    client: usize,
    text: String,
    /// An operation in it has not returned.
    is_open: bool,
}

impl Row {
    fn width(&self) -> usize {
        self.text.chars().count()
    }

    fn fill(&mut self, width: usize, filler: &str) {
        let missing = width.saturating_sub(self.width());
        self.text += &filler.repeat(missing);
    }
}

/// Returns the lines of `calls`. A client has a second one if it goes on after an operation without
/// a result.
fn rows<M: Model>(calls: &[&Call<M>], until: usize) -> Vec<Row> {
    let mut events = Vec::new();
    for (index, call) in calls.iter().enumerate() {
        events.push((call.invoked, index));
        events.extend(call.returned(until).map(|(at, _)| (at, index)));
    }
    events.sort_unstable();
    let mut rows: Vec<Row> = Vec::new();
    let mut row_of = vec![0; calls.len()];
    let mut column = 0;
    for (event, index) in events {
        let call = calls[index];
        if event == call.invoked {
            let is_free = |row: &Row| row.client == call.client && !row.is_open;
            let free = rows.iter().position(is_free);
            row_of[index] = free.unwrap_or(rows.len());
            if free.is_none() {
                rows.push(Row {
                    client: call.client,
                    text: String::new(),
                    is_open: false,
                });
            }
        }
        let row = &mut rows[row_of[index]];
        if event == call.invoked {
            let apart = usize::from(!row.text.is_empty());
            column = column.max(row.width() + apart);
            row.fill(column, " ");
            row.text += "[";
            row.text += &label(call, until);
        } else {
            column = column.max(row.width());
            row.fill(column, " ");
            row.text += "]";
        }
        row.is_open = event == call.invoked;
        column += 1;
    }
    let width = rows.iter().map(Row::width).max().unwrap_or(0);
    for row in rows.iter_mut().filter(|row| row.is_open) {
        row.text += " ";
        row.fill(width, ".");
    }
    rows.sort_by_key(|row| row.client);
    rows
}

/// Returns an operation with its result, if it has returned.
fn label<M: Model>(call: &Call<M>, until: usize) -> String {
    let text = match call.returned(until) {
        Some((_, ret)) => format!("{:?} -> {ret:?}", call.op),
        None => format!("{:?}", call.op),
    };
    match text.char_indices().nth(LABEL) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Maximum number of operations in a timeline. Arbitrary: a reader follows no more.
const SHOWN: usize = 12;

/// Maximum number of characters of an operation. Arbitrary.
const LABEL: usize = 60;
