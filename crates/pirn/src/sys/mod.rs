//! What the runtime asks of the operating system.
//!
//! Owns: putting a thread to sleep and waking it ([`parker`]).
//! Does not own: who sleeps and who is woken (`sched::idle`), or stacks (`context`).

pub(crate) mod parker;

#[cfg(test)]
mod tests;
