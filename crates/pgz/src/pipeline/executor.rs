//! The seam between the pipelines and whoever runs them.
//!
//! A pipeline needs three kinds of concurrent work, and bounded channels between them:
//!
//! | kind    | computes | waits on channels | blocks in the kernel |
//! |---------|----------|-------------------|----------------------|
//! | job     | yes      | no                | no                   |
//! | stage   | yes      | yes               | no                   |
//! | beside  | little   | yes               | yes                  |
//!
//! Jobs whose results are wanted in the order of submission stand in a line.
//!
//! A job may occupy one of the workers until it ends; a stage must not keep jobs from
//! running while it waits; what runs beside needs a thread that may block.

/// Runs the parts of a pipeline.
pub trait Executor: Clone + Send + Sync + 'static {
    /// A result that is being computed.
    type Pending<T: Send + 'static>: Send;
    /// The sending end of a channel.
    type Feed<T: Send + 'static>: Feed<T>;
    /// The receiving end of a channel.
    type Drain<T: Send + 'static>: Drain<T>;
    /// Where jobs are submitted whose results are wanted in that order.
    type Line<T: Send + 'static>: Line<T>;
    /// Their results.
    type Results<T: Send + 'static>: Drain<Result<T, Lost>>;

    /// How many jobs run at once.
    fn workers(&self) -> usize;

    /// Starts a job.
    fn job<T, F>(&self, job: F) -> Self::Pending<T>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static;

    /// Starts a stage.
    fn stage<T, F>(&self, stage: F) -> Self::Pending<T>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static;

    /// Waits for a job or a stage.
    ///
    /// # Errors
    ///
    /// [`Lost`] if it panicked.
    fn collect<T: Send + 'static>(&self, pending: Self::Pending<T>) -> Result<T, Lost>;

    /// A channel that holds at most `room` items.
    fn channel<T: Send + 'static>(&self, room: usize) -> (Self::Feed<T>, Self::Drain<T>);

    /// A line of jobs of which at most `room` are under way or wait to be received.
    fn line<T: Send + 'static>(&self, room: usize) -> (Self::Line<T>, Self::Results<T>);

    /// Runs `aside` where it may block, and `here` on the caller's own thread; returns
    /// when both have ended. A panic in either is re-raised.
    fn beside<A, B, FA, FB>(&self, aside: FA, here: FB) -> (A, B)
    where
        A: Send,
        FA: FnOnce() -> A + Send,
        FB: FnOnce() -> B;
}

/// The sending end of a bounded channel; dropping it ends the stream.
pub trait Feed<T>: Send {
    /// Sends an item, waiting for room. `false`: nobody will receive any more.
    fn send(&self, item: T) -> bool;
}

/// The receiving end of a bounded channel; dropping it stops the sender.
pub trait Drain<T>: Send {
    /// The next item, in the order sent; `None` at the end.
    fn recv(&self) -> Option<T>;
}

/// Where jobs are submitted; dropping it ends the stream.
pub trait Line<T>: Send {
    /// Starts a job, waiting for room. `false`: nobody will receive any more, and nobody
    /// needs the job.
    fn submit(&self, job: impl FnOnce() -> T + Send + 'static) -> bool;
}

/// A job or stage that panicked instead of giving a result.
#[derive(Debug)]
pub struct Lost;
