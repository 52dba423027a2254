//! The sentences of a report.
//!
//! Owns: what is said of an unusual choice, of a fiber that waits, and of a panic. Does not own:
//! how many of these a report shows (`failure`).

use std::collections::{BTreeMap, HashSet};

use pirn::diag::{FiberInfo, ObjectKind};
use pirn::spawn::FiberId;

use super::names::snake;
use super::order::{
    CALLS, LastUses, ORDERS, Order, addresses, before_panic, calls, deviations, takes,
};
use super::scene::Scene;
use super::sentence::{Sentence, line_of};
use crate::turns::Turn;

/// The explanation of a failure.
#[derive(Debug, Clone, Default)]
pub(crate) struct Explained {
    /// A sentence for each of the first deviations.
    pub(crate) orders: Vec<String>,
    /// A sentence for each fiber that waits indefinitely; first those of `cycle`.
    pub(crate) stuck: Vec<String>,
    /// The numbers of fibers that wait for each other, in this order.
    pub(crate) cycle: Vec<u32>,
    /// For a panic, the operation before it.
    pub(crate) last: Option<String>,
    /// The first calls that take real time.
    pub(crate) calls: Vec<String>,
}

impl Scene<'_> {
    /// Explains the run. `panic` is the index of the turn of the first panic.
    pub(crate) fn explain(&self, stuck: &[FiberInfo], panic: Option<usize>) -> Explained {
        let mut stuck: Vec<_> = stuck.iter().collect();
        stuck.sort_by_key(|fiber| self.number(fiber.id));
        let cycle = self.cycle(&stuck);
        let place = |fiber: &&FiberInfo| {
            let number = self.number(fiber.id);
            let at = number.and_then(|number| cycle.iter().position(|it| *it == number));
            (at.unwrap_or(usize::MAX), number)
        };
        stuck.sort_by_key(place);
        // The report introduces those that it shows.
        let shown = match cycle.len() {
            0 => stuck.len().min(WAITS),
            length => length.min(WAITS),
        };
        let shown = stuck[..shown]
            .iter()
            .filter_map(|fiber| self.number(fiber.id));
        let mut known = shown.collect();
        let deviations = deviations(self.turns).take(ORDERS);
        let mut orders = Vec::new();
        for at in deviations {
            let turn = &self.turns.list[at];
            if turn.fiber != turn.usual {
                orders.push(self.order(at, &mut known));
            }
            if let Some((picked, count)) = turn.case {
                orders.push(self.case(at, picked, count, &mut known));
            }
        }
        let calls = calls(self.turns).take(CALLS).map(|at| {
            let mut said = Sentence::new(self);
            said.push(&format!("fiber {}'s ", self.turns.list[at].fiber));
            said.operation(at);
            said.text
        });
        let uses = LastUses::new(self.turns, &self.stuck);
        let stuck = stuck.into_iter().map(|fiber| self.wait(fiber, &uses));
        Explained {
            orders,
            stuck: stuck.collect(),
            cycle,
            last: panic.and_then(|at| self.last(at)),
            calls: calls.collect(),
        }
    }

    /// Says which operations came before which others at a deviation. `known` are the fibers that
    /// have been introduced.
    fn order(&self, at: usize, known: &mut HashSet<u32>) -> String {
        let list = &self.turns.list;
        let (fiber, usual) = (list[at].fiber, list[at].usual);
        let order = Order::at(self.turns, &self.stuck, at);
        let mut said = Sentence::new(self);
        said.fiber(fiber, known);
        match order.came.as_slice() {
            [] if self.turns.first_of(fiber) == Some(at) => said.push(" began"),
            [] => {
                said.push(" continued");
                if list[at].place.is_some() {
                    said.push(" from ");
                    said.site(&list[at]);
                }
            }
            came => {
                for (index, at) in came.iter().enumerate() {
                    let and = match index {
                        0 => " ",
                        _ if index + 1 == came.len() => " and ",
                        _ => ", ",
                    };
                    said.push(and);
                    said.operation(*at);
                }
                said.push(" came");
            }
        }
        match (order.before, order.after) {
            (Some(before), Some(after)) => {
                said.push(&format!(" between fiber {usual}'s "));
                said.operation(before);
                said.push(" and its ");
                said.operation(after);
            }
            (None, Some(after)) => {
                said.push(&format!(" before fiber {usual}'s "));
                said.operation(after);
            }
            (Some(before), None) => {
                said.push(&format!(" right after fiber {usual}'s "));
                said.operation(before);
            }
            (None, None) => said.push(&format!(" before fiber {usual}")),
        }
        if known.insert(usual) {
            said.push(&format!(" (fiber {usual}: "));
            said.origin(usual);
            said.push(")");
        }
        said.text
    }

    /// Says which of its ready cases a select in turn `at` took.
    fn case(
        &self,
        at: usize,
        picked: usize,
        count: usize,
        known: &mut HashSet<u32>,
    ) -> String {
        let turn = &self.turns.list[at];
        let mut said = Sentence::new(self);
        said.push("in a select of ");
        said.fiber(turn.fiber, known);
        if turn.place.is_some() {
            said.push(" at ");
            said.site(turn);
        }
        said.push(&format!(
            ", number {picked} of {count} ready cases was taken"
        ));
        said.text
    }

    /// Says which operation came last before a panic in turn `at`, and which one of another fiber
    /// on the same object came before that.
    fn last(&self, at: usize) -> Option<String> {
        let (own, other) = before_panic(self.turns, at)?;
        let fiber = self.turns.list[own].fiber;
        let mut said = Sentence::new(self);
        said.push(&format!("it panicked after fiber {fiber}'s "));
        said.operation(own);
        if let Some(other) = other {
            let fiber = self.turns.list[other].fiber;
            said.push(&format!(", before which came fiber {fiber}'s "));
            said.operation(other);
        }
        Some(said.text)
    }

    /// Returns fibers that wait for each other, if there are any: each for the next one.
    fn cycle(&self, stuck: &[&FiberInfo]) -> Vec<u32> {
        let edges = stuck.iter().filter_map(|fiber| {
            let held = holder(fiber).and_then(|id| self.number(id));
            Some((self.number(fiber.id)?, held?))
        });
        let edges: BTreeMap<u32, u32> = edges.collect();
        // The start from which each fiber was reached first: no path goes on there.
        let mut reached = BTreeMap::new();
        for start in edges.keys() {
            let mut path = vec![*start];
            reached.entry(*start).or_insert(*start);
            while let Some(next) = edges.get(&path[path.len() - 1]) {
                match reached.get(next) {
                    Some(from) if from == start => {
                        let place = path.iter().position(|it| it == next);
                        return path.split_off(place.unwrap_or(0));
                    }
                    Some(_) => break,
                    None => _ = reached.insert(*next, *start),
                }
                path.push(*next);
            }
        }
        Vec::new()
    }

    /// Says what a fiber waits for, and which fiber holds that or has used it last.
    fn wait(&self, fiber: &FiberInfo, uses: &LastUses) -> String {
        let mut said = Sentence::new(self);
        let number = self.number(fiber.id);
        match number {
            Some(number) => {
                said.push(&format!("fiber {number} ("));
                said.origin(number);
                said.push(")");
            }
            None => {
                said.push("a fiber spawned at ");
                said.place(&line_of(fiber.spawned_at));
            }
        }
        said.push(" waits");
        if let Some(object) = &fiber.waits_for {
            said.push(" for ");
            said.push(&self.described(object));
        } else if let Some(reason) = fiber.reason {
            said.push(&format!(" in `{}`", snake(&format!("{reason:?}"))));
        }
        if let Some(at) = fiber.waits_at {
            said.push(" at ");
            let mut turns = self.turns.list.iter().rev();
            let last = turns.find(|turn| Some(turn.fiber) == number);
            let at = line_of(at);
            // Its last turn begins before the operation that waits, if the fiber stopped there.
            match last.filter(|turn| self.place(turn) == Some(self.root.short(&at))) {
                Some(turn) => said.site(turn),
                None => said.place(&at),
            }
        }
        let object = fiber.waits_for.as_ref();
        let held = object.filter(|it| !matches!(it.kind, ObjectKind::Fiber { .. }));
        if let (Some(held), Some(id)) = (held, holder(fiber)) {
            match self.number(id) {
                Some(holder) if Some(holder) == number => {
                    said.push(", which it holds itself");
                }
                Some(holder) => said.push(&format!(", which fiber {holder} has taken")),
                None => said.push(", which another fiber has taken"),
            }
            let is_taken = |turn: &&Turn| {
                Some(turn.fiber) == self.number(id)
                    && turn.step.is_some_and(|step| {
                        step.object == held.address && takes(step.operation)
                    })
            };
            // Its wait for the lock that it has itself is the last one.
            let skipped = usize::from(Some(id) == Some(fiber.id));
            let taken = self.turns.list.iter().rev().filter(is_taken).nth(skipped);
            if let Some(turn) = taken.filter(|turn| turn.place.is_some()) {
                said.push(" at ");
                said.site(turn);
            }
        } else if let (Some(object), Some(number)) = (object, number) {
            self.used(&mut said, uses, &addresses(object), number);
        }
        said.text
    }

    /// Says what another fiber did last with what `waiter` waits for.
    fn used(
        &self,
        said: &mut Sentence<'_>,
        uses: &LastUses,
        objects: &[usize],
        waiter: u32,
    ) {
        // The last ones are not recorded.
        if objects.is_empty() || self.turns.beyond > 0 {
            return;
        }
        match uses.by_other(self.turns, objects, waiter) {
            Some(at) => {
                let fiber = self.turns.list[at].fiber;
                said.push(&format!(
                    "; the last other operation on it is fiber {fiber}'s "
                ));
                said.operation(at);
            }
            // A select names no object.
            None => said.push("; no operation of another fiber names it"),
        }
    }
}

/// Returns the fiber that has to act first.
fn holder(fiber: &FiberInfo) -> Option<FiberId> {
    match &fiber.waits_for.as_ref()?.kind {
        ObjectKind::Mutex { holder, .. } => *holder,
        ObjectKind::RwLock { writer, .. } => *writer,
        ObjectKind::Fiber { id } => *id,
        _ => None,
    }
}

/// The maximum number of waiting fibers in a report. Arbitrary.
pub(crate) const WAITS: usize = 5;
