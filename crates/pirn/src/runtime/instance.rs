//! A runtime as a value, which ends when it is dropped.

use std::error::Error;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use super::handle::Handle;
use crate::fiber::current;
use crate::report::fiber_info::FiberInfo;
use crate::sched::pool::shared::Pool;
use crate::wait::polling;

/// A set of workers that run fibers.
///
/// Most programs need none of their own: [`spawn`](crate::spawn()) and [`run`](crate::run) create a
/// default one. Several may coexist, and their fibers may use the same channels and locks.
///
/// When a runtime is dropped, it accepts no more fibers from outside and waits until every fiber
/// has ended, including those that its fibers still spawn. If the drop is part of a panic that
/// began in the runtime's lifetime, it cancels the fibers first, as a scope does: the events that
/// they wait for may never happen. If one of its own fibers drops it, it cancels all of them and
/// does not wait. Nor does a drop inside the poll of a future, which cancels none.
///
/// A runtime [without workers](super::Builder::workers) is driven by its drop, on the thread that
/// has driven it, or on any thread if none has. On another thread the drop waits until the bound
/// thread drives, or ends. A bound thread that ends first cancels the fibers that have started
/// there.
///
/// # Blocking
/// The drop waits without a time limit: indefinitely, if a fiber never ends, or waits for the
/// caller that drops the runtime. It is not an interruption point. It parks a fiber of another
/// runtime and blocks a plain thread. At the end it blocks the thread in either case until the
/// workers' threads have ended, which includes `on_thread_stop` and the destructors of
/// thread-locals. [`shutdown`](Runtime::shutdown) has a time limit.
///
/// # Examples
/// ```
/// let runtime = pirn::Runtime::builder().workers(2).build()?;
/// let (tx, rx) = pirn::channel::unbounded();
/// drop(runtime.spawn(move || tx.send(7)));
/// drop(runtime); // waits for the fiber
/// assert_eq!(rx.recv(), Ok(7));
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc(alias = "ThreadPool")]
pub struct Runtime {
    handle: Handle,
    /// `shutdown` has been called, so `drop` has nothing to do.
    ended: bool,
    /// It was created while a panic unwound: that panic does not cancel its fibers.
    made_unwinding: bool,
}

/// The error of [`Runtime::shutdown`]: the fibers that had not ended when it timed out.
///
/// # Examples
/// ```
/// use std::time::Duration;
///
/// let runtime = pirn::Runtime::builder().workers(1).build()?;
/// let (started, waits) = pirn::channel::bounded(1);
/// let fiber = runtime.spawn(move || {
///     started.send(()).unwrap();
///     pirn::park(); // not an interruption point
/// });
/// waits.recv().unwrap();
/// let unfinished = runtime.shutdown(Duration::from_millis(1)).unwrap_err();
/// assert!(unfinished.to_string().contains("did not end in time"));
/// fiber.fiber().unpark();
/// # fiber.join().unwrap();
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Unfinished {
    fibers: Vec<FiberInfo>,
}

impl Runtime {
    pub(super) fn of(pool: Arc<Pool>) -> Runtime {
        Runtime {
            handle: Handle::of(pool),
            ended: false,
            made_unwinding: current::is_unwinding(current::local()),
        }
    }

