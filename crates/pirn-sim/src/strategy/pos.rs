//! Partial-order sampling.

use fastrand::Rng;
use pirn::dev::sim::{Choice, Choose};

use super::conflict::conflicts;
use super::patience::Patience;

/// The ready fiber runs that has the next step of highest priority. Each step gets a random
/// priority when it is first pending, and a new one after a step of another fiber that conflicts
/// with it. So orders of steps that conflict are drawn, and the other steps take no part in that. A
/// fiber that asks for others to run goes last.
#[derive(Debug)]
pub(super) struct Pos {
    rng: Rng,
    /// Of the pending step of each fiber, by number of the fiber; higher runs first. None if that
    /// is not drawn yet.
    priorities: Vec<Option<i64>>,
    /// The next lower priority than all others.
    lowest: i64,
    patience: Patience,
}

impl Pos {
    pub(super) fn new(rng: Rng) -> Pos {
        Pos {
            rng,
            priorities: Vec::new(),
            lowest: 0,
            patience: Patience::default(),
        }
    }

    /// Returns the index of the ready fiber with the highest priority.
    fn highest(&mut self, ready: &[u32]) -> usize {
        let mut highest = (0, i64::MIN);
        for (index, number) in ready.iter().enumerate() {
            let rng = &mut self.rng;
            let own = &mut self.priorities[*number as usize];
            let own = *own.get_or_insert_with(|| rng.i64(1..));
            if own > highest.1 {
                highest = (index, own);
            }
        }
        highest.0
    }
}

impl Choose for Pos {
    fn choose(&mut self, choice: &Choice<'_>) -> usize {
        let ready = choice.ready;
        let known = ready.iter().max().map_or(0, |most| *most as usize + 1);
        if self.priorities.len() < known {
            self.priorities.resize(known, None);
        }
        let asks = choice
            .last
            .filter(|last| !choice.can_continue && ready.contains(last));
        if let Some(last) = asks {
            self.lowest -= 1;
            self.priorities[last as usize] = Some(self.lowest);
        }
        let chosen = match self.patience.is_over(choice) {
            true => 0,
            false => self.highest(ready),
        };
        self.priorities[ready[chosen] as usize] = None;
        if let Some(step) = choice.fibers.step(chosen) {
            for (index, number) in ready.iter().enumerate() {
                let other = choice.fibers.step(index);
                if other.is_some_and(|other| conflicts(step, other)) {
                    self.priorities[*number as usize] = None;
                }
            }
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use pirn::dev::sim::Operation;

    use super::*;
    use crate::strategy::fake::{Fake, step};

    #[test]
    fn the_order_of_other_steps_stays() {
        // Fiber 0 stops before one object again and again. The others stop before another one.
        for seed in 0..100 {
            let mut pos = Pos::new(Rng::with_seed(seed));
            let steps = [1, 2, 2].map(|object| Some(step(Operation::Lock, object)));
            let fibers = Fake(steps.to_vec());
            let _ = pos.choose(&fibers.choice(&[0, 1, 2], None, false));
            let before = pos.priorities.clone();
            let chosen = pos.choose(&fibers.choice(&[0, 1, 2], Some(0), true));
            let stays = |number: usize| {
                before[number].is_none() || before[number] == pos.priorities[number]
            };
            match chosen {
                0 => assert!(stays(1) && stays(2), "they do not conflict"),
                _ => {
                    assert!(stays(0), "it conflicts with none");
                    assert_eq!(pos.priorities[1..], [None, None], "both are drawn again");
                }
            }
        }
    }

    #[test]
    fn a_fiber_that_asks_for_others_goes_last() {
        for seed in 0..100 {
            let mut pos = Pos::new(Rng::with_seed(seed));
            let fibers = Fake(vec![None; 2]);
            let first = pos.choose(&fibers.choice(&[0, 1], None, false));
            let last = Some(first as u32);
            let next = pos.choose(&fibers.choice(&[0, 1], last, false));
            assert_ne!(next, first);
        }
    }

    #[test]
    fn each_fiber_runs_at_last() {
        // The others have new priorities for each step; fiber 2 waits for its own.
        let mut pos = Pos::new(Rng::with_seed(7));
        let fibers = Fake(vec![Some(step(Operation::Point, 0)); 3]);
        let mut last = None;
        let mut runs = [0; 3];
        for _ in 0..10_000 {
            let chosen = pos.choose(&fibers.choice(&[0, 1, 2], last, last.is_some()));
            runs[chosen] += 1;
            last = Some(chosen as u32);
        }
        assert!(runs.iter().all(|it| *it > 0), "{runs:?}");
    }
}
