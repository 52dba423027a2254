//! What the runtime asks of the operating system.
//!
//! Owns: putting a thread to sleep and waking it ([`parker`]), what is called at the exit.
//! Does not own: who sleeps and who is woken (`sched::idle`), or stacks (`context`).

#[expect(unsafe_code, reason = "atexit")]
mod exit;
#[expect(unsafe_code, reason = "madvise")]
mod memory;
pub(crate) mod parker;

pub(crate) use exit::at_exit;
pub(crate) use memory::advise_huge;

#[cfg(test)]
mod tests;
