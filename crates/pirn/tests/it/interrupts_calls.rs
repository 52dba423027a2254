//! The calls that wait, each with nothing that it waits for: only an interrupt ends it.

use std::collections::VecDeque;
use std::error::Error;
use std::future::pending;
use std::io::Read;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pirn::cancel::{self, Token, shield};
use pirn::channel::{self, broadcast, oneshot, ordered, watch};
use pirn::dispatcher::Dispatcher;
use pirn::future;
use pirn::net::{TcpListener, UdpSocket, UnixStream};
use pirn::process::Command;
use pirn::runtime::Handle;
use pirn::scope::{self, TaskGroup};
use pirn::select::Select;
use pirn::spawn::park_interruptible;
use pirn::sync::{Condvar, Event, Mutex, Pool, RwLock, Semaphore, WaitGroup};
use pirn::time::{interval, sleep_until};
use pirn::{Interrupt, JoinHandle, Runtime, select, sleep};

/// Waits; returns the interrupt that has ended the wait, or `None` after any other end.
pub(crate) type Call = fn() -> Option<Interrupt>;

/// Longer than any test.
const HOUR: Duration = Duration::from_secs(3600);

/// Returns the interrupt of an error.
fn of<T, E: Error + 'static>(result: Result<T, E>) -> Option<Interrupt> {
    Interrupt::of(&result.err()?)
}

/// Waits for the event: no interrupt of the caller ends it.
fn wait_shielded(over: &Event) {
    shield(|| over.wait()).unwrap();
}

/// Returns a fiber that ends when the event is set: no interrupt of the caller reaches it.
fn endless() -> (Arc<Event>, JoinHandle<()>) {
    let over = Arc::new(Event::manual());
    let until = Arc::clone(&over);
    let fiber = pirn::spawn(move || wait_shielded(&until));
    (over, fiber)
}

/// Runs `wait` while a fiber goes on, then ends that fiber.
fn beside_a_fiber(
    wait: impl FnOnce(JoinHandle<()>) -> Option<Interrupt>,
) -> Option<Interrupt> {
    let (over, fiber) = endless();
    let ended = wait(fiber);
    over.set();
    ended
}

/// Runs `wait` while a member of the group goes on. If the caller is interrupted already, the group
/// takes no member.
fn beside_a_member(
    group: &TaskGroup<()>,
    wait: impl FnOnce() -> Option<Interrupt>,
) -> Option<Interrupt> {
    let over = Arc::new(Event::manual());
    let until = Arc::clone(&over);
    let ended = match group.spawn(move || wait_shielded(&until)) {
        Ok(_) => wait(),
        Err(_) => cancel::reason(),
    };
    over.set();
    ended
}

/// Returns what the child returns. If the caller is interrupted already, the scope has no child.
fn in_a_child(call: Call) -> Option<Interrupt> {
    pirn::scope(|s| match s.try_spawn(call) {
        Ok(child) => shield(|| child.join()).unwrap_or_else(|_| cancel::reason()),
        Err(_) => cancel::reason(),
    })
}

