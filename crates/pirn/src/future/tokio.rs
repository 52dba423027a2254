//! Futures that need tokio: its context is entered for each poll, and never across one.
//!
//! Owns: the step into tokio's context. Does not own: tokio, which has threads and a runtime of its own; they
//! are the user's.
//!
//! tokio keeps its context in a thread-local and has it entered and left like frames of a stack. A fiber
//! that waited between the two would leave it to the other fibers of its thread. So it is entered inside a
//! poll only, where no fiber waits (`wait::polling`), and for the drop of the future.

use std::fmt;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::Handle;

use crate::runtime;
use crate::wait::polling::within;

/// A future in tokio's context; made by [`compat`].
#[must_use = "a future does nothing unless it is polled"]
pub struct Compat<F> {
    handle: Handle,
    /// Pinned with the whole. Taken by `drop`.
    future: ManuallyDrop<F>,
}

/// Returns `future`, which may use tokio's timers and sockets, and `tokio::spawn`, though it is polled elsewhere.
///
/// The context is that of the tokio runtime which the caller's runtime was given
/// ([`Builder::tokio`](crate::runtime::Builder::tokio)); else the one that the thread is in. It is entered
/// for each poll, and for the drop of the future. What needs it must be made inside the
/// future: `compat(async { tokio::time::sleep(limit).await })`.
///
/// # Panics
/// If there is no such runtime. The polls, if that has no drivers for what they need.
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
        future: ManuallyDrop::new(future),
    }
}

/// Calls `f`, which must not wait, in tokio's context, and returns what it returns.
///
/// The context is the one that [`compat`] finds. This is for what is not done by polls: to make, and above
/// all to drop, what came out of a future and needs the context still. A pooled connection that spawns the task of
/// its return is such a thing: dropped elsewhere, it may panic.
///
/// # Panics
/// If there is no such runtime. On a fiber, if `f` would have to wait.
///
/// # Cancellation
/// Not an interruption point; never suspends.
///
/// # Examples
/// ```
/// use pirn::future::tokio::enter;
///
/// /// Says good-bye in a task, as connections do.
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
        // UNWIND: left on every way out.
        let _inside = handle.enter();
        f()
    })
}

/// The runtime that the caller's knows, or that the thread is in.
#[track_caller]
fn known() -> Handle {
    let given = runtime::Handle::try_current().and_then(|handle| handle.tokio().cloned());
    match given.or_else(|| Handle::try_current().ok()) {
        Some(handle) => handle,
        None => panic!(
            "no tokio runtime here: give this one a handle (`pirn::runtime::Builder::tokio`), or \
             call inside `Handle::enter` of tokio's"
        ),
    }
}

impl<F: Future> Future for Compat<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: nothing is moved out of it: `future` is pinned again below.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: it lies in what is pinned, and is dropped where it lies.
        let future = unsafe { Pin::new_unchecked(&mut *this.future) };
        within(|| {
            // UNWIND: left before the poll is, on every way out.
            let _inside = this.handle.enter();
            future.poll(context)
        })
    }
}

impl<F> Drop for Compat<F> {
    fn drop(&mut self) {
        within(|| {
            let _inside = self.handle.enter();
            // SAFETY: once, here; and where it lies, as what is pinned must be.
            unsafe { ManuallyDrop::drop(&mut self.future) };
        });
    }
}

impl<F> fmt::Debug for Compat<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compat").finish_non_exhaustive()
    }
}
