//! Why a fiber waits: data for diagnostics, never part of a protocol.

/// What a parked fiber waits for.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
#[repr(u32)]
#[non_exhaustive]
pub enum Reason {
    /// A token from `unpark`.
    Park = 1,
    /// A moment in time.
    Sleep,
    /// The end of another fiber.
    Join,
    /// The end of all fibers of a scope.
    Scope,
    /// The cancellation of a token.
    Token,
    /// The end of a fiber of a group, or of all, or room for one more.
    Group,
    /// The result of a closure that runs elsewhere.
    Run,
    /// A closure on a thread that may block.
    Blocking,
    /// A call on a file or a directory, which is made on a thread that may block.
    File,
    /// Room in a dispatcher's queue.
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
    /// Something that is done once.
    Once,
    /// An event.
    Event,
    /// Room in a channel, or a receiver.
    Send,
    /// A value from a channel.
    Recv,
    /// The value of a oneshot channel.
    Oneshot,
    /// A value that is sent to all.
    Broadcast,
    /// A change of a watched value.
    Watch,
    /// Whichever of several things comes first.
    Select,
    /// A primitive of the user's own.
    Waitable,
    /// A key of `wait::park_on`.
    Key,
    /// Something to read, or a connection, from outside of the process.
    Readable,
    /// Room for more to write, or the end of connecting.
    Writable,
    /// The waker of a future.
    Future,
    /// The end of a child process.
    Child,
}

/// All reasons.
const REASONS: [Reason; 31] = [
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
];

impl Reason {
    /// Whether a fiber with this reason usually waits for another fiber.
    pub(crate) fn is_for_a_fiber(self) -> bool {
        !matches!(
            self,
            Reason::Sleep
                | Reason::Blocking
                | Reason::File
                | Reason::Readable
                | Reason::Writable
                | Reason::Future
        )
    }

    /// The reason with this number; `None` if none has it.
    pub(crate) fn numbered(number: u32) -> Option<Reason> {
        let mut all = REASONS.into_iter();
        all.find(|reason| *reason as u32 == number)
    }
}
