//! What the runtime asks of the operating system.
//!
//! Owns: putting a thread to sleep and waking it ([`parker`]); what the system says of a thread
//! ([`ThreadProbe`]); what is called at the exit, and on a signal.
//! Does not own: who sleeps and who is woken (`sched::idle`), or stacks (`context`).

#[expect(unsafe_code, reason = "the processors of a thread")]
mod affinity;
#[expect(unsafe_code, reason = "atexit")]
mod exit;
#[expect(unsafe_code, reason = "madvise")]
mod memory;
pub(crate) mod parker;
mod probe;
#[expect(unsafe_code, reason = "a signal handler")]
mod quit;
mod threads;

pub(crate) use affinity::pin;
pub(crate) use exit::at_exit;
pub(crate) use memory::advise_huge;
pub(crate) use probe::ThreadProbe;
pub(crate) use quit::on_quit;
pub(crate) use threads::threads;

#[cfg(test)]
mod tests;
