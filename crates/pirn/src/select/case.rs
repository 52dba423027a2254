//! The public trait of cases.

use crate::wait::choice;

/// An event that a select can wait for together with others; see [`Select`](super::Select).
///
/// It is implemented by the cases of channels, fibers, timers and so on. Other types become cases
/// through [`Waitable`](crate::wait::Waitable) and [`wait::case`](crate::wait::case).
///
/// # Examples
/// ```
/// use pirn::channel;
/// use pirn::select::{Case, Select};
/// use std::time::Duration;
///
/// let (tx, rx) = channel::bounded(1);
/// tx.send(7).unwrap();
/// let mut value = rx.recv_case();
/// let mut limit = pirn::time::after_case(Duration::from_secs(60));
/// let cases: [&mut dyn Case; 2] = [&mut value, &mut limit];
/// let mut select = Select::new();
/// for case in cases {
///     select.add(case);
/// }
/// assert_eq!(select.wait(), Ok(0));
/// assert_eq!(value.take(), Ok(7));
/// ```
#[doc(alias = "SelectCase")]
#[doc(alias = "SelectHandle")]
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
