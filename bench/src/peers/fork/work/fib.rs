//! Fibonacci numbers: a join for every addition.

use super::super::library::Library;
use super::Work;

/// One number of the sequence.
pub(in crate::peers::fork) struct Fib {
    index: u64,
    expected: u64,
    answer: Option<u64>,
}

impl Fib {
    /// The largest one that takes at most `joins`: to compute `fib(i)` takes `fib(i + 1) - 1`.
    pub(in crate::peers::fork) fn new(joins: u64) -> Fib {
        let (mut index, mut number, mut next) = (1, 1, 1);
        while number + next - 1 <= joins {
            (number, next) = (next, number + next);
            index += 1;
        }
        Fib {
            index,
            expected: number,
            answer: None,
        }
    }
}

impl Work for Fib {
    fn prepare(&mut self) {
        self.answer = None;
    }

    fn run<L: Library>(&mut self, scope: &mut L::Scope<'_>) {
        self.answer = Some(fib::<L>(scope, self.index));
    }

    fn check(&self) {
        assert_eq!(self.answer, Some(self.expected), "fib({})", self.index);
    }

    fn joins(&self) -> Option<u64> {
        let (mut number, mut next) = (1, 1);
        for _ in 1..self.index {
            (number, next) = (next, number + next);
        }
        Some((next - 1).max(1))
    }
}

fn fib<L: Library>(scope: &mut L::Scope<'_>, index: u64) -> u64 {
    if index < 2 {
        return index;
    }
    let (a, b) = L::join(
        scope,
        |scope| fib::<L>(scope, index - 1),
        |scope| fib::<L>(scope, index - 2),
    );
    a + b
}
