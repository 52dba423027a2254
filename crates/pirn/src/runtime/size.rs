//! A runtime's size, while it runs.

use std::num::NonZeroUsize;

use super::handle::Handle;

impl Handle {
    /// Has the runtime run `workers` workers from now on, or as many as it can have, if
    /// that is less: 64, or the number that it was built with rounded up to a multiple of 64.
    ///
    /// With more, the new ones start when there is work for them. With fewer, the ones that
    /// are too many take nothing new; each ends when the last fiber that started there has
    /// ended, about a second later. No fiber is lost or moved.
    ///
    /// # Panics
    /// On a deterministic runtime, which has one worker, and on one without workers.
    ///
    /// # Cancellation
    /// Not an interruption point; does not wait for the workers.
    pub fn set_workers(&self, workers: NonZeroUsize) {
        assert!(
            self.pool().can_resize(),
            "this runtime cannot have another number of workers"
        );
        self.pool().resize(workers.get());
    }

    /// How many workers the runtime is meant to run.
    #[must_use]
    pub fn workers(&self) -> usize {
        match self.pool().is_by_hand() {
            true => 0,
            false => self.pool().workers(),
        }
    }
}
