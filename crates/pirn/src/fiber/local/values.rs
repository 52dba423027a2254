//! The values of one fiber, in a list that its header points to.

use std::any::Any;

/// All locals of one fiber: there are few, so a list is faster than a map.
pub(crate) struct Locals(pub(super) Vec<Entry>);

pub(super) struct Entry {
    pub(super) key: usize,
    /// A value of the key's type, or a [`NoCopy`].
    pub(super) value: Box<dyn Any>,
    /// Creates the initial value of a child.
    pub(super) inherit: Option<Inherit>,
    /// Dropped when the fiber runs no user code any more.
    pub(super) lasting: bool,
}

/// How to copy a value.
#[derive(Copy, Clone)]
pub(super) struct Inherit {
    pub(super) copy: fn(&dyn Any) -> Box<dyn Any>,
    /// Whether the value is a `RefCell` that is mutably borrowed, so that a copy panics.
    pub(super) is_borrowed: fn(&dyn Any) -> bool,
}

/// The value of a fiber for which none could be copied, with the reason.
pub(super) struct NoCopy(pub(super) String);
