//! The order of operations that an unusual choice causes.
//!
//! Owns: which operations a report names. Does not own: their words (`sentence`).

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use pirn::dev::sim::Operation;
use pirn::diag::{FiberInfo, Object, ObjectKind};
use pirn::spawn::FiberId;

use crate::turns::{Turn, Turns};

/// The order of operations that a deviation causes, as indexes of turns.
pub(super) struct Order {
    /// Those of the fiber that runs; at most [`CAME`].
    pub(super) came: Vec<usize>,
    /// The last one of the usual fiber before them.
    pub(super) before: Option<usize>,
    /// The next one of that fiber.
    pub(super) after: Option<usize>,
}

impl Order {
    pub(super) fn at(turns: &Turns, stuck: &Stuck, at: usize) -> Order {
        let list = &turns.list;
        let (fiber, usual) = (list[at].fiber, list[at].usual);
        let is_operation =
            |index: &usize| list[*index].fiber == usual && list[*index].step.is_some();
        let before = (0..at).rev().find(is_operation);
        let after = (at..list.len()).find(is_operation);
        let resumes = (at..list.len()).find(|index| list[*index].fiber == usual);
        let block = at..resumes.unwrap_or(list.len());
        let block = block.take_while(|index| list[*index].fiber == fiber);
        let mut all: Vec<_> = block.filter(|index| list[*index].step.is_some()).collect();
        // Without those that have waited, unless all have: such an operation did not come before.
        let waited =
            |index: usize| turns.waits(index) || is_last_of_stuck(turns, stuck, index);
        if all.iter().any(|index| !waited(*index)) {
            all.retain(|index| !waited(*index));
        }
        let object = |index: usize| list[index].step.map_or(0, |step| step.object);
        let is = |index: Option<usize>, wanted| index.map(object) == Some(wanted);
        let from = before.unwrap_or(at);
        let others = (from..list.len()).filter(is_operation).map(object);
        let others: HashSet<usize> = others.collect();
        let weight = |index: usize| match object(index) {
            0 => 0,
            object if is(after, object) || stuck.objects.contains(&object) => 3,
            object if is(before, object) => 2,
            object if others.contains(&object) => 1,
            _ => 0,
        };
        let mut came = all.clone();
        came.retain(|index| weight(*index) > 0);
        if came.is_empty() {
            came = all;
        }
        came.sort_by_key(|index| Reverse(weight(*index)));
        came.truncate(CAME);
        came.sort_unstable();
        Order {
            came,
            before,
            after,
        }
    }
}

/// The fibers that wait indefinitely, and the addresses of what they wait for.
#[derive(Debug, Default)]
pub(crate) struct Stuck {
    fibers: HashSet<u32>,
    objects: HashSet<usize>,
}

impl Stuck {
    pub(crate) fn new(fibers: &[(FiberId, usize)], stuck: &[FiberInfo]) -> Stuck {
        let numbers = (0..).zip(fibers);
        let waits = |id: FiberId| stuck.iter().any(|fiber| fiber.id == id);
        let objects = stuck.iter().filter_map(|fiber| fiber.waits_for.as_ref());
        Stuck {
            fibers: numbers
                .filter(|(_, (id, _))| waits(*id))
                .map(|it| it.0)
                .collect(),
            objects: objects.flat_map(addresses).collect(),
        }
    }
}

/// Returns the addresses of the objects that a fiber waits for; for a select, those of its cases.
/// Operations on fibers, scopes and what is outside of the program name no object.
pub(super) fn addresses(object: &Object) -> Vec<usize> {
    use ObjectKind::{Busy, Call, Fiber, Future, Runtime, Scope, Select, Socket};
    match &object.kind {
        Select { of, .. } => of.iter().flat_map(addresses).collect(),
        Busy
        | Call { .. }
        | Fiber { .. }
        | Future
        | Runtime
        | Scope { .. }
        | Socket { .. } => Vec::new(),
        _ => vec![object.address],
    }
}

/// The last operations on each object that a fiber waits for, as indexes of turns. Those in which
/// fibers wait indefinitely do not count.
#[derive(Debug, Default)]
pub(super) struct LastUses(HashMap<usize, Vec<usize>>);

impl LastUses {
    pub(super) fn new(turns: &Turns, stuck: &Stuck) -> LastUses {
        let mut uses: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut seen = HashSet::new();
        for (index, turn) in turns.list.iter().enumerate().rev() {
            let is_last = seen.insert(turn.fiber);
            let Some(step) = turn
                .step
                .filter(|step| stuck.objects.contains(&step.object))
            else {
                continue;
            };
            let waits = is_last && stuck.fibers.contains(&turn.fiber);
            // The address may be that of an ended fiber.
            let is_of_fiber = matches!(
                step.operation,
                Operation::End | Operation::Join | Operation::Unpark
            );
            let known = uses.entry(step.object).or_default();
            let is_known = known.iter().any(|at| turns.list[*at].fiber == turn.fiber);
            if !waits && !is_of_fiber && !is_known && known.len() < PARTIES {
                known.push(index);
            }
        }
        LastUses(uses)
    }

