//! The public trait of cases.

use crate::wait::choice;

/// An event that a select can wait for together with others; see [`Select`](super::Select).
///
/// It is implemented by the cases of channels, fibers, timers and so on. Other types become cases
/// through [`Waitable`](crate::wait::Waitable) and [`wait::case`](crate::wait::case).
pub trait Case: choice::Case {
    /// Returns the case as the engine's trait object.
    #[doc(hidden)]
    fn shared(&self) -> &dyn choice::Case;
}

impl<C: choice::Case> Case for C {
    fn shared(&self) -> &dyn choice::Case {
        self
    }
}
