//! The state of a thread, as the system reports it: the result of a probe.

/// The activity of a thread, as the system sees it.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
#[cfg_attr(
    not(all(target_os = "linux", not(pirn_modelled))),
    expect(dead_code, reason = "nothing is known of threads there")
)]
pub(crate) enum Activity {
    /// The thread runs, or waits for a processor.
    Runs,
    /// The thread waits in the system.
    Waits,
    /// A debugger or a signal has stopped it, or it ends.
    Stopped,
}
