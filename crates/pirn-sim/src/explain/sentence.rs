//! One sentence, and the places in it.

use std::collections::HashSet;
use std::panic::Location;

use super::scene::Scene;
use crate::turns::Turn;

/// A sentence of a report. The path of a file is written once.
pub(super) struct Sentence<'a> {
    scene: &'a Scene<'a>,
    pub(super) text: String,
    file: String,
}

impl<'a> Sentence<'a> {
    pub(super) fn new(scene: &'a Scene<'a>) -> Sentence<'a> {
        Sentence {
            scene,
            text: String::new(),
            file: String::new(),
        }
    }

    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds `file:line`, or `:line` if the last file was the same.
    pub(super) fn place(&mut self, place: &str) {
        let place = self.scene.root.short(place);
        match place.rsplit_once(':') {
            Some((file, line)) if file == self.file => {
                self.text.push(':');
                self.text.push_str(line);
            }
            Some((file, _)) => {
                self.file = file.to_owned();
                self.text.push_str(place);
            }
            None => self.text.push_str(place),
        }
    }

    /// Adds an operation with its object and its place.
    pub(super) fn operation(&mut self, index: usize) {
        let operation = self.scene.operation(index);
        self.text.push_str(&operation.unwrap_or_default());
        let turn = &self.scene.turns.list[index];
        if turn.place.is_some() {
            self.text.push_str(" (");
            self.site(turn);
            self.text.push(')');
        }
    }

    /// Adds the place of a turn, if it is known, and where its function was called, unless the fiber
    /// was spawned there.
    pub(super) fn site(&mut self, turn: &Turn) {
        let Some(place) = &turn.place else {
            return;
        };
        self.place(place);
        let spawned = self.scene.turns.spawned.get(turn.fiber as usize);
        let root = &self.scene.root;
        let is_spawn = |caller: &str| {
            spawned.is_some_and(|at| root.short(caller) == root.short(&line_of(at)))
        };
        if let Some(caller) = turn.caller.as_deref().filter(|caller| !is_spawn(caller)) {
            self.text.push_str(", called at ");
            self.place(caller);
        }
    }

    /// Adds the number of a fiber, and where it is from if it is not in `known` yet.
    pub(super) fn fiber(&mut self, fiber: u32, known: &mut HashSet<u32>) {
        self.push(&format!("fiber {fiber}"));
        if known.insert(fiber) {
            self.push(" (");
            self.origin(fiber);
            self.push(")");
        }
    }

    /// Adds where a fiber is from.
    pub(super) fn origin(&mut self, fiber: u32) {
        match self.scene.turns.spawned.get(fiber as usize) {
            _ if fiber == 0 => self.text.push_str("the body of the test"),
            Some(at) => {
                self.text.push_str("spawned at ");
                self.place(&line_of(at));
            }
            None => self.text.push_str("spawned at an unknown place"),
        }
    }
}

/// Returns `file:line`.
pub(super) fn line_of(location: &Location<'_>) -> String {
    format!("{}:{}", location.file(), location.line())
}
