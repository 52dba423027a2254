//! Tests of this module: `model_*` under loom.

#[cfg(loom)]
#[expect(unsafe_code, reason = "a cell that loom watches is shared")]
mod fixture;
#[cfg(loom)]
mod model_permits;
#[cfg(loom)]
mod model_shared_turns;
