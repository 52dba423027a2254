//! Objects of waits as reports show them: data, never part of a protocol.

// Owns: the descriptions of all kinds of objects, and the names that users give them. Does not
// own: how a report reaches an object (`wait_info`), or the objects. Each module describes its own
// state under its own lock ([`Describe`]).

use std::collections::BTreeMap;
use std::fmt;

use crate::base::name::Name;
use crate::fiber::FiberId;
use crate::fiber::token::Tables;
use crate::fiber::waiter::WaitQueue;
use crate::shim::StaticLock;

/// An object that fibers wait for, at the time of a report.
///
/// # Examples
/// ```
/// let runtime = pirn::Runtime::builder().workers(1).build()?;
/// let (tx, rx) = pirn::channel::bounded::<u8>(4);
/// pirn::diag::name_object(&rx, "orders");
/// runtime.run(|| {
///     let fiber = pirn::spawn(move || rx.recv());
///     pirn::yield_now(); // It runs, and waits.
///     let fibers = runtime.fibers();
///     let object = fibers.iter().find_map(|fiber| fiber.waits_for.as_ref()).unwrap();
///     assert_eq!(object.name, Some("orders"));
///     drop(tx);
///     assert!(fiber.join().unwrap().is_err());
/// });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Object {
    /// Its kind and state.
    pub kind: ObjectKind,
    /// Its address: two fibers that wait for the same object show the same address.
    pub address: usize,
    /// The name set by [`name_object`].
    pub name: Option<&'static str>,
}

/// The kind and state of an [`Object`]. Counts of waiters stop at 1,000.
///
/// # Examples
/// ```
/// use pirn::diag::ObjectKind;
///
/// let runtime = pirn::Runtime::builder().workers(1).build()?;
/// let (tx, rx) = pirn::channel::bounded::<u8>(4);
/// runtime.run(|| {
///     let fiber = pirn::spawn(move || rx.recv());
///     pirn::yield_now(); // It runs, and waits.
///     let fibers = runtime.fibers();
///     let object = fibers.iter().find_map(|fiber| fiber.waits_for.as_ref()).unwrap();
///     assert!(matches!(object.kind, ObjectKind::Channel { receiving: 1, .. }));
///     drop(tx);
///     assert!(fiber.join().unwrap().is_err());
/// });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ObjectKind {
    /// Unknown: others held its lock for as long as the report would wait.
    Busy,
    /// The end of another fiber.
    Fiber {
        /// The fiber.
        id: Option<FiberId>,
    },
    /// The end of a scope's fibers.
    Scope {
        /// Fibers that have not ended.
        alive: usize,
    },
    /// A mutex.
    Mutex {
        /// Whether it is locked.
        held: bool,
        /// The owner; `None` for a plain thread that has never waited here.
        holder: Option<FiberId>,
        /// Waiters.
        waiting: usize,
    },
    /// A reader-writer lock.
    RwLock {
        /// Whether a writer has it.
        writing: bool,
        /// The writer; `None` if there is none, or it is a plain thread that has never waited here.
        writer: Option<FiberId>,
        /// Readers that have it.
        readers: usize,
        /// Waiters.
        waiting: usize,
    },
    /// A condition variable.
    Condvar {
        /// Waiters.
        waiting: usize,
    },
    /// A semaphore, or a pool.
    Semaphore {
        /// Permits that are available.
        free: usize,
        /// All permits.
        total: usize,
        /// Whether it is closed and hands out no more permits.
        closed: bool,
        /// Waiters.
        waiting: usize,
    },
    /// A barrier.
    Barrier {
        /// Parties of this round that have arrived.
        arrived: usize,
    },
    /// A wait group.
    WaitGroup {
        /// Current members.
        members: usize,
        /// Waiters.
        waiting: usize,
    },
    /// A one-time initialization that is in progress.
    Once {
        /// Waiters.
        waiting: usize,
    },
    /// An event.
    Event {
        /// Whether it is set.
        set: bool,
        /// Waiters.
        waiting: usize,
    },
    /// A channel.
    Channel {
        /// The most values it holds; `None` if unbounded.
        capacity: Option<usize>,
        /// Values in it.
        len: usize,
        /// Whether it is closed.
        closed: bool,
        /// Senders that wait.
        sending: usize,
        /// Receivers that wait.
        receiving: usize,
    },
    /// A oneshot channel.
    Oneshot {
        /// Whether the sender still exists.
        sender: bool,
    },
    /// A broadcast channel.
    Broadcast {
        /// Remaining senders.
        senders: usize,
        /// Receivers that wait.
        waiting: usize,
    },
    /// A watch channel.
    Watch {
        /// Remaining senders.
        senders: usize,
        /// Receivers that wait.
        waiting: usize,
    },
    /// The first of several events.
    Select {
        /// The number of cases.
        cases: usize,
        /// The cases that can be described.
        of: Vec<Object>,
    },
    /// A key of [`park_on`](crate::wait::park_on).
    Key,
    /// A slot in a dispatcher that limits the number of running closures.
    Dispatcher {
        /// Waiters.
        waiting: usize,
    },
    /// The cancellation of a token.
    Token,
    /// A runtime without fibers.
    Runtime,
    /// A socket, or the like.
    Socket {
        /// Waiters for reading, or for a connection.
        reading: usize,
        /// Waiters for writing, or for a connection to be established.
        writing: usize,
    },
    /// A descriptor in a call of libc, which `pirn-hooks` has made park.
    Call {
        /// The function that waits for data, a connection, or the end.
        reading: Option<&'static str>,
        /// The function that waits for room, or for a connection to be established.
        writing: Option<&'static str>,
        /// The number of the descriptor.
        descriptor: i32,
    },
    /// The waker of a future.
    Future,
}

