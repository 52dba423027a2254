//! Stacks: their memory and guards, the pool, and the cache of a worker.

mod cache;
#[cfg(feature = "diagnostics")]
#[path = "canary_on.rs"]
#[expect(unsafe_code, reason = "the lowest words of a stack")]
mod canary;
#[cfg(not(feature = "diagnostics"))]
#[path = "canary_none.rs"]
mod canary;
mod class;
#[expect(
    unsafe_code,
    reason = "opens, guards and gives back the memory of slots"
)]
mod extent;
mod high_water;
pub(super) mod layout;
mod out_of_stacks;
#[expect(unsafe_code, reason = "unmaps the reservations when no stack is out")]
mod pool;
#[expect(unsafe_code, reason = "a list that a signal handler reads")]
pub(super) mod region;
#[expect(unsafe_code, reason = "reaches the record at the top of a stack")]
mod stack;
mod touched;

pub(crate) use cache::StackCache;
pub(crate) use high_water::HighWater;
pub(crate) use out_of_stacks::OutOfStacks;
pub(crate) use pool::{StackConfig, StackPool};
pub(crate) use region::stack_at;
pub(crate) use stack::Stack;
