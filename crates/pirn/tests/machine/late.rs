//! The library is used by destructors of thread-locals, and by handlers that run at the end of the
//! process, whether the thread has used it before or not.

use std::cell::Cell;
use std::io::{Read, Write};
use std::thread;
use std::time::Duration;

use pirn::cancel::{Token, check, shield, with_deadline};
use pirn::dispatcher::Dispatcher;
use pirn::net::{TcpListener, TcpStream};
use pirn::process::Command;
use pirn::runtime::{Handle, Runtime};
use pirn::scope::{TaskGroup, race};
use pirn::sync::{Barrier, Event, Mutex, OnceLock, RwLock, Semaphore};
use pirn::{blocking, channel, compute, future, park, scope, sleep, spawn, timeout};

use crate::util::{LONG, apart};

const SHORT: Duration = Duration::from_millis(1);

/// Calls `f` when it is dropped.
struct Late(Cell<Option<fn()>>);

impl Drop for Late {
    fn drop(&mut self) {
        if let Some(f) = self.0.take() {
            f();
        }
    }
}

std::thread_local! {
    static LATE: Late = const { Late(Cell::new(None)) };
}

/// Uses each entry point of the library once, and reports that.
fn everything() {
    assert_eq!(pirn::run(|| 1), 1);
    assert_eq!(spawn(|| 2).join().unwrap(), 2);
    assert_eq!(scope(|s| s.spawn(|| 3).join().unwrap()), 3);
    let group = TaskGroup::new();
    assert!(group.spawn(|| ()).is_ok());
    group.wait().unwrap();
    future::block_on(future::sleep(SHORT));
    sleep(SHORT).unwrap();
    let (tx, rx) = channel::bounded(0);
    let sending = spawn(move || tx.send(4).unwrap());
    assert_eq!(rx.recv().unwrap(), 4);
    sending.join().unwrap();
    *Mutex::new(0).lock() += 1;
    drop(Semaphore::new(1).acquire(1).unwrap());
    assert_eq!(timeout(LONG, || 5).unwrap(), 5);
    assert_eq!(blocking(|| 6), 6);
    assert_eq!(compute(|| 7), 7);
    let handle = Handle::current();
    handle.enter(|| handle.enter(|| spawn(|| ()).join().unwrap()));
    assert!(Handle::try_current().is_none());
    let token = Token::new();
    token.child().cancel();
    pirn::current().unpark();
    park();
    pirn::yield_now();
    assert_eq!(pirn::par::map(0..4_usize, |n| n * n), [0, 1, 4, 9]);
    communicate();
    use_the_system();
    eprintln!("late: everything was used");
}

/// Channels of every kind, locks, events, and waits for one of several.
fn communicate() {
    let (tx, rx) = channel::oneshot::channel();
    spawn(move || tx.send(1).unwrap()).detach();
    assert_eq!(rx.recv(), Ok(1));
    let (tx, mut rx) = channel::broadcast::channel(4);
    tx.send(2).unwrap();
    assert_eq!(rx.recv(), Ok(2));
    let (tx, mut rx) = channel::watch::channel(0);
    tx.send(3).unwrap();
    assert_eq!(rx.changed(), Ok(()));
    let (tx, rx) = channel::unbounded();
    let sending = spawn(move || tx.send(4).unwrap());
    assert_eq!(future::block_on(rx.recv_async()), Ok(4));
    sending.join().unwrap();
    let (_tx, never) = channel::bounded::<()>(0);
    pirn::select! {
        recv(never) -> _ => unreachable!("no value comes"),
        after(SHORT) => {}
    }
    *RwLock::new(0).write() += 1;
    let event = Event::manual();
    event.set();
    event.wait().unwrap();
    assert!(Barrier::new(1).wait().is_leader());
    assert_eq!(*OnceLock::new().get_or_init(|| 5), 5);
    assert_eq!(shield(|| sleep(SHORT)), Ok(()));
    let past = pirn::time::now();
    assert!(with_deadline(past, check).is_err());
    assert_eq!(race([|| 6]), Some(6));
    assert_eq!(pirn::join(|| 7, || 8), (7, 8));
    assert!(is_cancelled());
    LOCAL.set(9);
    assert_eq!(LOCAL.get(), 9);
}

