//! The reason of a wait: data for diagnostics, never part of a protocol.

/// The reason for which a fiber is parked.
///
/// # Examples
/// ```
/// use std::time::Duration;
///
/// use pirn::diag::Reason;
///
/// let runtime = pirn::Runtime::builder().workers(1).build()?;
/// runtime.run(|| {
///     let fiber = pirn::spawn(|| pirn::sleep(Duration::from_secs(60)));
///     pirn::yield_now(); // It runs, and waits.
///     let fibers = runtime.fibers();
///     assert!(fibers.iter().any(|fiber| fiber.reason == Some(Reason::Sleep)));
///     fiber.cancel();
/// });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
#[repr(u32)]
#[non_exhaustive]
pub enum Reason {
    /// A token from `unpark`.
    Park = 1,
    /// A point in time.
    Sleep,
    /// The end of another fiber.
    Join,
    /// The end of all fibers of a scope.
    Scope,
    /// The cancellation of a token.
    Token,
    /// The end of one fiber of a group or of all, or a free slot in the group.
    Group,
    /// The result of a closure that runs elsewhere.
    Run,
    /// A closure on a thread that may block.
    Blocking,
    /// A call on a file or a directory, which is made on a thread that may block.
    File,
    /// A free slot in a dispatcher's queue.
    Dispatch,
    /// A runtime without fibers.
    Idle,
    /// A mutex.
    Mutex,
    /// A condition variable.
    Condvar,
    /// A wait group.
    WaitGroup,
    /// A reader-writer lock.
    RwLock,
    /// Permits of a semaphore.
    Semaphore,
    /// The other parties of a barrier.
    Barrier,
    /// A one-time initialization.
    Once,
    /// An event.
    Event,
    /// A free slot in a channel, or a receiver.
    Send,
    /// A value from a channel.
    Recv,
    /// The value of a oneshot channel.
    Oneshot,
    /// A value of a broadcast channel.
    Broadcast,
    /// A change of a watched value.
    Watch,
    /// The first of several events.
    Select,
    /// A primitive defined by the user.
    Waitable,
    /// A key of `wait::park_on`.
    Key,
    /// Data to read, or a connection, from outside of the process.
    Readable,
    /// Space in a send buffer, or an established connection.
    Writable,
    /// The waker of a future.
    Future,
    /// The end of a child process.
    Child,
    /// The end of all receivers of a channel, or its close.
    Closed,
}

/// All reasons.
const REASONS: [Reason; 32] = [
    Reason::Park,
    Reason::Sleep,
    Reason::Join,
    Reason::Scope,
    Reason::Token,
    Reason::Group,
    Reason::Run,
    Reason::Blocking,
    Reason::File,
    Reason::Dispatch,
    Reason::Idle,
    Reason::Mutex,
    Reason::Condvar,
    Reason::WaitGroup,
    Reason::RwLock,
    Reason::Semaphore,
    Reason::Barrier,
    Reason::Once,
    Reason::Event,
    Reason::Send,
    Reason::Recv,
    Reason::Oneshot,
    Reason::Broadcast,
    Reason::Watch,
    Reason::Select,
    Reason::Waitable,
    Reason::Key,
    Reason::Readable,
    Reason::Writable,
    Reason::Future,
    Reason::Child,
    Reason::Closed,
];

impl Reason {
    /// Returns true if a fiber with this reason usually waits for another fiber.
    pub(crate) fn is_for_a_fiber(self) -> bool {
        !matches!(
            self,
            Reason::Sleep
                | Reason::Blocking
                | Reason::File
                | Reason::Readable
                | Reason::Writable
                | Reason::Future
                | Reason::Child
        )
    }

    /// Returns the reason with this number, if any.
    pub(crate) fn numbered(number: u32) -> Option<Reason> {
        let mut all = REASONS.into_iter();
        all.find(|reason| *reason as u32 == number)
    }
}
