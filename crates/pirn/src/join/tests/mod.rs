//! Tests of this module: `model_*` under loom.

#[cfg(loom)]
#[expect(unsafe_code, reason = "makes fibers and handles by hand")]
mod model_joined;
