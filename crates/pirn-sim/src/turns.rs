//! What the fibers of a run did, turn by turn: recorded when a failure is explained.
//!
//! Owns: the record, and the places in the user's source. Does not own: the choices (`trace`), or
//! the texts (`explain`, `diagram`).
//!
//! A turn is what a fiber does from one choice to the next. It begins with the operation before
//! which the fiber was stopped, if it was stopped before one. To find a line of the source takes a
//! millisecond. So a run is recorded twice: first without places, then with those that are shown.

use std::collections::HashSet;
use std::env;
use std::panic::Location;
use std::path::Path;
use std::time::{Duration, Instant};

use pirn::dev::sim::{self, Choice, Step};

/// One turn of a fiber.
#[derive(Debug, Clone)]
pub(crate) struct Turn {
    pub(crate) fiber: u32,
    /// The operation at its beginning. None if the fiber begins, has waited, or has yielded.
    pub(crate) step: Option<Step>,
    /// Where the fiber was stopped, or has waited: file and line.
    pub(crate) place: Option<String>,
    /// Where the function of that place was called: file and line.
    pub(crate) caller: Option<String>,
    /// The fiber that has this turn in the canonical schedule.
    pub(crate) usual: u32,
    /// The last case that a select of it took, if that was not the canonical one: its place among
    /// those that were ready, from 1, and their number.
    pub(crate) case: Option<(usize, usize)>,
    /// The fibers that became ready during it.
    pub(crate) readied: Vec<u32>,
    pub(crate) cause: Cause,
    pub(crate) end: End,
}

/// Why fibers became ready during a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The fiber of the turn has woken or spawned them.
    Fiber,
    /// Nothing was ready, so virtual time has passed.
    Time,
}

/// How a turn has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The fiber has stopped before an operation.
    Stops,
    /// It has asked for others to run.
    Yields,
    /// It waits, or has ended.
    Leaves,
}

/// The turns of a run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Turns {
    pub(crate) list: Vec<Turn>,
    /// Where each fiber was spawned, by number.
    pub(crate) spawned: Vec<&'static Location<'static>>,
    /// The turn in which each fiber was spawned, by number; none for the body of the test.
    births: Vec<Option<usize>>,
    /// The turns after those of the list, which is full.
    pub(crate) beyond: u64,
    /// The ready fibers that have not been chosen at the last choice.
    ready: Vec<u32>,
    now: Option<Instant>,
}

impl Turns {
    /// Adds the turn that begins with a choice, and finishes the one before it. Its place is found
    /// if its index is in `places`.
    pub(crate) fn add(
        &mut self,
        choice: &Choice<'_>,
        usual: usize,
        chosen: usize,
        places: &HashSet<usize>,
    ) {
        if self.list.len() == MOST {
            self.beyond += 1;
            return;
        }
        let now = sim::now();
        let before = self.now.replace(now);
        let jumped = before.is_some_and(|before| now - before > LONGEST);
        if let Some(turn) = self.list.last_mut() {
            let others = choice.ready.iter().copied();
            let ready: HashSet<_> = self.ready.iter().copied().collect();
            let is_new = |it: &u32| *it != turn.fiber && !ready.contains(it);
            turn.readied = others.filter(is_new).collect();
            // The fiber itself may be among those that a timer has woken.
            if jumped && self.ready.is_empty() && !choice.can_continue {
                turn.cause = Cause::Time;
                turn.end = End::Leaves;
            } else {
                turn.end = match choice.ready.contains(&turn.fiber) {
                    true if choice.can_continue => End::Stops,
                    true => End::Yields,
                    false => End::Leaves,
                };
            }
        }
        for (index, number) in choice.ready.iter().enumerate() {
            let number = *number as usize;
            while self.spawned.len() <= number {
                self.spawned.push(choice.fibers.spawned_at(index));
                self.births.push(self.list.len().checked_sub(1));
            }
            self.spawned[number] = choice.fibers.spawned_at(index);
        }
        let is_shown = places.contains(&self.list.len());
        let frames = is_shown.then(|| choice.fibers.frames(chosen));
        let mut places = frames.iter().flat_map(|frames| users(frames));
        let (place, caller) = (places.next(), places.next());
        drop(places);
        self.list.push(Turn {
            fiber: choice.ready[chosen],
            step: choice.fibers.step(chosen),
            place,
            caller,
            usual: choice.ready[usual],
            case: None,
            readied: Vec::new(),
            cause: Cause::Fiber,
            end: End::Leaves,
        });
        self.ready = choice.ready.to_vec();
        self.ready.remove(chosen);
    }

    /// Records which of the `count` ready cases a select of the present turn takes, from 0.
    pub(crate) fn pick(&mut self, picked: usize, count: usize) {
        let last = self.list.last_mut().filter(|_| self.beyond == 0);
        if let Some(turn) = last {
            turn.case = Some((picked + 1, count));
        }
    }

