//! The response to a deadlock, as the user sets it.

/// The response to fibers that can never resume.
///
/// # Examples
/// ```
/// use pirn::runtime::Deadlock;
///
/// assert_eq!(Deadlock::default(), Deadlock::Report);
/// let runtime = pirn::Runtime::builder().deadlock(Deadlock::Off).build()?;
/// assert_eq!(runtime.run(|| 7), 7);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Copy, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Deadlock {
    /// Reports it on the standard error stream, once for each such group of fibers.
    #[default]
    Report,
    /// Reports it, and ends the process with exit code 124.
    Abort,
    /// Does nothing, and does not look for such fibers.
    Off,
}
