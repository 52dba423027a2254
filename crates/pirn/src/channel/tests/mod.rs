//! Tests that see the inside of channels: models.

#[cfg(loom)]
mod model_oneshot;
#[cfg(loom)]
mod model_pipe;
#[cfg(loom)]
mod model_select;
#[cfg(loom)]
mod stage;