/// Calls of channels.
pub(crate) const CHANNELS: &[(&str, Call)] = &[
    ("recv", || {
        let (_tx, rx) = channel::bounded::<u8>(1);
        of(rx.recv())
    }),
    ("recv of a rendezvous", || {
        let (_tx, rx) = channel::bounded::<u8>(0);
        of(rx.recv())
    }),
    ("recv without a bound", || {
        let (_tx, rx) = channel::unbounded::<u8>();
        of(rx.recv())
    }),
    ("recv_many", || {
        let (_tx, rx) = channel::bounded::<u8>(1);
        of(rx.recv_many(&mut Vec::new(), 4))
    }),
    ("recv_timeout", || {
        let (_tx, rx) = channel::bounded::<u8>(1);
        of(rx.recv_timeout(HOUR))
    }),
    ("recv_timeout, unlimited", || {
        let (_tx, rx) = channel::bounded::<u8>(1);
        of(rx.recv_timeout(Duration::MAX))
    }),
    ("iter", || {
        let (_tx, rx) = channel::bounded::<u8>(1);
        let mut all = rx.iter();
        let first = all.next();
        assert_eq!(first, None, "a value that was not sent");
        all.interrupted()
    }),
    ("into_iter", || {
        let (_tx, rx) = channel::bounded::<u8>(1);
        let mut all = rx.into_iter();
        let first = all.next();
        assert_eq!(first, None, "a value that was not sent");
        all.interrupted()
    }),
    ("send", || {
        let (tx, _rx) = channel::bounded(1);
        tx.try_send(1).unwrap();
        of(tx.send(2))
    }),
    ("send of a rendezvous", || {
        let (tx, _rx) = channel::bounded(0);
        of(tx.send(2))
    }),
    ("send_many", || {
        let (tx, _rx) = channel::bounded(1);
        of(tx.send_many(&mut VecDeque::from([1, 2, 3])))
    }),
    ("send_timeout", || {
        let (tx, _rx) = channel::bounded(0);
        of(tx.send_timeout(1, HOUR))
    }),
    ("send_deadline", || {
        let (tx, _rx) = channel::bounded(0);
        of(tx.send_deadline(1, Instant::now() + HOUR))
    }),
    ("closed", || {
        let (tx, _rx) = channel::bounded::<u8>(1);
        of(tx.closed())
    }),
    ("ordered", || {
        let (tx, _rx) = ordered::<()>(1);
        let over = Arc::new(Event::manual());
        let until = Arc::clone(&over);
        let first = tx.spawn(move || wait_shielded(&until));
        let ended = match first {
            Ok(()) => of(tx.spawn(|| ())),
            first => of(first),
        };
        over.set();
        ended
    }),
    ("watch, changed", || {
        let (_tx, mut rx) = watch::channel(1);
        of(rx.changed())
    }),
    ("watch, wait_for", || {
        let (_tx, mut rx) = watch::channel(1);
        of(rx.wait_for(|value| *value == 2).map(drop))
    }),
    ("watch, closed", || {
        let (tx, _rx) = watch::channel(1);
        of(tx.closed())
    }),
    ("broadcast, recv", || {
        let (_tx, mut rx) = broadcast::channel::<u8>(4);
        of(rx.recv())
    }),
    ("broadcast, recv_timeout", || {
        let (_tx, mut rx) = broadcast::channel::<u8>(4);
        of(rx.recv_timeout(HOUR))
    }),
    ("broadcast, closed", || {
        let (tx, _rx) = broadcast::channel::<u8>(4);
        of(tx.closed())
    }),
    ("oneshot, recv", || {
        let (_tx, rx) = oneshot::channel::<u8>();
        of(rx.recv())
    }),
    ("oneshot, recv_timeout", || {
        let (_tx, mut rx) = oneshot::channel::<u8>();
        of(rx.recv_timeout(HOUR))
    }),
    ("oneshot, closed", || {
        let (tx, _rx) = oneshot::channel::<u8>();
        of(tx.closed())
    }),
    ("tick", || of(channel::tick(HOUR).recv())),
    ("after", || of(channel::after(HOUR).recv())),
    ("never", || of(channel::never::<u8>().recv())),
];

/// Selections.
pub(crate) const CHOICES: &[(&str, Call)] = &[
    ("select, recv", || {
        let (_tx, rx) = channel::bounded::<u8>(0);
        select! { recv(rx) -> value => of(value), after(HOUR) => None }
    }),
    ("select, send", || {
        let (tx, _rx) = channel::bounded(0);
        select! { send(tx, 1) -> sent => of(sent), after(HOUR) => None }
    }),
    ("select, recv of a oneshot", || {
        let (_tx, rx) = oneshot::channel::<u8>();
        select! { recv(rx) -> value => of(value), after(HOUR) => None }
    }),
    ("select, cancelled", || {
        let ((_tx, rx), (full, _rx)) = (channel::bounded::<u8>(0), channel::bounded(0));
        select! {
            recv(rx) -> _ => None,
            send(full, 1) -> _ => None,
            after(HOUR) => None,
            cancelled(why) => Some(why),
        }
    }),
    ("select, parked", || {
        select! { biased; parked() => None, after(HOUR) => None, cancelled(why) => Some(why) }
    }),
    ("select, join", || {
        beside_a_fiber(
            |fiber| select! { join(fiber) => None, cancelled(why) => Some(why) },
        )
    }),
    ("select, a token", || {
        let token = Token::new();
        select! { case(token.case()) -> () => None, cancelled(why) => Some(why) }
    }),
    ("select, watch", || {
        let (_tx, mut rx) = watch::channel(1);
        select! { case(rx.changed_case()) -> seen => of(seen), cancelled(why) => Some(why) }
    }),
    ("Select without a case", || of(Select::new().wait())),
    ("Select, wait_timeout", || {
        of(Select::new().wait_timeout(HOUR))
    }),
    ("Select, unlimited", || {
        of(Select::new().wait_timeout(Duration::MAX))
    }),
];

