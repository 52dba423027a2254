//! The interface between the pipelines and their executor.
//!
//! A pipeline needs three kinds of concurrent work, and bounded channels between them:
//!
//! | kind    | computes | waits on channels | blocks in the kernel |
//! |---------|----------|-------------------|----------------------|
//! | job     | yes      | no                | no                   |
//! | stage   | yes      | yes               | no                   |
//! | beside  | little   | yes               | yes                  |
//!
//! An ordered channel returns the results of jobs in the order of submission.
//!
//! A job may occupy one of the workers until it ends. A stage must not prevent jobs from running
//! while it waits. Work of kind "beside" needs a thread that may block.

/// Runs the parts of a pipeline.
pub trait Executor: Clone + Send + Sync + 'static {
    /// A result that is being computed.
    type Pending<T: Send + 'static>: Send;
    /// The sending end of a channel.
    type Feed<T: Send + 'static>: Feed<T>;
    /// The receiving end of a channel.
    type Drain<T: Send + 'static>: Drain<T>;
    /// The sending end of an ordered channel, to which jobs are submitted.
    type Line<T: Send + 'static>: Line<T>;
    /// The receiving end of an ordered channel.
    type Results<T: Send + 'static>: Drain<Result<T, Lost>>;

    /// Returns the number of jobs that run at once.
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

    /// Returns a channel with capacity `room`.
    fn channel<T: Send + 'static>(&self, room: usize) -> (Self::Feed<T>, Self::Drain<T>);

    /// Returns an ordered channel. At most `room` jobs are in progress or wait to be received.
    fn line<T: Send + 'static>(&self, room: usize) -> (Self::Line<T>, Self::Results<T>);

    /// Runs `aside` where it may block, and `here` on the caller's own thread; returns when both
    /// have ended. Resumes a panic of either.
    fn beside<A, B, FA, FB>(&self, aside: FA, here: FB) -> (A, B)
    where
        A: Send,
        FA: FnOnce() -> A + Send,
        FB: FnOnce() -> B;
}

/// The sending end of a bounded channel; dropping it ends the stream.
pub trait Feed<T>: Send {
    /// Sends an item, waiting for capacity. Returns `false` if the receiver has closed.
    fn send(&self, item: T) -> bool;
}

/// The receiving end of a bounded channel; dropping it stops the sender.
pub trait Drain<T>: Send {
    /// Returns the next item, in the order sent; `None` at the end.
    fn recv(&self) -> Option<T>;
}

/// The sending end of an ordered channel of jobs; dropping it ends the stream.
pub trait Line<T>: Send {
    /// Starts a job, waiting for capacity. Returns `false`, without starting the job, if the
    /// receiver has closed.
    fn submit(&self, job: impl FnOnce() -> T + Send + 'static) -> bool;
}

/// A job or stage that panicked instead of giving a result.
#[derive(Debug)]
pub struct Lost;
