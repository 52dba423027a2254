//! A runtime with an attached tokio runtime.

use std::any::Any;
use std::sync::Arc;

use super::builder::Builder;
use super::handle::Handle;

impl Builder {
    /// Sets the tokio runtime that fibers of this runtime use in
    /// [`future::tokio::compat`](crate::future::tokio::compat).
    ///
    /// The handle does not keep that runtime alive. When it has ended, operations that need its
    /// timers and sockets fail.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    ///
    /// use pirn::future::{tokio::compat, wait};
    ///
    /// let theirs = tokio::runtime::Runtime::new()?;
    /// let runtime = pirn::Runtime::builder().tokio(theirs.handle().clone()).build()?;
    /// let slept = runtime.run(|| {
    ///     wait(compat(async { tokio::time::sleep(Duration::from_millis(1)).await }))
    /// });
    /// assert_eq!(slept, Ok(()));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn tokio(mut self, handle: tokio::runtime::Handle) -> Builder {
        self.attached = Some(Arc::new(handle) as Arc<dyn Any + Send + Sync>);
        self
    }
}

impl Handle {
    /// Returns the tokio runtime given to the builder.
    pub(crate) fn tokio(&self) -> Option<&tokio::runtime::Handle> {
        self.pool().attached()?.downcast_ref()
    }
}
