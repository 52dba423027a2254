//! What users may name of a case.

use crate::wait::choice;

/// Something that can be waited for together with others; see [`Select`](super::Select).
///
/// Implemented by the cases that channels, fibers, timers and so on make; a type of your own
/// becomes one through [`Waitable`](crate::wait::Waitable) and
/// [`wait::case`](crate::wait::case).
pub trait Case: choice::Case {
    /// The case as the engine sees it.
    #[doc(hidden)]
    fn shared(&self) -> &dyn choice::Case;
}

impl<C: choice::Case> Case for C {
    fn shared(&self) -> &dyn choice::Case {
        self
    }
}
