//! The sum of a slice, by each library's function.

use super::super::library::Library;
use super::Work;

/// Numbers and their sum.
pub(in crate::peers::fork) struct Sum {
    values: Vec<u64>,
    answer: Option<u64>,
}

impl Sum {
    /// The numbers below `count`.
    pub(in crate::peers::fork) fn new(count: u64) -> Sum {
        Sum {
            values: (0..count).collect(),
            answer: None,
        }
    }
}

impl Work for Sum {
    fn prepare(&mut self) {
        self.answer = None;
    }

    fn run<L: Library>(&mut self, scope: &mut L::Scope<'_>) {
        self.answer = Some(L::sum(scope, &self.values));
    }

    fn check(&self) {
        let count = self.values.len() as u64;
        let expected = count * (count - 1) / 2;
        assert_eq!(self.answer, Some(expected), "the sum of {count} numbers");
    }
}
