//! Queues of fibers that may run. They know no worker.

pub(crate) mod inbox;
#[expect(unsafe_code, reason = "hands queued headers between threads")]
pub(crate) mod injector;
pub(crate) mod next_slot;
#[expect(
    unsafe_code,
    reason = "slots handed between owner and thieves by positions"
)]
pub(crate) mod ring;
