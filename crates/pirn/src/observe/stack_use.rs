//! The use of stacks: the high-water mark, and the advice that follows from it.
//!
//! Owns: the advice. Does not own: the search for the mark (`context`), or its output (`diag`, the
//! report at the end, the inspector).

use std::fmt;

use crate::context::HighWater;
use crate::sched::pool::shared::Pool;

/// How deep the stacks of a runtime have been used; see
/// [`Handle::stack_use`](crate::runtime::Handle::stack_use).
///
/// # Examples
/// ```
/// let runtime = pirn::Runtime::builder().workers(1).stack_size(1 << 20).build()?;
/// runtime.run(|| {
///     let bytes = [1_u8; 800 << 10];
///     std::hint::black_box(&bytes);
/// });
/// let stacks = runtime.stack_use();
/// assert!(stacks.touched >= 800 << 10);
/// assert_eq!(stacks.suggested_size(), Some(2 << 20));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StackUse {
    /// The size of a stack in bytes, set by
    /// [`Builder::stack_size`](crate::runtime::Builder::stack_size).
    pub size: usize,
    /// The number of stacks so far, in use or not.
    pub stacks: usize,
    /// Bytes of the deepest stack that have been touched, in whole pages; 0 if no stack has been
    /// used, or the system does not say.
    pub touched: usize,
}

impl StackUse {
    pub(crate) fn of(pool: &Pool) -> StackUse {
        let HighWater {
            size,
            stacks,
            touched,
        } = pool.stack_high_water();
        StackUse {
            size,
            stacks,
            touched,
        }
    }

    /// Returns a better [`Builder::stack_size`](crate::runtime::Builder::stack_size) in bytes;
    /// `None` if the present one is right.
    ///
    /// It is twice the size if more than three quarters of a stack have been touched: the next
    /// release or a rare path may overflow. It is smaller if less than an eighth has been touched
    /// and there are a thousand stacks or more: that saves page tables. With fewer stacks it would
    /// save nothing, since memory is committed only as a stack is touched.
    ///
    /// # Examples
    /// ```
    /// let runtime = pirn::Runtime::builder().workers(1).build()?;
    /// runtime.run(|| ());
    /// assert_eq!(runtime.stack_use().suggested_size(), None);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn suggested_size(&self) -> Option<usize> {
        if self.touched > self.size / 4 * 3 {
            return Some(self.size.saturating_mul(2));
        }
        let less = self.touched.saturating_mul(RESERVE).next_power_of_two();
        let less = less.max(LEAST_SUGGESTED);
        let saves = self.stacks >= MANY && less <= self.size / 2 && self.touched > 0;
        saves.then_some(less)
    }
}

/// Writes the numbers, and the advice if there is some.
impl fmt::Display for StackUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let StackUse {
            size,
            stacks,
            touched,
        } = self;
        write!(
            f,
            "{touched} of {size} bytes touched in the deepest of {stacks}"
        )?;
        match self.suggested_size() {
            Some(more) if more > *size => write!(f, "; set stack_size to {more}"),
            Some(less) => write!(f, "; a stack_size of {less} would do"),
            None => Ok(()),
        }
    }
}

/// A smaller stack has room for this many times the touched bytes. Arbitrary.
const RESERVE: usize = 4;

/// The least size that is suggested. A panic that prints a backtrace touches 20 KiB (measured), and
/// may not have happened so far.
const LEAST_SUGGESTED: usize = 64 * 1024;

/// The number of stacks from which on a smaller size is worth a change. Arbitrary: at the default
/// size, their page tables have 4 MiB.
const MANY: usize = 1_000;

#[cfg(all(test, not(pirn_modelled)))]
mod tests {
    use super::StackUse;

    #[test]
    fn advice_follows_the_mark() {
        let suggested = |stacks, touched: usize| {
            let size = 256 << 10;
            let stacks = StackUse {
                size,
                stacks,
                touched: touched << 10,
            };
            stacks.suggested_size().map(|size| size >> 10)
        };
        assert_eq!(suggested(0, 0), None);
        assert_eq!(suggested(1, 4), None);
        assert_eq!(suggested(999, 4), None);
        assert_eq!(suggested(1_000, 4), Some(64));
        assert_eq!(suggested(1_000, 16), Some(64));
        assert_eq!(suggested(1_000, 20), Some(128));
        assert_eq!(suggested(1_000, 32), Some(128));
        assert_eq!(suggested(1_000, 36), None);
        assert_eq!(suggested(1_000, 192), None);
        assert_eq!(suggested(1_000, 196), Some(512));
        assert_eq!(suggested(1, 256), Some(512));
    }
}
