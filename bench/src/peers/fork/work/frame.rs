//! A short job of equal pieces.

use std::hint::black_box;
use std::ops::Range;

use super::super::library::Library;
use super::Work;

/// Pieces that each take the same number of steps.
pub(in crate::peers::fork) struct Frame {
    steps: u64,
    expected: u64,
    answer: Option<u64>,
}

impl Frame {
    /// About this many microseconds in all; the figures of `serial` give the exact number.
    pub(in crate::peers::fork) fn new(micros: u64) -> Frame {
        let steps = micros * STEPS_IN_A_MICROSECOND / u64::from(PIECES);
        let add = |sum: u64, at: u32| sum.wrapping_add(piece(steps, at));
        Frame {
            steps,
            expected: (0..PIECES).fold(0, add),
            answer: None,
        }
    }
}

impl Work for Frame {
    fn prepare(&mut self) {
        self.answer = None;
    }

    fn run<L: Library>(&mut self, scope: &mut L::Scope<'_>) {
        self.answer = Some(pieces::<L>(scope, self.steps, 0..PIECES));
    }

    fn check(&self) {
        assert_eq!(self.answer, Some(self.expected), "the pieces of a frame");
    }
}

fn pieces<L: Library>(scope: &mut L::Scope<'_>, steps: u64, range: Range<u32>) -> u64 {
    if range.len() == 1 {
        return piece(steps, range.start);
    }
    let middle = range.start.midpoint(range.end);
    let (a, b) = L::join(
        scope,
        |scope| pieces::<L>(scope, steps, range.start..middle),
        |scope| pieces::<L>(scope, steps, middle..range.end),
    );
    a.wrapping_add(b)
}

/// Runs steps of xorshift, each of which needs the one before. Never inlined: the same code for
/// every library.
#[inline(never)]
fn piece(steps: u64, at: u32) -> u64 {
    let mut value = u64::from(at) + 1;
    for _ in 0..black_box(steps) {
        value ^= value << 13;
        value ^= value >> 7;
        value ^= value << 17;
    }
    value
}

const PIECES: u32 = 64;
/// A step is six instructions that wait for one another.
const STEPS_IN_A_MICROSECOND: u64 = 500;
