//! Diagnostics of one runtime.

use std::io;

use crate::observe::{self, Metrics, StackUse};
use crate::runtime::Handle;
use crate::sched::placement::lines::SpawnLine;

impl Handle {
    /// Returns the runtime's counters.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// let runtime = pirn::Runtime::builder().workers(1).build()?;
    /// runtime.spawn(|| {}).join().unwrap();
    /// assert_eq!(runtime.metrics().total.spawned, 1);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "RuntimeMetrics")]
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        Metrics::of(self.pool())
    }

    /// Returns how deep the stacks of this runtime have been used, of the size set by
    /// [`Builder::stack_size`](crate::runtime::Builder::stack_size), with advice on that size.
    ///
    /// It asks the system which pages of the stacks are in memory. Nothing is counted before that.
    /// Stacks that wait for their next fiber are included. When one of them loses its memory
    /// ([`stack_cache`](crate::runtime::Builder::stack_cache)), its mark is lost too. Pages that
    /// the system has swapped out count as untouched, and only 4,096 stacks are looked at. So the
    /// result is a lower bound. Fibers with a stack size of their own are not included.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Blocking
    /// Blocks the calling thread for some hundred nanoseconds for each stack.
    ///
    /// # Examples
    /// ```
    /// let runtime = pirn::Runtime::builder().workers(1).build()?;
    /// runtime.run(|| {
    ///     let bytes = [1_u8; 100 << 10];
    ///     std::hint::black_box(&bytes);
    /// });
    /// let stacks = runtime.stack_use();
    /// assert_eq!(stacks.size, 256 << 10);
    /// assert!(stacks.touched >= 100 << 10);
    /// println!("stacks: {stacks}");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn stack_use(&self) -> StackUse {
        StackUse::of(self.pool())
    }

    /// Returns the history of the lines of code that spawn fibers, which decides where the next
    /// fibers of each line start: at most 256 lines, in no order.
    ///
    /// Without [spreading](crate::runtime::Builder::spread), a line that is listed is
    /// [`Short`](crate::diag::LineClass::Short).
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::diag::LineClass;
    ///
    /// let runtime = pirn::Runtime::builder().workers(2).build()?;
    /// let (tx, rx) = pirn::channel::bounded::<u32>(1);
    /// let stays = runtime.spawn(move || rx.recv());
    /// let lines = runtime.spawn_lines();
    /// let line = lines.iter().find(|line| line.location.file() == file!()).unwrap();
    /// assert_eq!(line.class, LineClass::Spread);
    /// drop(tx);
    /// assert!(stays.join().unwrap().is_err());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn spawn_lines(&self) -> Vec<SpawnLine> {
        self.pool().spawn_lines()
    }

    /// Writes recent events as JSON in the trace-event format of `about:tracing` and Perfetto: see
    /// [`Builder::trace`](crate::runtime::Builder::trace). The runtime continues meanwhile.
    ///
    /// # Errors
    /// * Kind `Unsupported`: the runtime keeps no events.
    /// * Errors of `out`.
    ///
    /// # Cancellation
    /// Not an interruption point.
    ///
    /// # Blocking
    /// For as long as `out` takes, which may be some seconds if it is slow.
    ///
    /// # Examples
    /// ```
    /// use std::io::ErrorKind;
    ///
    /// let name = format!("pirn-doc-write-trace-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// let runtime = pirn::Runtime::builder().trace(&path).build()?;
    /// let mut json = Vec::new();
    /// runtime.write_trace(&mut json)?;
    /// assert!(String::from_utf8_lossy(&json).contains("traceEvents"));
    ///
    /// let other = pirn::Runtime::new()?;
    /// let error = other.write_trace(&mut json).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::Unsupported);
    /// # drop(runtime);
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "FlightRecorder")]
    pub fn write_trace(&self, out: &mut dyn io::Write) -> io::Result<()> {
        if !self.pool().keeps_events() {
            let why = "the runtime keeps no events: see Builder::trace";
            return Err(io::Error::new(io::ErrorKind::Unsupported, why));
        }
        observe::write_trace(self.pool(), out)
    }
}
