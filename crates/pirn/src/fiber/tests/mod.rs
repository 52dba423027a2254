//! Tests of this room: `model_*` under loom.

#[cfg(loom)]
mod model_broken;
#[cfg(loom)]
mod model_state;
#[cfg(loom)]
mod model_token;
#[cfg(loom)]
#[expect(unsafe_code, reason = "a cell that the word under test must guard")]
mod rig;
