//! Reports on fibers: their names, where they wait, and what for.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pirn::diag::{Object, ObjectKind, Reason, State, name_object};
use pirn::dispatcher::Dispatcher;
use pirn::runtime::Handle;
use pirn::sync::{Barrier, Condvar, Event, Mutex, Once, RwLock, Semaphore, WaitGroup};
use pirn::{Interrupt, JoinHandle, channel, par, select, spawn};

use crate::executor_kind::runtime;
use crate::report_util::{named, own_id, waiting};
#[cfg(unix)]
use crate::sockets_util::{connection, listener};
use crate::util::on_every_shape;

const HOUR: Duration = Duration::from_secs(3600);

/// P7. A report names a fiber, its spawn line, where, why and how long it waits, and the size of
/// its stack.
// Proves: P4.
#[test]
fn a_parked_fiber_is_described() {
    // Elsewhere the size of the used part is unknown.
    const KNOWN: bool = cfg!(all(target_arch = "x86_64", not(feature = "corosensei")));
    let begun = Instant::now();
    on_every_shape(|runtime| {
        let park = || _ = spawn::park_interruptible();
        let spawned = line!() + 1;
        let fiber = runtime.enter(|| named("sleeper", park));
        let info = waiting(runtime, "sleeper");
        assert_eq!(info.id, fiber.fiber().id());
        assert_eq!(info.reason, Some(Reason::Park));
        assert_eq!(info.spawned_at.file(), file!());
        assert_eq!(info.spawned_at.line(), spawned);
        assert!(info.stack_size >= 64 << 10, "{info:?}");
        assert!(info.stack_used < info.stack_size, "{info:?}");
        assert!(info.stack_used > 0 || !KNOWN, "{info:?}");
        let nap = Duration::from_millis(5);
        std::thread::sleep(nap);
        let later = waiting(runtime, "sleeper").since;
        assert!((nap..=begun.elapsed()).contains(&later), "{later:?}");
        assert!(later >= info.since + nap, "{later:?} after {info:?}");
        assert!(
            info.deadline.is_none() && info.waits_for.is_none(),
            "{info:?}"
        );
        fiber.fiber().unpark();
        fiber.join().unwrap();
        assert!(runtime.fibers().is_empty());
    });
}

/// A fiber's wait is reported at the line of the user's call, with its limit and its object.
// Proves: P4, P7.
#[test]
fn waits_are_reported_by_their_lines() {
    let runtime = runtime(2);
    runtime.enter(|| {
        let mutex = Arc::new(Mutex::new(()));
        let rwlock = Arc::new(RwLock::new(()));
        let semaphore = Arc::new(Semaphore::new(0));
        let event = Arc::new(Event::manual());
        let (tx, rx) = channel::bounded::<u8>(0);
        let (held, read) = (mutex.lock(), rwlock.read());
        let mut fibers = Vec::new();
        let mut lines = Vec::new();
        macro_rules! wait {
            ($name:literal, $reason:ident, $wait:expr) => {
                lines.push(($name, Reason::$reason, line!()));
                fibers.push(named($name, move || _ = $wait));
            };
        }
        {
            let (mutex, rwlock) = (Arc::clone(&mutex), Arc::clone(&rwlock));
            let (semaphore, event) = (Arc::clone(&semaphore), Arc::clone(&event));
            let (rx2, rx3) = (rx.clone(), rx.clone());
            wait!("mutex", Mutex, mutex.lock());
            wait!("rwlock", RwLock, rwlock.write());
            wait!("semaphore", Semaphore, semaphore.acquire(1).map(drop));
            wait!("event", Event, event.wait());
            wait!("recv", Recv, rx.recv());
            wait!("select", Select, select! { recv(rx2) -> it => _ = it });
            wait!("sleep", Sleep, pirn::sleep(HOUR));
            wait!("timed", Recv, rx3.recv_timeout(HOUR));
        }
        for (name, reason, line) in lines {
            let info = waiting(&runtime, name);
            let at = info.waits_at.expect("it waits");
            assert_eq!((at.file(), at.line()), (file!(), line), "{name}: {info:?}");
            assert_eq!(info.reason, Some(reason), "{name}");
            let limited = ["sleep", "timed"].contains(&name);
            assert_eq!(info.deadline.is_some(), limited, "{name}");
            assert_eq!(info.waits_for.is_none(), name == "sleep", "{name}");
        }
        drop((held, read, tx));
        semaphore.close();
        event.set();
        fibers.iter().for_each(JoinHandle::cancel);
        for fiber in fibers {
            fiber.join().unwrap();
        }
    });
}

