//! What is waited for, as a report tells it: data, never part of a protocol.
//!
//! Owns: the words for all kinds of objects, and the names that users give them. Does not own:
//! how a report gets at an object (`notice`), or the objects; each room says of its own state,
//! under its own lock, what it is ([`Describe`]).

use std::collections::BTreeMap;
use std::fmt;

use crate::fiber::FiberId;
use crate::fiber::token::Tables;
use crate::fiber::waiter::WaitQueue;
use crate::shim::StaticLock;

/// Something that fibers wait for, at the moment of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Object {
    /// What it is, and how it was.
    pub kind: ObjectKind,
    /// Where it is in memory: two fibers that wait for the same object show the same address.
    pub address: usize,
    /// The name given by [`name_object`].
    pub name: Option<&'static str>,
}

/// What an [`Object`] is. Numbers of those who wait stop at 1,000.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ObjectKind {
    /// Its lock was held by others for as long as the report would wait.
    Busy,
    /// The end of another fiber.
    Fiber {
        /// Which one.
        id: Option<FiberId>,
    },
    /// The end of a scope's fibers.
    Scope {
        /// Fibers that have not ended.
        alive: usize,
    },
    /// A mutex.
    Mutex {
        /// Somebody has it.
        held: bool,
        /// Who; `None` for a plain thread that has never waited here.
        holder: Option<FiberId>,
        /// Those who wait for it.
        waiting: usize,
    },
    /// A reader-writer lock.
    RwLock {
        /// Somebody writes.
        writing: bool,
        /// Who; `None` if nobody does, or a plain thread that has never waited here.
        writer: Option<FiberId>,
        /// Those who read.
        readers: usize,
        /// Those who wait for it.
        waiting: usize,
    },
    /// A condition variable.
    Condvar {
        /// Those who wait for it.
        waiting: usize,
    },
    /// A semaphore, or a pool.
    Semaphore {
        /// Permits that nobody has.
        free: usize,
        /// All permits.
        total: usize,
        /// It gives none any more.
        closed: bool,
        /// Those who wait for it.
        waiting: usize,
    },
    /// A barrier.
    Barrier {
        /// Parties of this round that have come.
        arrived: usize,
    },
    /// A wait group.
    WaitGroup {
        /// Members that count.
        members: usize,
        /// Those who wait for it.
        waiting: usize,
    },
    /// Something that is done once, and that somebody else is at.
    Once {
        /// Those who wait for it.
        waiting: usize,
    },
    /// An event.
    Event {
        /// It has happened.
        set: bool,
        /// Those who wait for it.
        waiting: usize,
    },
    /// A channel.
    Channel {
        /// How many values it holds at most; `None` for any number.
        capacity: Option<usize>,
        /// How many there are.
        len: usize,
        /// It takes no more.
        closed: bool,
        /// Senders that wait.
        sending: usize,
        /// Receivers that wait.
        receiving: usize,
    },
    /// A oneshot channel.
    Oneshot {
        /// The sender is there.
        sender: bool,
    },
    /// A broadcast channel.
    Broadcast {
        /// Senders that are left.
        senders: usize,
        /// Receivers that wait.
        waiting: usize,
    },
    /// A watch channel.
    Watch {
        /// Senders that are left.
        senders: usize,
        /// Receivers that wait.
        waiting: usize,
    },
    /// Whichever of several things comes first.
    Select {
        /// How many.
        cases: usize,
        /// Those of them that can be told.
        of: Vec<Object>,
    },
    /// A key of [`park_on`](crate::wait::park_on), among others.
    Key,
    /// A place in a dispatcher that runs so many closures at a time.
    Dispatcher {
        /// Those who wait for it.
        waiting: usize,
    },
    /// The cancellation of a token.
    Token,
    /// A runtime without fibers.
    Runtime,
    /// A socket, or the like.
    Socket {
        /// Those who wait to read, or for a connection.
        reading: usize,
        /// Those who wait to write, or to be connected.
        writing: usize,
    },
    /// The waker of a future.
    Future,
}

/// What a room's lock guards, as a report tells it.
pub(crate) trait Describe {
    /// Says what it is and how it is. Called under the lock.
    fn describe(&self) -> ObjectKind;
}

impl Describe for Tables {
    fn describe(&self) -> ObjectKind {
        ObjectKind::Token
    }
}

// What a condition variable has under its lock.
impl<P> Describe for WaitQueue<P> {
    fn describe(&self) -> ObjectKind {
        ObjectKind::Condvar {
            waiting: self.count(),
        }
    }
}

/// Something that can be given a name for reports: what fibers and threads wait for.
pub trait Nameable {
    /// The address under which reports know it.
    #[doc(hidden)]
    fn known_at(&self) -> usize;
}

static NAMES: StaticLock<BTreeMap<usize, &'static str>> =
    StaticLock::new(BTreeMap::new());

/// Has reports call `object` by `name`.
///
/// The name belongs to the place in memory where the object is: it stays when the object is
/// moved or dropped, and whatever comes to lie there next inherits it. So name what stays where
/// it is: statics, what is in an `Arc`, both ends of a channel.
///
/// # Cancellation
/// Not an interruption point; never suspends.
///
/// # Examples
/// ```
/// use pirn::diag::name_object;
/// use pirn::sync::Mutex;
///
/// static ACCOUNTS: Mutex<u64> = Mutex::new(0);
/// name_object(&ACCOUNTS, "accounts");
/// ```
pub fn name_object<T: Nameable + ?Sized>(object: &T, name: &'static str) {
    NAMES.lock().insert(object.known_at(), name);
}

