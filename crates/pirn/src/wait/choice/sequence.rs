//! In which order the cases of a choice are visited.

use super::engine::Order;
use crate::wait::clock::random_below;

/// The order in which cases are visited: as they come, or shuffled as it is asked for.
pub(super) struct Sequence {
    order: Order,
    few: [u16; FEW],
    many: Vec<u16>,
    len: usize,
}

impl Sequence {
    /// `first` is in the first place, and is not asked for if it has been visited before.
    pub(super) fn new(len: usize, order: Order, first: usize) -> Self {
        let mut sequence = Sequence {
            order,
            few: [0; FEW],
            many: Vec::new(),
            len,
        };
        if order == Order::Random {
            if len > FEW {
                sequence.many = (0..len as u16).collect();
            } else {
                (0..len).for_each(|i| sequence.few[i] = i as u16);
            }
            sequence.places().swap(0, first);
        }
        sequence
    }

    /// The case of this step; every step is asked for once, in order.
    #[inline]
    pub(super) fn at(&mut self, step: usize) -> usize {
        if self.order == Order::First {
            return step;
        }
        let other = step + random_below(self.len - step);
        let places = self.places();
        places.swap(step, other);
        usize::from(places[step])
    }

    /// The case of a step that was asked for before.
    pub(super) fn get(&mut self, step: usize) -> usize {
        match self.order {
            Order::First => step,
            Order::Random => usize::from(self.places()[step]),
        }
    }

    fn places(&mut self) -> &mut [u16] {
        if self.len > FEW {
            &mut self.many
        } else {
            &mut self.few
        }
    }
}

/// A choice between so many cases needs no memory of its own.
const FEW: usize = 16;
