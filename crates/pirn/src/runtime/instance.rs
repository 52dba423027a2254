//! A runtime as a value: it ends when it is dropped.

use std::error::Error;
use std::fmt;
use std::io;
use std::ops::Deref;
use std::sync::Arc;
use std::thread::panicking;
use std::time::Duration;

use super::builder::Builder;
use super::handle::Handle;
use crate::fiber::current;
use crate::sched::fiber_info::FiberInfo;
use crate::sched::pool::Pool;
use crate::wait;

/// A set of workers that run fibers.
///
/// Most programs need none of their own: [`spawn`](crate::spawn()) and
/// [`run`](crate::run) make a default one. Several may coexist, and their fibers may use the
/// same channels and locks.
///
/// Dropping a runtime takes no more fibers from outside and waits until every fiber has
/// ended, those included that its fibers still spawn. Dropped while a panic unwinds that has begun in its
/// lifetime, it cancels them first, as a scope does: what they wait for may never come now. Dropped by one of its own
/// fibers, it cancels all of them and does not wait.
///
/// A runtime [without workers](Builder::workers) is driven by its drop, on the thread that has driven it or if no
/// thread has; otherwise the drop waits until that thread drives, or ends. Before the thread ends it has
/// cancelled the fibers that have started there.
///
/// # Blocking
/// The drop waits without a limit: for ever, if a fiber never ends, or waits for whoever
/// drops the runtime. It is no interruption point. It parks a fiber of another runtime and
/// blocks a plain thread; at the end either blocks while the workers' threads end, which
/// takes as long as `on_thread_stop` and the destructors of thread-locals do.
/// [`shutdown`](Runtime::shutdown) has a time limit.
pub struct Runtime {
    handle: Handle,
    /// `shutdown` has been called: nothing is left for `drop` to do.
    ended: bool,
    /// It was made while a panic unwound: that panic is no reason to cut its work short.
    made_unwinding: bool,
}

/// The fibers that a shutdown had to leave.
#[derive(Debug)]
pub struct Unfinished {
    fibers: Vec<FiberInfo>,
}

impl Runtime {
    /// Makes a runtime with everything at its default.
    ///
    /// # Errors
    /// As [`Builder::build`].
    pub fn new() -> io::Result<Runtime> {
        Builder::new().build()
    }

    /// Configures a runtime.
    pub fn builder() -> Builder {
        Builder::new()
    }

    pub(super) fn of(pool: Arc<Pool>) -> Runtime {
        Runtime {
            handle: Handle::of(pool),
            ended: false,
            made_unwinding: panicking(),
        }
    }

    /// A handle to this runtime, to be passed around.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Takes no more fibers, cancels those that are there and waits for them, for at most
    /// `timeout`. A fiber that has not started is dropped unrun; one that has started is
    /// interrupted in its present wait and in all later ones.
    ///
    /// # Errors
    /// The fibers that have not ended. They go on, on threads that are not waited for; if the runtime has no
    /// workers, when their thread drives it again, and they must end before that thread does
    /// (see [`Builder::workers`]). At once,
    /// with no fibers listed, when called by one of the runtime's own fibers, which cannot
    /// wait for its own end; the runtime ends by itself then.
    ///
    /// # Cancellation
    /// Not an interruption point.
    ///
    /// # Blocking
    /// Parks a fiber of another runtime, blocks a plain thread, until every fiber has ended or
    /// `timeout` is over. Then the thread is blocked, under a fiber too: for 50 ms if fibers
    /// are left, so that workers can report them; else until the workers' threads have ended,
    /// `on_thread_stop` and the destructors of thread-locals included. The call can outlast
    /// `timeout` by that much.
    pub fn shutdown(mut self, timeout: Duration) -> Result<(), Unfinished> {
        self.ended = true;
        let pool = self.handle.pool();
        if pool.is_current() || pool.is_starting() {
            pool.abandon();
            return Err(Unfinished { fibers: Vec::new() });
        }
        let now = wait::now();
        let deadline = now.checked_add(timeout).unwrap_or(now + FOREVER);
        match pool.shut_down(deadline) {
            Ok(()) => Ok(()),
            Err(fibers) => Err(Unfinished { fibers }),
        }
    }
}

/// A time that no caller sees the end of, and that every clock can express.
/// A year; arbitrary.
const FOREVER: Duration = Duration::from_secs(60 * 60 * 24 * 365);

impl Deref for Runtime {
    type Target = Handle;

    fn deref(&self) -> &Handle {
        &self.handle
    }
}

impl Drop for Runtime {
    /// Waits for every fiber, without a limit; see [`Runtime`].
    fn drop(&mut self) {
        let pool = self.handle.pool();
        if self.ended {
            return;
        }
        if pool.is_current() || pool.is_starting() {
            pool.abandon();
        } else {
            // UNWIND: without this a failed assertion would be a hang.
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
    /// The fibers, as far as they could be told. Of a worker that computes or sits in a
    /// system call only the fiber that it runs is known; of one that has no processor for 50 ms, none.
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
