//! A runtime that knows one of tokio's.

use std::any::Any;
use std::sync::Arc;

use super::builder::Builder;
use super::handle::Handle;

impl Builder {
    /// Has fibers of this runtime use that runtime of tokio's, where they say so
    /// ([`future::tokio::compat`](crate::future::tokio::compat)).
    ///
    /// It is not kept alive by this, and what needs its timers and sockets fails when it has ended.
    pub fn tokio(mut self, handle: tokio::runtime::Handle) -> Builder {
        self.attached = Some(Arc::new(handle) as Arc<dyn Any + Send + Sync>);
        self
    }
}

impl Handle {
    /// The runtime of tokio's that this one was given.
    pub(crate) fn tokio(&self) -> Option<&tokio::runtime::Handle> {
        self.pool().attached()?.downcast_ref()
    }
}
