//! Tests of this module: `model_*` under loom, the others on the machine.

#[cfg(loom)]
mod model_countdown;

#[cfg(not(any(loom, shuttle)))]
mod plan;
