//! Two runs in lockstep.
//!
//! Owns: [`Split`] for pairs. A pair is as long as its shorter run. The surplus items of
//! the longer run are never passed on.

use crate::par::Split;

impl<A: Split, B: Split> Split for (A, B) {
    type Item = (A::Item, B::Item);

    #[track_caller]
    fn len(&self) -> usize {
        self.0.len().min(self.1.len())
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        let (a, after_a) = self.0.split_at(index);
        let (b, after_b) = self.1.split_at(index);
        ((a, b), (after_a, after_b))
    }

    fn each(self, f: impl FnMut((A::Item, B::Item))) {
        self.items().for_each(f);
    }

    fn items(self) -> impl Iterator<Item = (A::Item, B::Item)> {
        self.0.items().zip(self.1.items())
    }

    fn parts(self) -> impl Split<Item = (A::Item, B::Item)> {
        (self.0.parts(), self.1.parts())
    }

    fn least(&self) -> usize {
        self.0.least().max(self.1.least())
    }
}
