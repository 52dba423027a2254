//! Queues of fibers that may run. They know no worker.

#[expect(unsafe_code, reason = "a word that is a queued header")]
pub(crate) mod inbox;
#[expect(unsafe_code, reason = "hands queued headers between threads")]
pub(crate) mod injector;
#[expect(unsafe_code, reason = "a word that is a queued header")]
pub(crate) mod next_slot;
#[expect(
    unsafe_code,
    reason = "slots handed between owner and thieves by positions"
)]
pub(crate) mod ring;
