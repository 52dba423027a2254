//! The worker that takes every choice from a seed, and virtual time.

pub(super) mod hold;
pub(crate) mod seeded;
