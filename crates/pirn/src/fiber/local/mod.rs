//! Fiber-locals: values that belong to a fiber, or to a plain thread.

#[expect(unsafe_code, reason = "values that live as long as their fiber")]
pub(super) mod destroy;
#[expect(unsafe_code, reason = "values that live as long as their fiber")]
mod key;
pub(super) mod values;

pub(crate) use destroy::destroy;
pub(crate) use key::Inheritance;
pub use key::{Borrows, FiberLocal, IsBorrowed};
