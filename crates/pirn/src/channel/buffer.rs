//! The buffer of a channel: first in, first out, in blocks.

// Owns: values that have been sent and not received. A bounded channel fits into one block, which
// is a ring. A larger one is a row of blocks, so growing never moves values. A push allocates at
// most one block. Blocks that a burst filled are freed as they drain, except one.

use std::collections::VecDeque;
use std::mem;

/// Values in order of arrival: first those moved back from the exit, then the others.
pub(super) struct Buffer<T> {
    /// The number of values in both rows.
    len: usize,
    early: Row<T>,
    late: Row<T>,
}

impl<T> Buffer<T> {
    /// Returns an empty buffer for about `capacity` values, with memory as for a row.
    ///
    /// # Panics
    /// As [`Row::new`].
    pub(super) fn new(capacity: Option<usize>) -> Self {
        Buffer {
            len: 0,
            early: Row::idle(capacity),
            late: Row::new(capacity),
        }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn push(&mut self, value: T) {
        self.len += 1;
        self.late.push(value);
    }

    /// Pushes a value that is older than all others.
    pub(super) fn push_front(&mut self, value: T) {
        self.len += 1;
        match self.early.is_empty() {
            true => self.late.push_front(value),
            false => self.early.push_front(value),
        }
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<T> {
        if self.len == 0 {
            return None;
        }
        self.len -= 1;
        if self.early.is_empty() {
            self.late.pop()
        } else {
            self.pop_early()
        }
    }

    #[cold]
    fn pop_early(&mut self) -> Option<T> {
        self.early.pop()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.early.iter().chain(self.late.iter())
    }

    /// Lets `take` remove the row with the oldest values; `take` leaves an empty row.
    pub(super) fn split_front(&mut self, take: impl FnOnce(&mut Row<T>)) {
        let oldest = match self.early.is_empty() {
            true => &mut self.late,
            false => &mut self.early,
        };
        take(oldest);
        self.len = self.early.len() + self.late.len();
    }

    /// Lets `put` add values that are older than all others, into an empty row.
    pub(super) fn prepend(&mut self, put: impl FnOnce(&mut Row<T>)) {
        debug_assert!(self.early.is_empty(), "nothing can be older than these");
        put(&mut self.early);
        self.len = self.early.len() + self.late.len();
    }
}

/// Values in order of arrival, in blocks.
pub(super) struct Row<T> {
    /// The block that values are popped from; empty only if all blocks are.
    front: VecDeque<T>,
    /// Full blocks, followed by the one that is being filled. Empty while all values fit into
    /// `front`.
    rest: VecDeque<VecDeque<T>>,
    /// An empty block, so that a row with a fluctuating length does not allocate.
    spare: Option<VecDeque<T>>,
    /// The number of values in `rest`.
    behind: usize,
    block: usize,
}

impl<T> Row<T> {
    /// Returns an empty row for about `capacity` values. If `capacity` is known, memory for that
    /// many values, but at most one block, is allocated at once.
    ///
    /// # Panics
    /// If one block does not fit into the address space.
    pub(super) fn new(capacity: Option<usize>) -> Self {
        let mut row = Row::idle(capacity);
        if capacity.is_some_and(|capacity| capacity > 0) {
            row.front.reserve_exact(row.block);
        }
        row
    }

    /// As [`new`](Row::new), but allocates nothing until the first push.
    pub(super) fn idle(capacity: Option<usize>) -> Self {
        Row {
            front: VecDeque::new(),
            rest: VecDeque::new(),
            spare: None,
            behind: 0,
            block: capacity.unwrap_or(BLOCK).clamp(1, BLOCK),
        }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.front.len() + self.behind
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.front.is_empty()
    }

    #[inline]
    pub(super) fn push(&mut self, value: T) {
        if self.front.len() < self.block && self.behind == 0 {
            self.front.push_back(value);
        } else {
            self.push_behind(value);
        }
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<T> {
        let value = self.front.pop_front();
        if self.behind > 0 && self.front.is_empty() {
            self.advance();
        }
        value
    }

    fn push_front(&mut self, value: T) {
        self.front.push_front(value);
    }

    fn iter(&self) -> impl Iterator<Item = &T> {
        self.front.iter().chain(self.rest.iter().flatten())
    }

    #[cold]
    fn push_behind(&mut self, value: T) {
        self.behind += 1;
        match self.rest.back_mut() {
            Some(last) if last.len() < self.block => last.push_back(value),
            _ => {
                let mut block = self
                    .spare
                    .take()
                    .unwrap_or_else(|| VecDeque::with_capacity(self.block));
                block.push_back(value);
                self.rest.push_back(block);
            }
        }
    }

    /// Makes the next block the front block.
    #[cold]
    fn advance(&mut self) {
        if let Some(next) = self.rest.pop_front() {
            self.behind -= next.len();
            self.spare = Some(mem::replace(&mut self.front, next));
        }
    }
}

/// The number of values in a block. Large enough to make the cost of a block small per value, small
/// enough that a drained channel keeps little memory. Arbitrary.
const BLOCK: usize = 1024;

#[cfg(test)]
mod tests {
    use super::{BLOCK, Row};

    #[test]
    fn values_keep_their_order_over_blocks_and_ends() {
        for capacity in [
            None,
            Some(0),
            Some(1),
            Some(3),
            Some(BLOCK),
            Some(5 * BLOCK),
        ] {
            let mut row = Row::new(capacity);
            let (mut sent, mut received) = (0, 0);
            for round in [1, 2, 3, BLOCK, 3 * BLOCK + 1, 1, BLOCK + 7] {
                (0..round).for_each(|_| {
                    row.push(sent);
                    sent += 1;
                });
                (0..round - round / 3).for_each(|_| {
                    assert_eq!(row.pop(), Some(received));
                    received += 1;
                });
                assert_eq!(row.len(), sent - received);
            }
            while let Some(value) = row.pop() {
                assert_eq!(value, received);
                received += 1;
            }
            assert_eq!((received, row.len()), (sent, 0));
        }
    }

    #[test]
    fn a_drained_buffer_keeps_two_blocks_at_most() {
        let mut row = Row::new(None);
        (0..100 * BLOCK).for_each(|i| row.push(i));
        while row.pop().is_some() {}
        assert!(row.front.capacity() <= BLOCK && row.rest.is_empty());
    }
}