/// Returns the reported wait of a fiber that does `wait`.
#[track_caller]
fn object(wait: impl FnOnce() + Send + 'static) -> Object {
    let runtime = runtime(1);
    let fiber = runtime.enter(|| named("waits", wait));
    let object = waiting(&runtime, "waits").waits_for.expect("an object");
    drop(fiber);
    drop(runtime.shutdown(Duration::ZERO));
    object
}

/// Channels report their fill and their waiters; locks their holders; and so on.
// Proves: P4.
#[test]
fn objects_are_described_as_they_are() {
    let (tx, rx) = channel::bounded(3);
    (1..=3).for_each(|n| tx.send(n).unwrap());
    name_object(&rx, "jobs");
    let told = object(move || _ = tx.send(4));
    assert_eq!(told.name, Some("jobs"));
    let full = ObjectKind::Channel {
        capacity: Some(3),
        len: 3,
        closed: false,
        sending: 1,
        receiving: 0,
    };
    assert_eq!(told.kind, full);
    assert!(
        told.to_string().starts_with("channel 'jobs' at 0x"),
        "{told}"
    );
    assert!(
        told.to_string()
            .ends_with(": 3 of 3 values, 1 send, 0 receive"),
        "{told}"
    );
    drop(rx);

    let mutex = Arc::new(Mutex::new(()));
    name_object(&*mutex, "till");
    // First: a thread has an identity once it has needed one.
    let own = own_id();
    let guard = mutex.lock();
    let theirs = Arc::clone(&mutex);
    let told = object(move || drop(theirs.lock_interruptible()));
    let held = ObjectKind::Mutex {
        held: true,
        holder: Some(own),
        waiting: 1,
    };
    assert_eq!((told.kind, told.name), (held, Some("till")));
    drop(guard);
}

/// The holder of a lock is reported by its identity: a fiber, or a thread that has waited.
// Proves: P4.
#[test]
fn holders_are_reported() {
    let held = |holder| ObjectKind::Mutex {
        held: true,
        holder,
        waiting: 1,
    };
    let mutex = Arc::new(Mutex::new(()));
    let busy = runtime(2);
    busy.enter(|| {
        let theirs = Arc::clone(&mutex);
        let holder = named("holder", move || {
            let _guard = theirs.lock();
            pirn::park();
        });
        waiting(&busy, "holder");
        let theirs = Arc::clone(&mutex);
        let waiter = named("waiter", move || drop(theirs.lock()));
        let told = waiting(&busy, "waiter").waits_for.unwrap();
        assert_eq!(told.kind, held(Some(holder.fiber().id())));
        holder.fiber().unpark();
        holder.join().unwrap();
        waiter.join().unwrap();
    });
}