impl Object {
    /// The object of this kind at `address`, by its name if it has one.
    pub(crate) fn new(kind: ObjectKind, address: usize) -> Object {
        let name = NAMES.lock().get(&address).copied();
        Object {
            kind,
            address,
            name,
        }
    }
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Object {
            kind,
            address,
            name,
        } = self;
        write!(f, "{}", kind.noun())?;
        if let Some(name) = name {
            write!(f, " '{name}'")?;
        }
        if !matches!(kind, ObjectKind::Fiber { .. } | ObjectKind::Select { .. }) {
            write!(f, " at {address:#x}")?;
        }
        kind.tell(f)
    }
}

impl ObjectKind {
    fn noun(&self) -> &'static str {
        match self {
            ObjectKind::Busy => "something busy",
            ObjectKind::Fiber { .. } => "fiber",
            ObjectKind::Scope { .. } => "scope",
            ObjectKind::Mutex { .. } => "mutex",
            ObjectKind::RwLock { .. } => "rwlock",
            ObjectKind::Condvar { .. } => "condvar",
            ObjectKind::Semaphore { .. } => "semaphore",
            ObjectKind::Barrier { .. } => "barrier",
            ObjectKind::WaitGroup { .. } => "wait group",
            ObjectKind::Once { .. } => "once",
            ObjectKind::Event { .. } => "event",
            ObjectKind::Channel { .. } => "channel",
            ObjectKind::Oneshot { .. } => "oneshot channel",
            ObjectKind::Broadcast { .. } => "broadcast channel",
            ObjectKind::Watch { .. } => "watch channel",
            ObjectKind::Select { .. } => "select",
            ObjectKind::Key => "key",
            ObjectKind::Token => "token",
            ObjectKind::Dispatcher { .. } => "dispatcher",
            ObjectKind::Runtime => "runtime",
            ObjectKind::Socket { .. } => "socket",
            ObjectKind::Future => "future",
        }
    }

    /// Writes how it is, after what it is.
    fn tell(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ObjectKind::Busy
            | ObjectKind::Key
            | ObjectKind::Token
            | ObjectKind::Runtime
            | ObjectKind::Future => Ok(()),
            ObjectKind::Fiber { id: Some(id) } => write!(f, " {id}"),
            ObjectKind::Fiber { id: None } => f.write_str(" unknown"),
            ObjectKind::Scope { alive } => write!(f, ": {alive} alive"),
            ObjectKind::Mutex {
                held,
                holder,
                waiting,
            } => {
                write!(f, ": {}, {waiting} wait", Held("held", *held, *holder))
            }
            ObjectKind::RwLock {
                writing,
                writer,
                readers,
                waiting,
            } => {
                let writer = Held("written", *writing, *writer);
                write!(f, ": {writer}, {readers} read, {waiting} wait")
            }
            ObjectKind::Condvar { waiting }
            | ObjectKind::Once { waiting }
            | ObjectKind::Dispatcher { waiting } => {
                write!(f, ": {waiting} wait")
            }
            ObjectKind::Semaphore {
                free,
                total,
                closed,
                waiting,
            } => {
                let closed = if *closed { ", closed" } else { "" };
                write!(f, ": {free} of {total} free{closed}, {waiting} wait")
            }
            ObjectKind::Barrier { arrived } => write!(f, ": {arrived} arrived"),
            ObjectKind::WaitGroup { members, waiting } => {
                write!(f, ": {members} members, {waiting} wait")
            }
            ObjectKind::Event { set, waiting } => {
                let set = if *set { "set" } else { "not set" };
                write!(f, ": {set}, {waiting} wait")
            }
            ObjectKind::Channel {
                capacity,
                len,
                closed,
                sending,
                receiving,
            } => {
                match capacity {
                    Some(capacity) => write!(f, ": {len} of {capacity} values")?,
                    None => write!(f, ": {len} values")?,
                }
                let closed = if *closed { ", closed" } else { "" };
                write!(f, "{closed}, {sending} send, {receiving} receive")
            }
            ObjectKind::Oneshot { sender: true } => f.write_str(": not sent"),
            ObjectKind::Oneshot { sender: false } => f.write_str(": sender gone"),
            ObjectKind::Broadcast { senders, waiting }
            | ObjectKind::Watch { senders, waiting } => {
                write!(f, ": {senders} senders, {waiting} wait")
            }
            ObjectKind::Socket { reading, writing } => {
                write!(f, ": {reading} read, {writing} write")
            }
            ObjectKind::Select { cases, of } => {
                write!(f, " of {cases} cases")?;
                of.iter().try_for_each(|object| write!(f, "; {object}"))
            }
        }
    }
}

/// Who has something, in words.
struct Held(&'static str, bool, Option<FiberId>);

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Held(verb, held, holder) = self;
        match holder {
            Some(holder) => write!(f, "{verb} by {holder}"),
            None if *held => write!(f, "{verb} by a thread"),
            None => write!(f, "not {verb}"),
        }
    }
}
