//! The worker that takes every choice from a seed, and virtual time.

pub(crate) mod control;
#[expect(unsafe_code, reason = "describes fibers while none runs")]
pub(crate) mod draw;
pub(super) mod hold;
#[expect(unsafe_code, reason = "describes fibers that the worker holds")]
pub(crate) mod run;
pub(super) mod seeded;
