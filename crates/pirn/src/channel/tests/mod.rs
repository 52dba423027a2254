//! Tests that access the inside of channels.

#[cfg(not(any(loom, shuttle)))]
mod answers;
#[cfg(not(any(loom, shuttle)))]
mod crowd;

#[cfg(loom)]
mod model_oneshot;
#[cfg(loom)]
mod model_pipe;
#[cfg(loom)]
mod model_select;
#[cfg(loom)]
mod stage;
