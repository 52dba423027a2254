//! Tests of this module: `model_*` under loom.

#[cfg(loom)]
#[expect(
    unsafe_code,
    reason = "makes fibers by hand, and ends a frame that they point to"
)]
mod model_children;