/// The missing or excess number of permits, members and fibers is reported.
// Proves: P4.
#[test]
fn counts_are_reported() {
    let own = own_id();
    let rwlock = Arc::new(RwLock::new(()));
    let writer = rwlock.write();
    let theirs = Arc::clone(&rwlock);
    let written = ObjectKind::RwLock {
        writing: true,
        writer: Some(own),
        readers: 0,
        waiting: 1,
    };
    assert_eq!(
        object(move || drop(theirs.read_interruptible())).kind,
        written
    );
    drop(writer);

    let semaphore = Arc::new(Semaphore::new(2));
    let told = object(move || _ = semaphore.acquire(3).map(drop));
    let short = ObjectKind::Semaphore {
        free: 2,
        total: 2,
        closed: false,
        waiting: 1,
    };
    assert_eq!(told.kind, short);
    let fiber = {
        let idle = runtime(1);
        let fiber = idle.spawn(spawn::park_interruptible);
        let id = fiber.fiber().id();
        let told = object(move || drop(fiber.join()));
        assert_eq!(told.kind, ObjectKind::Fiber { id: Some(id) });
        drop(idle.shutdown(Duration::from_secs(10)));
        id
    };
    assert_ne!(fiber, own);
    let group = WaitGroup::new();
    let member = group.clone();
    let told = object(move || _ = group.wait());
    assert!(matches!(
        told.kind,
        ObjectKind::WaitGroup {
            members: 1,
            waiting: 1
        }
    ));
    drop(member);
    let told = object(|| _ = Event::manual().wait());
    assert_eq!(
        told.kind,
        ObjectKind::Event {
            set: false,
            waiting: 1
        }
    );
}

/// A select reports all of its channels; a scope, its number of remaining fibers.
// Proves: P4.
#[test]
fn compound_waits_tell_their_parts() {
    let (_tx1, rx1) = channel::bounded::<u8>(1);
    let (_tx2, rx2) = channel::unbounded::<u8>();
    name_object(&rx1, "first");
    let told = object(move || {
        select! {
            recv(rx1) -> value => _ = value,
            recv(rx2) -> value => _ = value,
        };
    });
    let ObjectKind::Select { cases: 2, of } = &told.kind else {
        panic!("{told}");
    };
    assert_eq!(of.len(), 2);
    assert!(
        of.iter().any(|object| object.name == Some("first")),
        "{told}"
    );

    let runtime = runtime(2);
    let event = Arc::new(Event::manual());
    let theirs = Arc::clone(&event);
    let owner = runtime.enter(|| {
        named("owner", move || {
            pirn::scope(|s| {
                for _ in 0..3 {
                    s.spawn(|| theirs.wait());
                }
            });
        })
    });
    let told = waiting(&runtime, "owner");
    assert_eq!(told.reason, Some(Reason::Scope));
    assert_eq!(told.waits_for.unwrap().kind, ObjectKind::Scope { alive: 3 });
    event.set();
    owner.join().unwrap();
}

/// Condition variables, barriers and one-time initialization are reported too.
// Proves: P4.
#[test]
fn the_rest_is_reported_too() {
    let runtime = runtime(1);
    let shared = Arc::new((
        Mutex::new(false),
        Condvar::new(),
        Barrier::new(2),
        Once::new(),
    ));
    let (a, b, c, d) = (
        Arc::clone(&shared),
        Arc::clone(&shared),
        Arc::clone(&shared),
        Arc::clone(&shared),
    );
    runtime.enter(|| {
        let fibers = [
            named("condvar", move || {
                let mut guard = a.0.lock();
                while !*guard {
                    guard = a.1.wait(guard);
                }
            }),
            named("barrier", move || _ = b.2.wait()),
            named("first", move || c.3.call_once(pirn::park)),
            named("once", move || d.3.call_once(|| ())),
        ];
        let kind = |name| waiting(&runtime, name).waits_for.unwrap().kind;
        assert_eq!(kind("condvar"), ObjectKind::Condvar { waiting: 1 });
        assert_eq!(kind("barrier"), ObjectKind::Barrier { arrived: 1 });
        assert_eq!(kind("once"), ObjectKind::Once { waiting: 1 });
        fibers[2].fiber().unpark();
        *shared.0.lock() = true;
        shared.1.notify_all();
        shared.2.wait();
        for fiber in fibers {
            fiber.join().unwrap();
        }
    });
}

