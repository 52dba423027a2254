//! Futures that need tokio: each poll enters tokio's context and leaves it again.

// Owns: entering tokio's context. Does not own: tokio, its threads and its runtime; they are the
// user's.
//
// tokio keeps its context in a thread-local that is entered and left in stack order. A fiber that
// waited in between would leave its context to the other fibers of its thread. So the context is
// entered only inside a poll, where no fiber waits (`wait::polling`), and for the drop of the
// future.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use tokio::runtime::Handle;

use crate::runtime;
use crate::wait::polling::within;

pin_project! {
    /// A future that is polled, and dropped, in tokio's context; created by [`compat`].
    ///
    /// # Examples
    /// ```
    /// use pirn::future::{block_on, tokio::{Compat, compat}};
    ///
    /// let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build()?;
    /// let _inside = runtime.enter();
    /// let future: Compat<_> = compat(async { tokio::spawn(async { 6 * 7 }).await });
    /// assert_eq!(block_on(future)?, 42);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use = "a future does nothing unless it is polled"]
    pub struct Compat<F> {
        handle: Handle,
        // None once `drop` has dropped it.
        #[pin]
        future: Option<F>,
    }

    impl<F> PinnedDrop for Compat<F> {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            within(|| {
                // A panic here would abort the process while a panic of `poll` unwinds.
                let _inside = may_enter().then(|| this.handle.enter());
                this.future.set(None);
            });
        }
    }
}

/// Returns a future that may use tokio's timers and sockets, and `tokio::spawn`, on any executor.
///
/// The context is that of the tokio runtime that the caller's runtime was built with
/// ([`Builder::tokio`](crate::runtime::Builder::tokio)), else the one that the thread is in, else
/// that of the default runtime. (A dispatcher has no tokio runtime of its own.) It is entered for
/// each poll, and for the drop of the future. Objects that need the context must be created inside
/// the future: `compat(async { tokio::time::sleep(limit).await })`.
///
/// # Panics
/// If there is no such runtime. Polls panic if that runtime lacks the drivers they need, and on a
/// thread that has dropped tokio's thread-local context already: in a later destructor of a
/// thread-local, and in a handler of `atexit`. There, the drop enters no context.
///
/// # Cancellation
/// Not an interruption point; never suspends.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use pirn::future::{tokio::compat, wait};
///
/// let tokio = tokio::runtime::Builder::new_multi_thread()
///     .worker_threads(1)
///     .enable_all()
///     .build()?;
/// let runtime = pirn::Runtime::builder().tokio(tokio.handle().clone()).build()?;
/// runtime.run(|| {
///     let slept = compat(async {
///         tokio::time::sleep(Duration::from_millis(1)).await;
///         tokio::spawn(async { 6 * 7 }).await
///     });
///     assert_eq!(wait(slept).unwrap().unwrap(), 42);
/// });
/// # Ok::<(), std::io::Error>(())
/// ```
#[track_caller]
pub fn compat<F: Future>(future: F) -> Compat<F> {
    Compat {
        handle: known(),
        future: Some(future),
    }
}

/// Calls `f`, which must not wait, in tokio's context, and returns its result.
///
/// The context is the one that [`compat`] finds. This is for code outside polls that creates, and
/// above all drops, values that still need the context. A pooled connection that spawns the task of
/// its return is an example: dropped elsewhere, it may panic.
///
/// # Panics
/// If there is no such runtime. On a fiber, if `f` would have to wait. On a thread that
/// has dropped tokio's thread-local context already (see [`compat`]).
///
/// # Cancellation
/// Not an interruption point; never suspends.
///
/// # Examples
/// ```
/// use pirn::future::tokio::enter;
///
/// /// Spawns a task when dropped, as connections do.
/// struct Connection;
///
/// impl Drop for Connection {
///     fn drop(&mut self) {
///         tokio::spawn(async {});
///     }
/// }
///
/// let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build()?;
/// let runtime = pirn::Runtime::builder().tokio(tokio.handle().clone()).build()?;
/// runtime.run(|| {
///     let connection = Connection;
///     enter(|| drop(connection));
/// });
/// # Ok::<(), std::io::Error>(())
/// ```
#[track_caller]
pub fn enter<T>(f: impl FnOnce() -> T) -> T {
    let handle = known();
    within(|| {
        // UNWIND: left on every path.
        let _inside = handle.enter();
        f()
    })
}

/// Returns the tokio runtime of the caller's runtime, else the one that the thread is in, else that
/// of the default runtime: a dispatcher has none.
#[track_caller]
fn known() -> Handle {
    let of = |handle: runtime::Handle| handle.tokio().cloned();
    let default = || runtime::Handle::existing_default().and_then(of);
    let given = runtime::Handle::try_current().and_then(of);
    match given
        .or_else(|| Handle::try_current().ok())
        .or_else(default)
    {
        Some(handle) => handle,
        None => panic!(
            "no tokio runtime here: build the runtime of this fiber, or install the default one, \
             with `pirn::runtime::Builder::tokio`; on a plain thread, enter tokio's runtime"
        ),
    }
}

/// Returns false if the thread has dropped tokio's thread-local, so that `Handle::enter` panics.
fn may_enter() -> bool {
    !Handle::try_current().is_err_and(|error| error.is_thread_local_destroyed())
}

impl<F: Future> Future for Compat<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let Some(future) = this.future.as_pin_mut() else {
            unreachable!("only `drop` takes the future");
        };
        within(|| {
            // UNWIND: left before the poll ends, on every path.
            let _inside = this.handle.enter();
            future.poll(context)
        })
    }
}

impl<F> fmt::Debug for Compat<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compat").finish_non_exhaustive()
    }
}
