//! Reports name the line of a wait, for each reason that a wait may have.
//!
//! Most of these waits never end, and some cannot be interrupted. So they are in a process of their
//! own, which exits without an end of its runtime.

use std::collections::{BTreeSet, VecDeque};
use std::future::pending;
use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::process::{Stdio, exit};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use pirn::cancel::Token;
use pirn::channel::{self, broadcast, oneshot, watch};
use pirn::diag::{Reason, State};
use pirn::dispatcher::{Dispatcher, spawn_on};
use pirn::fs::File;
use pirn::future::{block_on, wait};
use pirn::runtime::Handle;
use pirn::scope::TaskGroup;
use pirn::select::Select;
use pirn::spawn::{park_interruptible, park_timeout};
use pirn::sync::{
    Barrier, Condvar, Event, Mutex, Once, OnceLock, RwLock,
    RwLockUpgradableReadGuard as Upgradable, Semaphore, WaitGroup,
};
use pirn::time::{interval, now, sleep_until};
use pirn::wait::{Ticket, Waitable};
use pirn::{JoinHandle, Runtime, process, select};

use crate::files::named_pipe;
use crate::report_util::named;
use crate::sockets_util::{connection, listener};
use crate::util::{Directory, apart, eventually};

const HOUR: Duration = Duration::from_secs(3600);

/// Fibers that wait, with the lines of their calls.
struct Waits {
    runtime: Runtime,
    started: Vec<(Reason, u32)>,
}

impl Waits {
    /// Starts a fiber for the call on this line, or on one before the next call's.
    fn start(&mut self, reason: Reason, line: u32, wait: impl FnOnce() + Send + 'static) {
        let name = self.started.len().to_string();
        self.started.push((reason, line));
        self.runtime.enter(|| named(&name, wait).detach());
    }

    /// Returns the waits that are reported with another line than that of their call. `end` is a
    /// line after that of the last call.
    fn wrong(&self, end: u32) -> Vec<String> {
        let ends = self.started.iter().skip(1).map(|(_, line)| *line);
        let ends = ends.chain([end]);
        let mut wrong = Vec::new();
        for (number, ((reason, line), end)) in self.started.iter().zip(ends).enumerate() {
            let mut at = None;
            // It may wait for something else before.
            eventually(&format!("{reason:?} is the reason for {line}"), || {
                at = self.place(&number.to_string(), *reason);
                at.is_some()
            });
            let at = at.expect("it waits");
            if at.file() != file!() || !(*line..end).contains(&at.line()) {
                wrong.push(format!("{reason:?} of line {line}: {at}"));
            }
        }
        wrong
    }

    /// Returns the place of a fiber's wait, once it has that reason.
    fn place(&self, name: &str, reason: Reason) -> Option<&'static Location<'static>> {
        let fibers = self.runtime.fibers();
        let mut parked = fibers.iter().filter(|it| it.state == State::Parked);
        let own = parked.find(|it| it.name.as_deref() == Some(name))?;
        own.waits_at.filter(|_| own.reason == Some(reason))
    }
}

/// Never completes.
struct Never;

impl Waitable for Never {
    type Output = ();

    fn try_complete(&self) -> Option<()> {
        None
    }

    fn register(&self, _: Ticket) -> bool {
        true
    }

    fn unregister(&self, _: Ticket) {}
}

/// A fiber that waits.
fn child() -> JoinHandle<()> {
    pirn::spawn(|| _ = park_interruptible())
}

/// A group of as many fibers as it may have, which wait.
fn full_group() -> TaskGroup {
    let group = TaskGroup::new().limit(1);
    group.spawn(|| _ = park_interruptible()).unwrap();
    group
}

/// Leaks `value`, so that it lives as long as the process.
fn kept<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// The names in the source of `Reason`.
fn reasons() -> BTreeSet<String> {
    let source = include_str!("../../src/wait/reason.rs");
    let (_, list) = source.split_once("pub enum Reason {").expect("the reasons");
    let (list, _) = list.split_once("\n}").expect("their end");
    let lines = list.lines().map(str::trim);
    let names = lines.filter(|line| line.ends_with(',') && !line.starts_with("//"));
    let name = |line: &str| {
        line.trim_end_matches(',')
            .split(' ')
            .next()
            .map(str::to_owned)
    };
    names.filter_map(name).collect()
}

