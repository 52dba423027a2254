//! The order in which the cases of a choice are visited.

use crate::wait::clock::random_below;

/// The preference when several cases are possible.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Order {
    Random,
    First,
}

/// The order of a pass: as given, or shuffled lazily.
pub(super) struct Sequence {
    order: Order,
    few: [u16; FEW],
    many: Vec<u16>,
    len: usize,
}

impl Sequence {
    /// Creates a sequence with `first` in the first place. It is not requested if it has been
    /// visited before.
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

    /// Returns the case of this step; every step is requested once, in order.
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

    /// Returns the case of a step that was requested before.
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

/// Up to this many cases need no heap memory.
const FEW: usize = 16;