/// Sleeps, parks, joins, and the end of other fibers.
pub(crate) const FIBERS: &[(&str, Call)] = &[
    ("sleep", || of(sleep(HOUR))),
    ("sleep, unlimited", || of(sleep(Duration::MAX))),
    ("sleep_until", || of(sleep_until(Instant::now() + HOUR))),
    ("interval", || {
        let mut beats = interval(HOUR);
        of(beats.tick().and_then(|_| beats.tick()))
    }),
    ("interval, unlimited", || {
        let mut beats = interval(Duration::MAX);
        of(beats.tick().and_then(|_| beats.tick()))
    }),
    ("park", || of(park_interruptible())),
    ("join", || beside_a_fiber(|fiber| of(fiber.join()))),
    ("wait", || beside_a_fiber(|fiber| of(fiber.wait()))),
    ("join_timeout", || {
        beside_a_fiber(|fiber| of(fiber.join_timeout(HOUR).ok()?))
    }),
    ("group, wait", || {
        let group = TaskGroup::new();
        beside_a_member(&group, || of(group.wait()))
    }),
    ("group, wait_timeout", || {
        let group = TaskGroup::new();
        beside_a_member(&group, || of(group.wait_timeout(HOUR)))
    }),
    ("group, join_next", || {
        let group = TaskGroup::new();
        beside_a_member(&group, || of(group.join_next()))
    }),
    ("group, a limit", || {
        let group = TaskGroup::new().limit(1);
        beside_a_member(&group, || match group.spawn(|| ()) {
            Ok(_) => None,
            Err(_) => cancel::reason(),
        })
    }),
    ("scope, wait", || {
        let over = Event::manual();
        pirn::scope(|s| {
            let ended = match s.try_spawn(|| wait_shielded(&over)) {
                Ok(_) => of(s.wait()),
                Err(_) => cancel::reason(),
            };
            over.set();
            ended
        })
    }),
    ("scope, join", || {
        let over = Event::manual();
        pirn::scope(|s| match s.try_spawn(|| wait_shielded(&over)) {
            Ok(child) => {
                let ended = of(child.join());
                over.set();
                ended
            }
            Err(_) => cancel::reason(),
        })
    }),
    ("a child", || in_a_child(|| of(sleep(HOUR)))),
    ("a child of a child", || {
        in_a_child(|| in_a_child(|| in_a_child(|| of(park_interruptible()))))
    }),
    ("scope::all", || {
        of(scope::all((0..3).map(|_| || sleep(HOUR))))
    }),
    ("scope::any", || {
        let all = scope::any((0..3).map(|_| || sleep(HOUR))).err()?;
        all.first().copied().or_else(cancel::reason)
    }),
    ("scope::race", || {
        match scope::race((0..3).map(|_| || sleep(HOUR))) {
            Some(first) => of(first),
            None => cancel::reason(),
        }
    }),
    ("try_scope", || {
        of(pirn::try_scope(|s| {
            s.spawn(|| sleep(HOUR));
            s.spawn(|| sleep(HOUR));
            Ok::<(), Interrupt>(())
        }))
    }),
    ("the first half of a join", || {
        of(pirn::join(|| sleep(HOUR), || ()).0)
    }),
    ("the other half", || of(pirn::join(|| (), || sleep(HOUR)).1)),
    ("both halves", || {
        let (a, b) = pirn::join(|| sleep(HOUR), || sleep(HOUR));
        of(a).filter(|why| of(b) == Some(*why))
    }),
    ("another token", || Token::new().enter(|| of(sleep(HOUR)))),
    ("a later deadline", || {
        cancel::with_deadline(Instant::now() + HOUR, || of(sleep(HOUR)))
    }),
    ("a longer limit", || {
        pirn::timeout(HOUR, || of(sleep(HOUR))).unwrap_or(None)
    }),
    ("after a shield", || {
        shield(|| sleep(Duration::from_millis(30))).unwrap();
        of(sleep(HOUR))
    }),
];