    /// Returns the index of the turn in which `fiber` began.
    pub(crate) fn first_of(&self, fiber: u32) -> Option<usize> {
        self.list.iter().position(|turn| turn.fiber == fiber)
    }

    /// Returns true if the fiber of a turn has waited in it, and has resumed later.
    pub(crate) fn waits(&self, index: usize) -> bool {
        let turn = &self.list[index];
        let later = self.list[index + 1..].iter();
        let next = later
            .filter(|it| it.fiber == turn.fiber)
            .map(|it| it.step)
            .next();
        turn.end == End::Leaves && next == Some(None)
    }

    /// Returns the turn in which `fiber` was spawned. None for the body of the test.
    pub(crate) fn spawning(&self, fiber: u32) -> Option<usize> {
        *self.births.get(fiber as usize)?
    }
}

/// More than the time that a choice takes (`trace`). Virtual time has jumped to a timer if more has
/// passed.
const LONGEST: Duration = Duration::from_micros(10);

/// The maximum number of turns of a record. Arbitrary: some megabytes.
const MOST: usize = 100_000;

/// Returns the places of the frames that are of no library, the innermost first: an absolute path and
/// a line.
fn users(frames: &[String]) -> impl Iterator<Item = String> {
    let places = frames.iter().filter_map(|frame| {
        let is_library = |name: &str| LIBRARIES.iter().any(|own| name.starts_with(own));
        if is_library(frame.trim_start_matches('<')) {
            return None;
        }
        let start = frame.rfind(" ./").or(frame.rfind(" /"))?;
        Some(&frame[start + 1..])
    });
    places
        .map(absolute)
        .filter(|place| {
            !place.starts_with("/rustc/")
                && !sources().iter().any(|own| place.contains(own))
        })
        .map(|place| line(&place).to_owned())
}

/// The names of functions of libraries. With little debug information a name has no path.
const LIBRARIES: [&str; 5] = ["pirn::", "pirn_sim::", "core::", "std::", "alloc::"];

/// Returns the directories of the library's sources: the crate `pirn` is beside this one.
fn sources() -> [String; 2] {
    let own = file!().trim_end_matches("turns.rs");
    let runtime = match own.rsplit_once("pirn-sim") {
        Some((parent, rest)) => format!("{parent}pirn{rest}"),
        None => own.to_owned(),
    };
    [runtime, own.to_owned()]
}

fn absolute(place: &str) -> String {
    match place.strip_prefix("./") {
        Some(rest) => {
            let directory = env::current_dir().unwrap_or_default();
            format!("{}/{rest}", directory.display())
        }
        None => place.to_owned(),
    }
}

/// Returns `file:line` of `file:line:column`.
fn line(place: &str) -> &str {
    let parts = place.rsplit_once(':');
    match parts {
        Some((start, last)) if last.parse::<u32>().is_ok() => {
            match start.rsplit_once(':') {
                Some((_, line)) if line.parse::<u32>().is_ok() => start,
                _ => place,
            }
        }
        _ => place,
    }
}

/// Shortens absolute paths to those that the compiler has: from the directory of the workspace on.
#[derive(Debug, Clone)]
pub(crate) struct Root(String);

impl Root {
    /// Returns the root of a workspace with the file `known`, or else the present directory.
    pub(crate) fn of(known: &str) -> Root {
        let directory = env::current_dir().unwrap_or_default();
        let holds = |root: &&Path| root.join(known).exists();
        let root = directory.ancestors().find(holds).unwrap_or(&directory);
        Root(format!("{}/", root.display()))
    }

    pub(crate) fn short<'a>(&self, place: &'a str) -> &'a str {
        place.strip_prefix(&self.0).unwrap_or(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_place_is_found() {
        let own = format!("/x/{}wait/queue.rs:105:30", sources()[0]);
        let frames = [
            "pirn::wait::park /x/park.rs:1:2".to_owned(),
            format!("wait_held<a, b> {own}"),
            "core::call /rustc/59/function.rs:250:5".to_owned(),
            "fold<a, b> /rustc/59/into_iter.rs:328:25".to_owned(),
            "bank::pay::{{closure}} /x/bank/src/pay.rs:14:9".to_owned(),
            "bank::main /x/bank/src/main.rs:3:1".to_owned(),
        ];
        let places: Vec<_> = users(&frames).collect();
        assert_eq!(places, ["/x/bank/src/pay.rs:14", "/x/bank/src/main.rs:3"]);
        assert_eq!(users(&frames[..4]).next(), None);
        assert_eq!(users(&["unknown".to_owned()]).next(), None);
    }

    #[test]
    fn a_column_is_cut() {
        assert_eq!(line("/a/b.rs:14:9"), "/a/b.rs:14");
        assert_eq!(line("/a/b.rs:14"), "/a/b.rs:14");
        assert_eq!(line("b.rs"), "b.rs");
    }
}
