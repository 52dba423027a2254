//! No record: steps are not checked.

use super::name::State;

/// No record.
#[derive(Debug)]
pub(crate) struct Life;

impl Life {
    pub(crate) fn new() -> Life {
        Life
    }

    #[inline(always)]
    pub(crate) fn begin(&self) {}

    #[inline(always)]
    pub(crate) fn exempt(&self) {}

    #[inline(always)]
    pub(crate) fn step(&self, _next: State) {}

    #[inline(always)]
    pub(crate) fn parked(&self) {}

    #[inline(always)]
    pub(crate) fn unrun(&self) {}

    #[inline(always)]
    pub(crate) fn end(&self) {}
}