/// Reports show the caller's line for every call that waits, and each `Reason` has such a call.
// Proves: P7.
#[test]
fn each_reason_is_reported_with_its_line() {
    let name = "report_lines::each_reason_is_reported_with_its_line";
    let part = || {
        let checked = catch_unwind(AssertUnwindSafe(check_all));
        exit(i32::from(checked.is_err()));
    };
    let Some(ended) = apart(name, &[("PIRN_DEADLOCK", "off")], part) else {
        return;
    };
    assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
}

#[expect(clippy::too_many_lines, reason = "a line for each wait")]
fn check_all() {
    // A drop would wait for the fibers.
    let runtime = crate::executor_kind::runtime(2);
    let mut waits = std::mem::ManuallyDrop::new(Waits {
        runtime,
        started: Vec::new(),
    });
    macro_rules! wait {
        ($reason:ident, $wait:expr) => {
            waits.start(Reason::$reason, line!(), move || _ = $wait);
        };
    }
    let other = kept(crate::executor_kind::runtime(1));
    let elsewhere = kept(Dispatcher::new(1).unwrap());
    let narrow = kept(Dispatcher::single().unwrap().queue_limit(1));

    wait!(Park, pirn::park());
    wait!(Park, park_timeout(HOUR));
    wait!(Park, park_interruptible());
    wait!(Sleep, pirn::sleep(HOUR));
    wait!(Sleep, sleep_until(now() + HOUR));
    let mut ticks = interval(HOUR);
    wait!(Sleep, (0..2).map(|_| ticks.tick()).count());
    wait!(Join, child().join());
    wait!(Join, child().join_timeout(HOUR));
    wait!(Join, child().wait());
    wait!(Join, pirn::scope(|s| s.spawn(park_interruptible).join()));
    wait!(Scope, pirn::scope(|s| _ = s.spawn(park_interruptible)));
    wait!(
        Scope,
        pirn::scope(|s| (s.spawn(park_interruptible), s.wait()).1)
    );
    wait!(
        Scope,
        pirn::scope(|s| (s.spawn(park_interruptible), s.wait_timeout(HOUR)).1)
    );
    wait!(Token, Token::new().wait());
    wait!(Group, full_group().wait());
    wait!(Group, full_group().wait_timeout(HOUR));
    wait!(Group, full_group().join_next());
    wait!(Group, full_group().spawn(|| ()));
    wait!(Run, other.run(park_interruptible));
    wait!(Run, elsewhere.run(park_interruptible));
    wait!(Blocking, pirn::blocking(thread::park));
    let directory = Directory::new();
    let pipe = named_pipe(&directory);
    wait!(File, File::open(pipe));
    // Its thread parks, and its queue is full.
    (0..2).for_each(|_| narrow.spawn(thread::park).detach());
    wait!(Dispatch, narrow.spawn(|| ()));
    wait!(Dispatch, narrow.run(|| ()));
    wait!(Dispatch, spawn_on(narrow, || ()));
    wait!(Dispatch, pirn::scope(|s| s.spawn_on(narrow, || ()).join()));
    wait!(Idle, Handle::current().wait_idle());

    let mutex = kept(Mutex::new(()));
    let _held = mutex.lock();
    wait!(Mutex, mutex.lock());
    wait!(Mutex, mutex.lock_timeout(HOUR));
    wait!(Mutex, mutex.lock_interruptible());
    // One for each: nothing else waits for their mutexes.
    let own = || kept((Condvar::new(), Mutex::new(())));
    let [a, b, c, d] = [own(), own(), own(), own()];
    wait!(Condvar, a.0.wait(a.1.lock()));
    wait!(Condvar, b.0.wait_timeout(b.1.lock(), HOUR));
    wait!(Condvar, c.0.wait_interruptible(c.1.lock()));
    wait!(Condvar, d.0.wait_while(d.1.lock(), |()| true));
    let group = WaitGroup::new();
    let _member = group.clone();
    wait!(WaitGroup, group.wait());
    let rwlock = kept(RwLock::new(()));
    let _written = rwlock.write();
    wait!(RwLock, rwlock.read());
    wait!(RwLock, rwlock.write());
    wait!(RwLock, rwlock.read_timeout(HOUR));
    wait!(RwLock, rwlock.write_timeout(HOUR));
    wait!(RwLock, rwlock.read_interruptible());
    wait!(RwLock, rwlock.write_interruptible());
    wait!(RwLock, rwlock.upgradable_read());
    // The right to upgrade is taken.
    wait!(RwLock, rwlock.upgradable_read());
    let read = kept(RwLock::new(()));
    kept(read.read());
    wait!(RwLock, Upgradable::upgrade(read.upgradable_read()));
    let semaphore = Arc::new(Semaphore::new(0));
    let shared = kept(Arc::clone(&semaphore));
    wait!(Semaphore, shared.acquire(1));
    wait!(Semaphore, shared.acquire_timeout(1, HOUR));
    wait!(Semaphore, semaphore.acquire_owned(1));
    wait!(Barrier, Barrier::new(2).wait());
    let once = kept(Once::new());
    let begun = kept(AtomicBool::new(false));
    let first = || {
        begun.store(true, Ordering::SeqCst);
        pirn::park();
    };
    waits.runtime.spawn(move || once.call_once(first)).detach();
    eventually("it begins", || begun.load(Ordering::SeqCst));
    wait!(Once, once.call_once(|| ()));
    wait!(Once, once.wait());
    wait!(Once, kept(OnceLock::<u8>::new()).wait());
    wait!(Event, Event::manual().wait());
    wait!(Event, Event::manual().wait_timeout(HOUR));

    let (tx, _receiver) = channel::bounded::<u8>(0);
    let [t1, t2, t3] = [tx.clone(), tx.clone(), tx.clone()];
    wait!(Send, tx.send(1));
    wait!(Send, t1.send_timeout(1, HOUR));
    wait!(Send, t2.send_deadline(1, now() + HOUR));
    wait!(Send, t3.send_many(&mut VecDeque::from([1])));
    let (line, _results) = channel::ordered::<u8>(1);
    line.spawn(|| 1).unwrap();
    wait!(Send, line.spawn(|| 2));
    let (_quiet, rx) = channel::bounded::<u8>(1);
    let [r1, r2, r3, r4, r5, r6, r7] = [(); 7].map(|()| rx.clone());
    wait!(Recv, rx.recv());
    wait!(Recv, r1.recv_timeout(HOUR));
    wait!(Recv, r2.recv_deadline(now() + HOUR));
    wait!(Recv, r3.recv_many(&mut Vec::new(), 2));
    wait!(Recv, r6.iter().next());
    wait!(Recv, r7.into_iter().next());
    wait!(Select, select! { recv(r4) -> value => _ = value });
    wait!(Select, {
        let mut case = r5.recv_case();
        let mut choice = Select::new();
        choice.add(&mut case);
        choice.wait().map(drop)
    });
    let [(_o1, one), (_o2, mut two)] = [(); 2].map(|()| oneshot::channel::<u8>());
    wait!(Oneshot, one.recv());
    wait!(Oneshot, two.recv_timeout(HOUR));
    let (_all, mut broadcast) = broadcast::channel::<u8>(1);
    let mut again = broadcast.clone();
    wait!(Broadcast, broadcast.recv());
    wait!(Broadcast, again.recv_timeout(HOUR));
    let (_value, mut changes) = watch::channel(1);
    wait!(Watch, changes.changed());
    let (_other, mut value) = watch::channel(1);
    wait!(Watch, value.wait_for(|_| false).map(drop));
    wait!(Closed, kept(channel::bounded::<u8>(1)).0.closed());
    wait!(Closed, kept(oneshot::channel::<u8>()).0.closed());
    wait!(Closed, kept(broadcast::channel::<u8>(1)).0.closed());
    wait!(Closed, kept(watch::channel(1)).0.closed());
    wait!(Waitable, pirn::wait::on(&Never));
    let key = std::ptr::from_ref(kept(1_u8)).addr();
    wait!(Key, pirn::wait::park_on(key, || true));

    let (listener, (mut near, _far)) = waits.runtime.run(|| (listener(), connection()));
    let (mut full, _unread) = waits.runtime.run(connection);
    wait!(Readable, listener.accept());
    wait!(Readable, near.read(&mut [0]));
    wait!(
        Writable,
        (0..).try_for_each(|_: u64| full.write(&[0; 1 << 16]).map(drop))
    );
    wait!(Future, wait(pending::<()>()));
    wait!(Future, block_on(pending::<()>()));
    // It ends when this process does, by the end of its input.
    let mut cat = process::Command::new("cat");
    let mut cat = waits
        .runtime
        .run(|| cat.stdin(Stdio::piped()).spawn().unwrap());
    let _input = cat.stdin.take();
    wait!(Child, cat.wait());
    assert_eq!(waits.wrong(line!()), [""; 0]);

    let waited: BTreeSet<_> = waits
        .started
        .iter()
        .map(|(it, _)| format!("{it:?}"))
        .collect();
    assert_eq!(waited, reasons(), "each reason has a wait here");
}
