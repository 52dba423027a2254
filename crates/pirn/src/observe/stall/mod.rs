//! Stalls: fibers that keep their worker's thread while started fibers of that worker wait.
//!
//! Owns: the detection of a stall (`look`), its cause (`cause`), the report (`report`,
//! `reporter`) and its intervals (`lines`), the counts (`counts`), the sample of a thread's
//! frames (`sample`). Does not own: the thread that looks (`sched::policy::sysmon`), nor the
//! system's information on threads (`sys::probe`).
//!
//! Detection needs no answer from a worker, which may be stuck in the kernel, and adds no work
//! to workers. Only the sample, once a stall is known, interrupts the thread by a signal.

mod cause;
mod counts;
mod lines;
mod look;
mod report;
mod reporter;
#[expect(unsafe_code, reason = "reads a header in a signal handler")]
mod sample;
mod watch;

pub(super) use watch::{StallWatch, counts};
