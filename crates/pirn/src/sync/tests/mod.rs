//! Tests of this room: `model_*` under loom, and random programs against oracles.

#[cfg(loom)]
mod model_permits;
#[cfg(loom)]
mod model_shared_turns;