/// The wait of a call that takes a closure is reported at the caller's line, not at one inside.
// Proves: P4.
#[test]
fn calls_that_wait_inside_are_reported_by_their_callers_line() {
    let runtime = runtime(2);
    let other = crate::executor_kind::runtime(1);
    let elsewhere = Dispatcher::new(1).unwrap();
    let (tx, rx) = channel::bounded::<u8>(0);
    let mut lines = Vec::new();
    let mut fibers = Vec::new();
    runtime.enter(|| {
        macro_rules! wait {
            ($name:literal, $reason:ident, $wait:expr) => {
                let (rx, other) = (rx.clone(), other.handle());
                let elsewhere = elsewhere.clone();
                lines.push(($name, Reason::$reason, line!()));
                fibers.push(named($name, move || {
                    let _ = &elsewhere;
                    let wait: fn(&channel::Receiver<u8>, &Handle, &Dispatcher) = $wait;
                    wait(&rx, &other, &elsewhere);
                }));
            };
        }
        wait!("run", Run, |rx, other, _| other.run(|| _ = rx.recv()));
        wait!("sent", Run, |rx, _, there| there.run(|| _ = rx.recv()));
        wait!("blocking", Blocking, |rx, _, _| pirn::blocking(
            || _ = rx.recv()
        ));
        wait!("scope", Scope, |rx, _, _| pirn::scope(
            |s| _ = s.spawn(|| rx.recv())
        ));
        wait!("fails", Scope, |rx, _, _| _ =
            pirn::try_scope(|s| Ok::<_, Interrupt>(
                _ = s.spawn(|| Ok(rx.recv()))
            )));
        wait!("exit", Scope, |rx, _, _| pirn::scope(
            |s| s.on_exit(move || _ = s.spawn(|| rx.recv()))
        ));
    });
    for (name, reason, line) in lines {
        let info = waiting(&runtime, name);
        let at = info.waits_at.expect("it waits");
        assert_eq!(info.reason, Some(reason), "{name}");
        assert_eq!(at.file(), file!(), "{name}: {info:?}");
        assert!((line..line + 4).contains(&at.line()), "{name}: {info:?}");
    }
    drop(tx);
    for fiber in fibers {
        fiber.join().unwrap();
    }
}

/// The same for sockets: incoming connections, outgoing ones, copies.
// Proves: P4.
#[cfg(unix)]
#[test]
fn waits_for_sockets_are_reported_by_their_callers_line() {
    let runtime = runtime(2);
    let (listener, (one, other)) = runtime.run(|| (listener(), connection()));
    let file = file!();
    let incoming = line!() + 1;
    let server =
        runtime.enter(|| named("incoming", move || listener.incoming().next().is_some()));
    let copy = line!() + 1;
    let copier =
        runtime.enter(|| named("copy", move || pirn::io::copy(&mut &one, &mut &one)));
    for (name, line) in [("incoming", incoming), ("copy", copy)] {
        let at = waiting(&runtime, name).waits_at.expect("it waits");
        assert_eq!(at.file(), file, "{name}: {at}");
        assert!((line..line + 8).contains(&at.line()), "{name}: {at}");
    }
    drop(other);
    assert_eq!(copier.join().unwrap().unwrap(), 0);
    server.cancel();
    assert!(server.join().unwrap());
}

/// A report that code asks for which runs as the thread, on the stack of a fiber, describes that
/// fiber as one that runs: it is not visited.
// Proves: P4.
#[test]
fn a_report_from_within_an_inheritance() {
    struct Asks;
    impl Clone for Asks {
        fn clone(&self) -> Asks {
            let fibers = Handle::current().fibers();
            let own = fibers
                .iter()
                .find(|it| it.name.as_deref() == Some("parent"));
            let own = own.expect("it is alive");
            assert_eq!(own.state, State::Running, "{own:?}");
            CLONED.fetch_add(1, Ordering::SeqCst);
            Asks
        }
    }
    static CLONED: AtomicUsize = AtomicUsize::new(0);
    pirn::fiber_local! {
        static SEEN: Asks = Asks, inherit;
    }
    let parent = || {
        SEEN.with(|_| ());
        pirn::scope(|s| s.spawn(|| ()).join()).unwrap();
        par::join(pirn::yield_now, || ());
    };
    runtime(1).enter(|| named("parent", parent).join().unwrap());
    assert!(CLONED.load(Ordering::SeqCst) > 0);
}
