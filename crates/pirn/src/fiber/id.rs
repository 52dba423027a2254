//! Identities: the numbers of fibers in reports.

use std::fmt;
use std::num::NonZeroU64;

/// A unique identifier, within the process, of a fiber or of a plain thread that waits like one.
///
/// # Examples
/// ```
/// use std::collections::HashSet;
///
/// let fibers: Vec<_> = (0..3).map(|_| pirn::spawn(|| pirn::current().id())).collect();
/// let ids: HashSet<_> = fibers.into_iter().map(|fiber| fiber.join().unwrap()).collect();
/// assert_eq!(ids.len(), 3);
/// ```
#[doc(alias = "ThreadId")]
#[doc(alias = "task::Id")]
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FiberId(NonZeroU64);

impl FiberId {
    /// Returns the identity with this number, if a fiber ever had it: the upper half counts the
    /// fibers that have used one header, from one.
    pub(crate) fn from_number(number: u64) -> Option<FiberId> {
        NonZeroU64::new(number)
            .filter(|id| id.get() >> 32 != 0)
            .map(FiberId)
    }

    pub(crate) fn number(self) -> u64 {
        self.0.get()
    }
}

impl fmt::Debug for FiberId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FiberId({})", self.0)
    }
}

impl fmt::Display for FiberId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
