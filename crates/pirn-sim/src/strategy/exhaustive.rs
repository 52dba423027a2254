//! All schedules with a bounded number of preemptions, one after the other.

use std::iter;
use std::sync::{Arc, Mutex, PoisonError};

use pirn::dev::sim::{self as dev, Choose};

use super::kind::canonical;

/// The enumeration: a search in depth, of which each run takes one path.
///
/// A run follows the path of the last one to the deepest choice with an option that is left, takes
/// that, and then the first option of each choice. The first option is the canonical fiber. Another
/// one costs a preemption if the canonical fiber could go on.
#[derive(Debug, Clone)]
pub(crate) struct Exhaustive(Arc<Mutex<Search>>);

#[derive(Debug)]
struct Search {
    preemptions: u32,
    /// The choices of the present path.
    path: Vec<Choice>,
    /// Choices of the present run so far.
    depth: usize,
    is_done: bool,
}

#[derive(Debug)]
struct Choice {
    /// Which option is taken; 0 is the canonical fiber.
    taken: usize,
    options: usize,
    /// An option but the first costs a preemption.
    costs: bool,
}

impl Exhaustive {
    pub(crate) fn new(preemptions: u32) -> Exhaustive {
        Exhaustive(Arc::new(Mutex::new(Search {
            preemptions,
            path: Vec::new(),
            depth: 0,
            is_done: false,
        })))
    }

    /// Turns to the next path. Returns false if there is none.
    pub(crate) fn advance(&self) -> bool {
        let search = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        search.path.truncate(search.depth);
        search.depth = 0;
        while let Some(choice) = search.path.pop() {
            let spent = search.spent();
            let affordable = !choice.costs || spent < search.preemptions;
            if choice.taken + 1 < choice.options && affordable {
                let taken = choice.taken + 1;
                search.path.push(Choice { taken, ..choice });
                return true;
            }
        }
        search.is_done = true;
        false
    }
}

impl Search {
    /// Returns the preemptions of the present path.
    fn spent(&self) -> u32 {
        let preempts = |choice: &&Choice| choice.costs && choice.taken > 0;
        self.path.iter().filter(preempts).count() as u32
    }
}

impl Choose for Exhaustive {
    fn choose(&mut self, choice: &dev::Choice<'_>) -> usize {
        let search = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A fiber that asks for others to run does not run before one of them has: a loop that
        // waits would have a schedule for each number of its turns.
        let asks = choice.last.filter(|_| !choice.goes_on);
        let first = canonical(choice);
        let others = (0..choice.ready.len())
            .filter(|index| *index != first && Some(choice.ready[*index]) != asks);
        let options: Vec<_> = iter::once(first).chain(others).collect();
        if search.depth == search.path.len() {
            search.path.push(Choice {
                taken: 0,
                options: options.len(),
                costs: choice.goes_on,
            });
        }
        // A program that is not deterministic may have fewer options than before.
        let taken = search.path[search.depth].taken.min(options.len() - 1);
        search.depth += 1;
        options[taken]
    }
}
