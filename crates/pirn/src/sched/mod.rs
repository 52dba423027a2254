//! Runs fibers on workers.

pub(crate) mod idle;
pub(crate) mod injector;
pub(crate) mod mailbox;
pub(crate) mod next;
#[expect(
    unsafe_code,
    reason = "slots handed between owner and thieves by positions"
)]
pub(crate) mod ring;

#[cfg(test)]
mod tests;
