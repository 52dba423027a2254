//! The choices of a deterministic scheduler, as traits: the strategies are not in this crate.

use std::fmt;
use std::panic::Location;

/// A strategy: which of the ready fibers runs next.
pub trait Choose {
    /// Returns the index in `choice.ready` of the fiber that runs next.
    fn choose(&mut self, choice: &Choice<'_>) -> usize;

    /// Returns how many nanoseconds of virtual time pass at the choice that has just been made.
    fn duration(&mut self) -> u64 {
        0
    }

    /// Returns which of `count` possibilities the running fiber takes, below `count`. None: the
    /// first one.
    fn pick(&mut self, pick: Pick, count: usize) -> Option<usize> {
        let _ = (pick, count);
        None
    }

    /// Called when a fiber of the run has evaluated a property.
    fn observe(&mut self, property: Property) {
        drop(property);
    }
}

/// What a fiber takes at random while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Pick {
    /// One of the ready cases of a select, in the order in which they are written. There are at
    /// least two. A case of a primitive of the user counts as ready, since that is not asked; if it
    /// is not, another one is taken.
    Case,
    /// Whether a pending half of a join becomes a fiber, and whether the fiber that joins yields.
    Promotion,
}

/// A property of the program, as it is when a line of it runs.
#[derive(Clone, Debug)]
pub struct Property {
    /// When it must hold.
    pub rule: Rule,
    /// The same in all runs.
    pub name: &'static str,
    /// It holds now.
    pub holds: bool,
    /// The line.
    pub at: &'static Location<'static>,
    /// Why it does not hold, if it always has to; may be empty.
    pub message: String,
}

/// When a property must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// Whenever its line runs.
    Always,
    /// In one run of a campaign at least.
    Sometimes,
}

/// One choice.
#[derive(Clone, Copy)]
pub struct Choice<'a> {
    /// The ready fibers in the order in which they became ready, each as its number in the run: the
    /// first one that became ready is 0. There is at least one.
    pub ready: &'a [u32],
    /// The number of the fiber that ran last, if any has run.
    pub last: Option<u32>,
    /// That fiber is ready, and has not asked for others to run: it could continue.
    pub can_continue: bool,
    /// Since the last choice that fiber has had operations without a choice, which was put off: in
    /// a poll, or while it unwound.
    pub put_off: bool,
    /// Since the last choice another thread has woken a fiber. When that happens is not decided by
    /// the strategy.
    pub woken_by_others: bool,
    /// Describes those in `ready`.
    pub fibers: &'a dyn Fibers,
}

/// An operation of a fiber, with the object that it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// The operation.
    pub operation: Operation,
    /// The address of the object; 0 if there is none, or if there are several. A lock, a channel
    /// and so on has one address for all operations on it.
    pub object: usize,
}

/// The kinds of operations that other fibers can notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Operation {
    /// A lock is taken, by one party alone.
    Lock,
    /// A lock is taken, beside other readers.
    Read,
    /// A lock is taken, if that needs no wait, or one that ends soon enough.
    TryLock,
    /// Permits of a semaphore are taken.
    Acquire,
    /// The same, if that needs no wait.
    TryAcquire,
    /// Permits of a semaphore are returned, or added.
    Release,
    /// A wait for a notification, an event, the end of a group, or of a channel.
    Wait,
    /// A condition variable is notified.
    Notify,
    /// An event, or a value that is set once, is set.
    Set,
    /// A party arrives at a barrier, or work of a group is announced or done.
    Arrive,
    /// A value is sent.
    Send,
    /// The same, if that needs no wait.
    TrySend,
    /// A value is received.
    Receive,
    /// The same, if that needs no wait.
    TryReceive,
    /// An end of a channel is closed or dropped, or a semaphore is closed.
    Close,
    /// The state of an object is read.
    Look,
    /// A select waits for one of several objects.
    Select,
    /// The same, if one is ready.
    TrySelect,
    /// A fiber waits to be unparked.
    Park,
    /// A fiber is unparked.
    Unpark,
    /// A wait for the end of a fiber, or of the fibers of a group.
    Join,
    /// A fiber ends: its code has returned or panicked, and its joiners are not woken yet.
    End,
    /// A fiber, a scope or a token is cancelled.
    Cancel,
    /// A fiber looks whether it is cancelled.
    Check,
    /// A wait for a moment.
    Sleep,
    /// A poll of a future.
    Poll,
    /// A call of a file, a socket, a process, a blocking function or another runtime.
    Io,
    /// An atomic variable is read.
    Load,
    /// An atomic variable is written, or changed.
    Store,
    /// A call of `point`.
    Point,
}

/// The ready fibers at a choice, by index.
pub trait Fibers {
    /// Returns the operation before which the fiber was stopped. None if it has not run yet, has
    /// waited, or has asked for others to run.
    fn step(&self, index: usize) -> Option<Step>;

    /// Returns where the fiber was spawned.
    fn spawned_at(&self, index: usize) -> &'static Location<'static>;

    /// Returns the user's frames of a fiber, innermost first: function and place of each. None if
    /// it has not run yet, or the program has no debug information. Takes milliseconds.
    fn frames(&self, index: usize) -> Vec<String>;
}

impl fmt::Debug for Choice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Choice")
            .field("ready", &self.ready)
            .field("last", &self.last)
            .field("can_continue", &self.can_continue)
            .finish_non_exhaustive()
    }
}