    /// Returns the last one on one of `objects` by another fiber than `waiter`.
    pub(super) fn by_other(
        &self,
        turns: &Turns,
        objects: &[usize],
        waiter: u32,
    ) -> Option<usize> {
        let all = objects.iter().filter_map(|object| self.0.get(object));
        let others = all.flatten().filter(|at| turns.list[**at].fiber != waiter);
        others.max().copied()
    }
}

/// Of so many fibers the last uses of an object are kept: one of them is not the waiter.
const PARTIES: usize = 2;

/// Returns true if the operation of a turn is the one that its fiber waits in indefinitely.
fn is_last_of_stuck(turns: &Turns, stuck: &Stuck, index: usize) -> bool {
    let fiber = turns.list[index].fiber;
    let is_last = !turns.list[index + 1..]
        .iter()
        .any(|turn| turn.fiber == fiber);
    stuck.fibers.contains(&fiber) && is_last
}

/// Returns the last operation of a fiber before its panic in turn `at`, and the last one of another
/// fiber on the same object before that.
pub(super) fn before_panic(turns: &Turns, at: usize) -> Option<(usize, Option<usize>)> {
    let list = &turns.list;
    let fiber = list.get(at)?.fiber;
    let is_own =
        |index: &usize| list[*index].fiber == fiber && list[*index].step.is_some();
    let own = (0..=at).rev().find(is_own)?;
    let object = list[own].step?.object;
    // Up to the panic: another fiber may have run while the last operation waited.
    let is_others = |index: &usize| {
        list[*index].fiber != fiber
            && object != 0
            && list[*index].step.is_some_and(|step| step.object == object)
    };
    Some((own, (0..at).rev().find(is_others)))
}

/// Returns the turns with places that a report of this run shows, among them the `last` ones.
pub(crate) fn shown(
    turns: &Turns,
    stuck: &Stuck,
    panic: Option<usize>,
    last: usize,
) -> HashSet<usize> {
    let from = turns.list.len().saturating_sub(last);
    let mut shown: HashSet<usize> = (from..turns.list.len()).collect();
    for at in deviations(turns).take(ORDERS) {
        shown.insert(at);
        let turn = &turns.list[at];
        if turn.fiber == turn.usual {
            continue;
        }
        let order = Order::at(turns, stuck, at);
        shown.extend(order.came);
        shown.extend(order.before);
        shown.extend(order.after);
    }
    if let Some((own, other)) = panic.and_then(|at| before_panic(turns, at)) {
        shown.insert(own);
        shown.extend(other);
    }
    shown.extend(calls(turns).take(CALLS));
    // Where the locks were taken that fibers wait for, and where all else was used last.
    for object in &stuck.objects {
        let is_taken = |index: &usize| {
            let step = turns.list[*index].step;
            step.is_some_and(|step| step.object == *object && takes(step.operation))
        };
        let taken = (0..turns.list.len()).rev().filter(is_taken);
        shown.extend(taken.take(TAKEN));
    }
    shown.extend(LastUses::new(turns, stuck).0.into_values().flatten());
    shown
}

/// Returns the turns that begin with an unusual choice, or have one in a select.
pub(super) fn deviations(turns: &Turns) -> impl Iterator<Item = usize> {
    let list = turns.list.iter().enumerate();
    list.filter(|(_, turn)| turn.fiber != turn.usual || turn.case.is_some())
        .map(|(index, _)| index)
}

/// Returns the turns that begin with a call that takes real time.
pub(super) fn calls(turns: &Turns) -> impl Iterator<Item = usize> {
    let list = turns.list.iter().enumerate();
    let is_call = |turn: &Turn| turn.step.is_some_and(|it| it.operation == Operation::Io);
    list.filter(move |(_, turn)| is_call(turn)).map(|it| it.0)
}

/// Returns true if a lock is taken.
pub(super) fn takes(operation: Operation) -> bool {
    matches!(operation, Operation::Lock | Operation::TryLock)
}

/// Maximum number of deviations that are explained. Arbitrary: a reader follows no more.
pub(super) const ORDERS: usize = 8;

/// Maximum number of calls in real time of which a report has the places. Arbitrary.
pub(super) const CALLS: usize = 3;

/// Maximum number of operations in one explanation. Arbitrary.
const CAME: usize = 3;

/// The operations on a lock of which the places are looked up. Arbitrary: more than fibers that
/// wait for one lock in a small test.
const TAKEN: usize = 8;
