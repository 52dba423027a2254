//! A run with names for everything in it.
//!
//! Owns: which name an object has, and the text of one operation. Does not own: sentences
//! (`report`), or the words (`names`).

use std::collections::{BTreeMap, HashMap, HashSet};

use pirn::dev::sim::{self, Operation, Step};
use pirn::diag::{FiberInfo, Object, ObjectKind};
use pirn::spawn::FiberId;

use super::names::{kind_of, noun, word};
use super::order::Stuck;
use super::sentence::line_of;
use crate::turns::{End, Root, Turn, Turns};

/// A run that has failed, with names for everything in it.
pub(crate) struct Scene<'a> {
    pub(crate) turns: &'a Turns,
    pub(super) root: Root,
    fibers: HashMap<FiberId, u32>,
    /// The fibers that have had an address, in order.
    addresses: HashMap<usize, Vec<u32>>,
    objects: BTreeMap<usize, String>,
    pub(super) stuck: Stuck,
}

impl<'a> Scene<'a> {
    /// `fibers` are the identities and the addresses by number; `known` is a file of the workspace.
    pub(crate) fn new(
        turns: &'a Turns,
        fibers: &[(FiberId, usize)],
        stuck: &[FiberInfo],
        known: &str,
    ) -> Scene<'a> {
        let mut addresses: HashMap<usize, Vec<u32>> = HashMap::new();
        for (number, (_, address)) in (0..).zip(fibers) {
            addresses.entry(*address).or_default().push(number);
        }
        let numbers = (0..).zip(fibers).map(|(number, (id, _))| (*id, number));
        let mut scene = Scene {
            turns,
            root: Root::of(known),
            fibers: numbers.collect(),
            addresses,
            objects: BTreeMap::new(),
            stuck: Stuck::new(fibers, stuck),
        };
        scene.objects = scene.named(stuck);
        scene
    }

    /// Returns the name of each object: the user's, or its kind with a number by first use.
    fn named(&self, stuck: &[FiberInfo]) -> BTreeMap<usize, String> {
        let steps = self.turns.list.iter().filter_map(|turn| turn.step);
        let steps = steps.filter(|step| step.object != 0 && !self.is_of_fiber(*step));
        let mut order = Vec::new();
        let mut operations: HashMap<usize, HashSet<Operation>> = HashMap::new();
        for step in steps {
            let known = operations.entry(step.object).or_insert_with(|| {
                order.push(step.object);
                HashSet::new()
            });
            known.insert(step.operation);
        }
        let mut kinds = HashMap::new();
        for object in stuck.iter().filter_map(|fiber| fiber.waits_for.as_ref()) {
            let is_whole = !matches!(
                object.kind,
                ObjectKind::Busy | ObjectKind::Fiber { .. } | ObjectKind::Select { .. }
            );
            if is_whole && object.address != 0 {
                kinds.insert(object.address, kind_of(&object.kind));
                operations.entry(object.address).or_insert_with(|| {
                    order.push(object.address);
                    HashSet::new()
                });
            }
        }
        let mut counts: HashMap<&str, u32> = HashMap::new();
        let label = |address: usize| {
            if let Some(name) = sim::object_name(address) {
                return (address, name.to_owned());
            }
            let kind = kinds.get(&address).copied();
            let kind = kind.unwrap_or_else(|| noun(&operations[&address]));
            let count = counts.entry(kind).or_default();
            *count += 1;
            (address, format!("{kind} {count}"))
        };
        order.into_iter().map(label).collect()
    }

    /// Returns true if the object of `step` is a fiber.
    fn is_of_fiber(&self, step: Step) -> bool {
        use Operation::{Cancel, Check, End, Join, Look, Unpark};
        matches!(step.operation, Cancel | Check | End | Join | Look | Unpark)
            && self.addresses.contains_key(&step.object)
    }

    /// Returns the number of a fiber.
    pub(crate) fn number(&self, fiber: FiberId) -> Option<u32> {
        self.fibers.get(&fiber).copied()
    }

    /// Returns what a fiber does first in a turn.
    pub(crate) fn begin(&self, index: usize) -> String {
        let turn = &self.turns.list[index];
        if let Some(operation) = self.operation(index) {
            return operation;
        }
        let earlier = self.turns.list[..index].iter();
        match earlier.rev().find(|it| it.fiber == turn.fiber) {
            None => "begins".to_owned(),
            Some(before) if before.end == End::Yields => "continues".to_owned(),
            Some(_) => "wakes".to_owned(),
        }
    }

    /// Returns the operation at the beginning of a turn, with its object: "`lock` accounts".
    pub(crate) fn operation(&self, index: usize) -> Option<String> {
        let step = self.turns.list[index].step?;
        let word = word(step.operation);
        match self.object(step, index) {
            Some(object) => Some(format!("`{word}` {object}")),
            None => Some(format!("`{word}`")),
        }
    }

    fn object(&self, step: Step, index: usize) -> Option<String> {
        if step.object != 0 && self.is_of_fiber(step) {
            let had = self.addresses[&step.object].iter();
            // An address is used again: the last fiber that was spawned in an earlier turn; an
            // operation is the first thing in its turn.
            let exists = |fiber: &&u32| {
                let spawned = self.turns.spawning(**fiber);
                **fiber == 0 || spawned.is_some_and(|at| at < index)
            };
            return had.rev().find(exists).map(|fiber| format!("fiber {fiber}"));
        }
        self.objects.get(&step.object).cloned()
    }

    pub(crate) fn place<'t>(&self, turn: &'t Turn) -> Option<&'t str> {
        turn.place.as_deref().map(|place| self.root.short(place))
    }

    /// Returns where a fiber was spawned.
    pub(crate) fn spawned(&self, fiber: u32) -> String {
        match fiber {
            0 => "the body of the test".to_owned(),
            _ => match self.turns.spawned.get(fiber as usize) {
                Some(at) => format!("spawned at {}", self.root.short(&line_of(at))),
                None => "spawned at an unknown place".to_owned(),
            },
        }
    }

    /// Names an object that a fiber waits for, with its state.
    pub(super) fn described(&self, object: &Object) -> String {
        let label = self.objects.get(&object.address).cloned();
        let label = label.unwrap_or_else(|| kind_of(&object.kind).to_owned());
        match &object.kind {
            ObjectKind::Fiber { id } => match id.and_then(|id| self.number(id)) {
                Some(other) => format!("the end of fiber {other}"),
                None => "the end of a fiber".to_owned(),
            },
            ObjectKind::Condvar { .. } => format!("a notification of {label}"),
            ObjectKind::Channel {
                capacity,
                len,
                closed,
                ..
            } => {
                let bound = capacity.map(|most| format!(" of {most}"));
                let closed = if *closed { ", closed" } else { "" };
                format!(
                    "{label} ({len}{} values{closed})",
                    bound.unwrap_or_default()
                )
            }
            ObjectKind::Select { cases, of } => {
                let of: Vec<_> = of.iter().map(|object| self.described(object)).collect();
                match of.len() {
                    0 => format!("one of {cases} cases"),
                    _ => format!("one of {cases} cases: {}", of.join(", ")),
                }
            }
            ObjectKind::WaitGroup { members, .. } => {
                format!("{label} ({members} members)")
            }
            ObjectKind::Semaphore { free, total, .. } => {
                format!("{label} ({free} of {total} free)")
            }
            ObjectKind::RwLock { readers, .. } if *readers > 0 => {
                format!("{label} (read by {readers})")
            }
            _ => label,
        }
    }
}