pirn::fiber_local! {
    static LOCAL: Cell<u32> = Cell::new(0);
}

/// Cancels a fiber that a join has not waited for. Returns whether its sleep has not ended.
fn is_cancelled() -> bool {
    let sleeps = spawn(|| sleep(LONG));
    let sleeps = sleeps.join_timeout(SHORT).unwrap_err();
    sleeps.cancel();
    // An error if it has not begun.
    sleeps.join().map_or(true, |slept| slept.is_err())
}

/// Dispatchers, files, sockets, processes, reports, and a runtime of its own.
fn use_the_system() {
    assert_eq!(Dispatcher::io().run(|| 1), 1);
    assert!(pirn::fs::metadata("/").unwrap().is_dir());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let connecting = spawn(move || TcpStream::connect(address).unwrap());
    let (mut here, _) = listener.accept().unwrap();
    let mut there = connecting.join().unwrap();
    here.write_all(b"late").unwrap();
    let mut said = [0; 4];
    there.read_exact(&mut said).unwrap();
    assert_eq!(&said, b"late");
    assert!(Command::new("true").status().unwrap().success());
    let handle = Handle::current();
    let waits = spawn(park);
    assert!(handle.metrics().total.spawned > 0);
    drop(handle.fibers());
    waits.fiber().unpark();
    waits.join().unwrap();
    let own = Runtime::builder().workers(1).build().unwrap();
    assert_eq!(own.run(|| spawn(|| 2).join().unwrap()), 2);
    let hand = Runtime::builder().workers(0).build().unwrap();
    let fiber = hand.spawn(|| 3);
    hand.run_until_idle();
    assert_eq!(fiber.join().unwrap(), 3);
}

fn expect_used(name: &str, part: impl FnOnce()) {
    let Some(ended) = apart(name, &[], part) else {
        return;
    };
    assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    let times = ended.stderr.matches("late: everything was used").count();
    assert_eq!(times, 2, "{}", ended.stderr);
}

/// The destructor runs after those of the library, which the thread has used later.
// Proves: E1-late.
#[test]
fn in_a_destructor_that_comes_last() {
    expect_used("late::in_a_destructor_that_comes_last", || {
        let last = thread::spawn(|| {
            LATE.with(|late| late.0.set(Some(everything)));
            everything();
        });
        last.join().unwrap();
    });
}

/// The destructor runs before those of the library, which the thread has used earlier.
// Proves: E1-late.
#[test]
fn in_a_destructor_that_comes_first() {
    expect_used("late::in_a_destructor_that_comes_first", || {
        let first = thread::spawn(|| {
            everything();
            LATE.with(|late| late.0.set(Some(everything)));
        });
        first.join().unwrap();
    });
}

/// The thread uses the library for the first time in its destructors.
// Proves: E1-late.
#[test]
fn in_a_destructor_alone() {
    expect_used("late::in_a_destructor_alone", || {
        everything();
        let alone = thread::spawn(|| LATE.with(|late| late.0.set(Some(everything))));
        alone.join().unwrap();
    });
}

/// A handler at the end of the process runs after all destructors of the thread that ends it.
// Proves: E1-late.
#[test]
#[expect(unsafe_code, reason = "registers a handler with the C library")]
fn in_a_handler_at_the_end_of_the_process() {
    unsafe extern "C" {
        safe fn atexit(handler: extern "C" fn()) -> i32;
    }
    extern "C" fn handler() {
        everything();
    }
    expect_used("late::in_a_handler_at_the_end_of_the_process", || {
        assert_eq!(atexit(handler), 0);
        everything();
        std::process::exit(0);
    });
}
