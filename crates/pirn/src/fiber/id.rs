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

    /// Returns the identity with the number of a fiber (`Header::id`). The upper half is 0 once in
    /// 2^32 uses of a header.
    pub(crate) fn of_number(number: u64) -> FiberId {
        FiberId(NonZeroU64::new(number).expect("blocks are numbered from one"))
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

#[cfg(test)]
mod tests {
    use super::FiberId;

    /// A block can be used any number of times: each of its fibers has an identity.
    #[test]
    fn every_use_has_an_identity() {
        let index = 5;
        for uses in [1, u64::from(u32::MAX), 0] {
            let number = uses << 32 | index;
            assert_eq!(FiberId::of_number(number).number(), number);
        }
    }
}