/// Locks and other means of synchronization.
pub(crate) const LOCKS: &[(&str, Call)] = &[
    ("event", || of(Event::manual().wait())),
    ("event, wait_timeout", || {
        of(Event::auto().wait_timeout(HOUR))
    }),
    ("wait group", || {
        let group = WaitGroup::new();
        group.add(1);
        of(group.wait())
    }),
    ("semaphore", || of(Semaphore::new(0).acquire(1))),
    ("semaphore, owned", || {
        of(Arc::new(Semaphore::new(0)).acquire_owned(1))
    }),
    ("semaphore, acquire_timeout", || {
        of(Semaphore::new(0).acquire_timeout(1, HOUR))
    }),
    ("mutex", || {
        let mutex = Mutex::new(0);
        let _held = mutex.lock();
        of(mutex.lock_interruptible())
    }),
    ("rwlock, read", || {
        let lock = RwLock::new(0);
        let _held = lock.write();
        of(lock.read_interruptible())
    }),
    ("rwlock, write", || {
        let lock = RwLock::new(0);
        let _held = lock.read();
        of(lock.write_interruptible())
    }),
    ("condition", || {
        let (mutex, changed) = (Mutex::new(0), Condvar::new());
        let waited = changed.wait_interruptible(mutex.lock());
        waited.err().map(|(_, why)| why)
    }),
    ("pool", || of(Pool::new(0, || 1).get())),
];

/// Sockets, futures, other runtimes and threads.
pub(crate) const ELSEWHERE: &[(&str, Call)] = &[
    ("udp, recv", || {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        of(socket.recv(&mut [0; 9]))
    }),
    ("tcp, accept", || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        of(listener.accept())
    }),
    ("unix, read", || {
        let (mut own, _peer) = UnixStream::pair().unwrap();
        of(own.read(&mut [0; 9]))
    }),
    ("child process, wait", || {
        let mut sleeps = Command::new("sleep");
        match sleeps.arg("3600").kill_on_drop(true).spawn() {
            Ok(mut child) => of(child.wait()),
            Err(e) => Interrupt::of(&e),
        }
    }),
    ("wait_idle", || {
        let other = Runtime::builder().workers(1).build().unwrap();
        let over = Arc::new(Event::manual());
        let until = Arc::clone(&over);
        other.spawn(move || _ = until.wait()).detach();
        let ended = of(other.wait_idle());
        over.set();
        ended
    }),
    ("another runtime", || {
        let other = Runtime::builder().workers(1).build().unwrap();
        other.run(|| of(sleep(HOUR)))
    }),
    ("future::wait", || of(future::wait(pending::<()>()))),
    ("recv_async", || {
        let (_tx, rx) = channel::bounded::<u8>(1);
        of(future::wait(rx.recv_async()))
    }),
    ("future::sleep", || of(future::wait(future::sleep(HOUR)))),
    ("future::fiber", || {
        of(future::wait(future::fiber(|| _ = park_interruptible())))
    }),
    ("an awaited fiber", || {
        beside_a_fiber(|fiber| of(future::wait(fiber)))
    }),
    ("compute", || pirn::compute(|| of(sleep(HOUR)))),
    ("a thread that may block", || {
        Dispatcher::io().run(|| of(sleep(HOUR)))
    }),
    ("a limit", || {
        let limited = Handle::current().dispatcher().limited(1);
        limited.run(|| of(sleep(HOUR)))
    }),
    ("a bounded queue", || {
        let bounded = Handle::current().dispatcher().queue_limit(1);
        bounded.run(|| of(sleep(HOUR)))
    }),
    ("a child on other threads", || {
        pirn::scope(|s| {
            let child = s.spawn_on(&Dispatcher::io(), || of(sleep(HOUR)));
            shield(|| child.join()).unwrap_or_else(|_| cancel::reason())
        })
    }),
];