/// Implemented by the data under a module's lock, for reports.
pub(crate) trait Describe {
    /// Returns its kind and state. Called under the lock.
    fn describe(&self) -> ObjectKind;
}

impl Describe for Tables {
    fn describe(&self) -> ObjectKind {
        ObjectKind::Token
    }
}

// The data under the lock of a condition variable.
impl<P> Describe for WaitQueue<P> {
    fn describe(&self) -> ObjectKind {
        ObjectKind::Condvar {
            waiting: self.count(),
        }
    }
}

/// An object that can have a name in reports: fibers and threads wait for it.
///
/// # Examples
/// ```
/// use std::sync::Arc;
///
/// use pirn::diag::{Nameable, name_object};
/// use pirn::sync::Semaphore;
///
/// fn named<T: Nameable>(object: T, name: &'static str) -> Arc<T> {
///     let object = Arc::new(object);
///     name_object(&*object, name);
///     object
/// }
///
/// let slots = named(Semaphore::new(4), "slots");
/// assert_eq!(Arc::strong_count(&slots), 1);
/// ```
pub trait Nameable {
    /// Returns the address that identifies it in reports.
    #[doc(hidden)]
    fn known_at(&self) -> usize;
}

static NAMES: StaticLock<BTreeMap<usize, &'static str>> =
    StaticLock::new(BTreeMap::new());

/// Sets the name of `object` in reports.
///
/// The name belongs to the object's place in memory. It stays when the object is moved or dropped,
/// and the next object at that place inherits it. So name objects that do not move: statics, the
/// contents of an `Arc`, both ends of a channel.
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
    /// Returns the object of this kind at `address`, with its name if it has one.
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
            write!(f, " '{}'", Name(name))?;
        }
        if !matches!(kind, ObjectKind::Fiber { .. } | ObjectKind::Select { .. }) {
            write!(f, " at {address:#x}")?;
        }
        kind.write(f)
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
            ObjectKind::Call { .. } => "call",
            ObjectKind::Future => "future",
        }
    }

    /// Writes its state, after its kind.
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
            ObjectKind::Call {
                reading,
                writing,
                descriptor,
            } => {
                let functions = reading.iter().chain(writing);
                for (number, function) in functions.enumerate() {
                    let word = if number == 0 { "of" } else { "and" };
                    write!(f, " {word} `{function}`")?;
                }
                write!(f, " on descriptor {descriptor}")
            }
            ObjectKind::Select { cases, of } => {
                write!(f, " of {cases} cases")?;
                of.iter().try_for_each(|object| write!(f, "; {object}"))
            }
        }
    }
}

/// The holder of an object, in words.
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