    /// Returns a handle to this runtime.
    ///
    /// # Examples
    /// ```
    /// let runtime = pirn::Runtime::new()?;
    /// let handle = runtime.handle();
    /// assert_eq!(handle.run(|| 7), 7);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Shuts down the runtime: accepts no more fibers, cancels the present ones and waits for them,
    /// for at most `timeout`. A fiber that has not started is dropped unrun. A started one is
    /// interrupted in its present wait and in all later ones.
    ///
    /// # Errors
    /// The fibers that have not ended. They continue, on threads that are not waited for. If the
    /// runtime has no workers, they continue when their thread drives it again, and must end before
    /// that thread does (see [`Builder::workers`](super::Builder::workers)).
    ///
    /// One of the runtime's own fibers cannot wait for its own end: its call returns an error at
    /// once, without a list of fibers. The runtime ends by itself then.
    ///
    /// # Panics
    /// Inside the poll of a future on a fiber of another runtime. The fibers are not cancelled, as
    /// if this were dropped there.
    ///
    /// # Cancellation
    /// Not an interruption point.
    ///
    /// # Blocking
    /// Parks a fiber of another runtime, blocks a plain thread, until every fiber has ended or
    /// `timeout` has passed: real time, even if the caller's time is virtual. Then it blocks the
    /// thread, under a fiber too. If fibers are left, that takes at most 50 ms, in which workers can
    /// report them, or 550 ms while a worker's thread waits for a processor. Otherwise it takes
    /// until the workers' threads have ended, including `on_thread_stop` and the destructors of
    /// thread-locals. The call can exceed `timeout` by that much, and by the time of callbacks
    /// ([`Token::on_cancel`](crate::cancel::Token::on_cancel)) of the runtime's token.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    ///
    /// let runtime = pirn::Runtime::new()?;
    /// let fiber = runtime.spawn(|| pirn::sleep(Duration::from_secs(60)));
    /// assert!(runtime.shutdown(Duration::from_secs(5)).is_ok());
    /// assert!(fiber.is_finished());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "shutdown_timeout")]
    pub fn shutdown(mut self, timeout: Duration) -> Result<(), Unfinished> {
        let pool = self.handle.pool();
        if pool.is_current() || pool.is_starting() {
            pool.abandon();
            self.ended = true;
            return Err(Unfinished { fibers: Vec::new() });
        }
        let local = current::local();
        if polling::forbids_waiting(local) {
            // Before the panic: a drop while unwinding cancels the fibers, and waits for them.
            drop(self);
            polling::refuse();
        }
        self.ended = true;
        let ended = match local.fiber().is_none() || pool.shares_clock(local) {
            true => pool.shut_down(timeout),
            false => pool.shut_down_by_thread(timeout),
        };
        ended.map_err(|fibers| Unfinished { fibers })
    }
}

impl Deref for Runtime {
    type Target = Handle;

    fn deref(&self) -> &Handle {
        &self.handle
    }
}

impl Drop for Runtime {
    /// Waits for every fiber, without a time limit; see [`Runtime`].
    fn drop(&mut self) {
        let pool = self.handle.pool();
        if self.ended {
            return;
        }
        if pool.is_current() || pool.is_starting() {
            pool.abandon();
        } else if polling::forbids_waiting(current::local()) {
            pool.drain_alone();
        } else {
            // UNWIND: without this a failed assertion would become a hang.
            if current::is_unwinding(current::local()) && !self.made_unwinding {
                pool.cancel();
            }
            pool.drain();
        }
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Runtime").field(&self.handle).finish()
    }
}

impl Unfinished {
    /// Returns the fibers that are known. Of a worker that computes or is in a system call only the
    /// running fiber is known; of one that gets no processor for 50 ms, none.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    ///
    /// let runtime = pirn::Runtime::builder().workers(1).build()?;
    /// let (started, waits) = pirn::channel::bounded(1);
    /// let fiber = runtime.spawn(move || {
    ///     started.send(()).unwrap();
    ///     pirn::park(); // not an interruption point
    /// });
    /// waits.recv().unwrap();
    /// let unfinished = runtime.shutdown(Duration::from_millis(1)).unwrap_err();
    /// assert!(unfinished.fibers().iter().all(|fiber| fiber.spawned_at.file() == file!()));
    /// fiber.fiber().unpark();
    /// # fiber.join().unwrap();
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn fibers(&self) -> &[FiberInfo] {
        &self.fibers
    }
}

impl fmt::Display for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.fibers.len() {
            0 => f.write_str("some fibers did not end in time")?,
            n => write!(f, "{n} fibers did not end in time")?,
        }
        for fiber in &self.fibers {
            write!(f, "; {}", fiber.brief())?;
        }
        Ok(())
    }
}

impl Error for Unfinished {}
