//! Tests of this module, and helpers that tests of other modules use: [`node`], a stand-in for a
//! fiber, and `explore`, which runs a model.

#[expect(
    unsafe_code,
    reason = "a node's payload and links, as a header has them"
)]
pub(crate) mod node;

#[cfg(loom)]
pub(crate) mod explore;
#[cfg(loom)]
mod model_bits;

#[cfg(not(any(loom, shuttle)))]
mod bits;
#[cfg(not(any(loom, shuttle)))]
#[expect(unsafe_code, reason = "insertion into a doubly linked list")]
mod list;
#[cfg(not(any(loom, shuttle)))]
mod numbers;
#[allow(dead_code, reason = "models measure nothing")]
pub(crate) mod unmeasured;
