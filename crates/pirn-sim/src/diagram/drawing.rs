//! What a picture shows.
//!
//! Each fiber is a line, each turn a row. A row shows which fiber runs, its operation and its
//! place. Owns: the states of fibers, and which turns are shown. Does not own: formats (`page`,
//! `events`).

use std::collections::HashSet;
use std::fmt::Write as _;

use pirn::diag::FiberInfo;

use crate::explain::Scene;
use crate::turns::{Cause, End, Turn};

/// Everything that a picture shows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Diagram {
    /// The last turns of the record.
    pub(super) rows: Vec<Row>,
    /// The turns before them.
    pub(super) cut: usize,
    /// The turns of the run that are not in the record.
    pub(super) beyond: u64,
    pub(super) lanes: Vec<Lane>,
}

#[derive(Debug, Clone)]
pub(super) struct Row {
    /// The index of a lane.
    pub(super) lane: usize,
    pub(super) text: String,
    pub(super) place: String,
    /// The fiber that runs here in the canonical schedule, if that is another one.
    pub(super) instead_of: Option<u32>,
    /// The lanes of the fibers that it has woken, and of those that it has spawned.
    pub(super) woken: Vec<usize>,
    pub(super) spawned: Vec<usize>,
    /// The run has failed here: why.
    pub(super) failure: Option<String>,
}

/// One fiber.
#[derive(Debug, Clone)]
pub(super) struct Lane {
    pub(super) fiber: u32,
    pub(super) spawned: String,
    /// Its state after each row.
    pub(super) states: Vec<State>,
    pub(super) is_stuck: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// It does not exist: not yet, or no more.
    Absent,
    /// It runs in this row.
    Runs,
    Ready,
    Waits,
}

/// The number of turns in a picture. Arbitrary: what a browser scrolls through.
pub(crate) const ROWS: usize = 200;

impl Diagram {
    /// Draws the last [`ROWS`] turns. `panic` is the message of the first panic, and its turn.
    pub(crate) fn new(
        scene: &Scene<'_>,
        stuck: &[FiberInfo],
        panic: Option<&(String, usize)>,
    ) -> Diagram {
        let turns = &scene.turns.list;
        let cut = turns.len().saturating_sub(ROWS);
        let stuck: HashSet<u32> =
            stuck.iter().filter_map(|it| scene.number(it.id)).collect();
        let mut lanes: Vec<Lane> = Vec::new();
        // The fibers that have left before the rows, and are in none of them.
        let mut gone = HashSet::new();
        for (index, turn) in turns.iter().enumerate() {
            for fiber in &turn.readied {
                gone.remove(fiber);
            }
            match turn.end {
                End::Leaves if index < cut => gone.insert(turn.fiber),
                _ => gone.remove(&turn.fiber),
            };
        }
        let mut seen = HashSet::new();
        for fiber in turns.iter().map(|turn| turn.fiber) {
            let is_stuck = stuck.contains(&fiber);
            if seen.insert(fiber) && (is_stuck || !gone.contains(&fiber)) {
                lanes.push(Lane {
                    fiber,
                    spawned: scene.spawned(fiber),
                    states: states(scene, fiber, is_stuck, cut),
                    is_stuck,
                });
            }
        }
        lanes.retain(|lane| lane.states.iter().any(|state| *state != State::Absent));
        let lane_of = |fiber: &u32| lanes.iter().position(|lane| lane.fiber == *fiber);
        let row = |(index, turn): (usize, &Turn)| {
            let is_first = |fiber: &&u32| scene.turns.spawning(**fiber) == Some(index);
            let readied = turn.readied.iter().filter(|_| turn.cause == Cause::Fiber);
            let (spawned, woken): (Vec<_>, Vec<_>) = readied.partition(is_first);
            Row {
                lane: lane_of(&turn.fiber).expect("each fiber that runs has a lane"),
                text: scene.begin(index),
                place: scene.place(turn).unwrap_or_default().to_owned(),
                instead_of: Some(turn.usual).filter(|usual| *usual != turn.fiber),
                woken: woken.into_iter().filter_map(lane_of).collect(),
                spawned: spawned.into_iter().filter_map(lane_of).collect(),
                failure: panic.filter(|it| it.1 == index).map(|it| it.0.clone()),
            }
        };
        let rows = turns.iter().enumerate().skip(cut).map(row).collect();
        Diagram {
            rows,
            cut,
            beyond: scene.turns.beyond,
            lanes,
        }
    }

    /// Returns the text of a row.
    pub(super) fn label(&self, row: &Row) -> String {
        let mut label = format!("fiber {}: {}", self.lanes[row.lane].fiber, row.text);
        if !row.place.is_empty() {
            let _ = write!(label, "  {}", row.place);
        }
        if let Some(usual) = row.instead_of {
            let _ = write!(label, "  (instead of fiber {usual})");
        }
        if row.failure.is_some() {
            label.push_str("  FAILS");
        }
        label
    }
}

/// Returns the state of a fiber after each turn from `cut` on.
fn states(scene: &Scene<'_>, fiber: u32, is_stuck: bool, cut: usize) -> Vec<State> {
    let turns = &scene.turns.list;
    let last = turns.iter().rposition(|turn| turn.fiber == fiber);
    let mut state = match fiber {
        0 => State::Ready,
        _ => State::Absent,
    };
    let states = turns.iter().enumerate().map(|(index, turn)| {
        if turn.fiber == fiber {
            state = match turn.end {
                End::Leaves if Some(index) == last && !is_stuck => State::Absent,
                End::Leaves => State::Waits,
                End::Stops | End::Yields => State::Ready,
            };
            return State::Runs;
        }
        if turn.readied.contains(&fiber) {
            state = State::Ready;
            return match index {
                _ if scene.turns.spawning(fiber) == Some(index) => State::Absent,
                _ => State::Waits,
            };
        }
        state
    });
    states.skip(cut).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::turns::Turns;

    #[test]
    fn states_are_kept_of_the_rows_that_are_shown() {
        // Fibers that end after one turn.
        let turn = |fiber| Turn {
            fiber,
            step: None,
            place: None,
            caller: None,
            usual: fiber,
            case: None,
            readied: Vec::new(),
            cause: Cause::Fiber,
            end: End::Leaves,
        };
        let mut turns = Turns::default();
        turns.list.extend((0..5_000).map(turn));
        let scene = Scene::new(&turns, &[], &[], file!());
        let diagram = Diagram::new(&scene, &[], None);
        assert_eq!(diagram.lanes.len(), ROWS);
        let kept = diagram.lanes.iter().map(|lane| lane.states.capacity());
        let most = kept.max().unwrap();
        assert!(most <= 2 * ROWS, "{most} states of one fiber");
    }
}
