//! Tests of this module: models of the ring under loom.

#[cfg(loom)]
mod model_events;
