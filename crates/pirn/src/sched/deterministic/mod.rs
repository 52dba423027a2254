//! The worker that takes every choice from a seed, and virtual time.

pub(crate) mod draw;
pub(super) mod hold;
pub(super) mod seeded;
