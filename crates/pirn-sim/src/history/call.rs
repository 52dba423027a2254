//! One operation of a history.
//!
//! Owns: its events and its result. Does not own: how they are recorded (`log`).

use std::sync::Arc;

use super::model::Model;

/// One operation. Its events are numbers of one sequence for the whole history.
pub(super) struct Call<M: Model> {
    pub(super) client: usize,
    pub(super) op: Arc<M::Op>,
    /// The event of its invocation.
    pub(super) invoked: usize,
    /// The event of its return, and its result.
    pub(super) returned: Option<(usize, Arc<M::Ret>)>,
}

impl<M: Model> Call<M> {
    /// Returns the event of the return and the result, if the call returned before the event
    /// `until`.
    pub(super) fn returned(&self, until: usize) -> Option<(usize, &M::Ret)> {
        let (at, ret) = self.returned.as_ref()?;
        (*at < until).then_some((*at, &**ret))
    }
}

impl<M: Model> Clone for Call<M> {
    fn clone(&self) -> Call<M> {
        Call {
            client: self.client,
            op: Arc::clone(&self.op),
            invoked: self.invoked,
            returned: self.returned.clone(),
        }
    }
}
