//! Fibers and threads wait for futures; a fiber does not wait inside a poll.

use std::cell::Cell;
use std::future::{pending, poll_fn, ready};
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use pirn::channel;
use pirn::future::{block_on, wait};
use pirn::scope::TaskGroup;
use pirn::sync::{Barrier, Condvar, Event, Mutex, Once, RwLock, Semaphore, WaitGroup};
use pirn::{Interrupt, Runtime, cancel, time};

use crate::executor_kind::{EXECUTOR_KINDS, Jobs, alone, for_ever, runtime};
use crate::futures_fixture::{Gate, give_way};
use crate::util::{Drops, eventually, on_every_shape, scaled};

/// A future may borrow, need not be `Send`, and is polled on the waiting fiber or thread.
// Proves: S1.
#[test]
fn a_future_yields_where_it_is_waited_for() {
    on_every_shape(|runtime| {
        runtime.run(|| {
            let mut log = Vec::new();
            let shared = Rc::new(Cell::new(1));
            let yielded = wait(async {
                log.push(shared.get());
                give_way(3).await;
                shared.set(ready(2).await);
                log.push(shared.get());
                "done"
            });
            assert_eq!((yielded, &log[..]), (Ok("done"), &[1, 2][..]));
        });
    });
    assert_eq!(block_on(async { ready(1).await + 1 }), 2);
    assert_eq!(wait(async { ready(1).await + 1 }), Ok(2));
}

/// Fibers and threads wake at every moment, and no wake is lost.
// Proves: S1.
#[test]
fn wakes_come_from_anywhere() {
    for executor in EXECUTOR_KINDS {
        for workers in [1, 2, 4] {
            let gates: Vec<_> = (0..scaled(200)).map(|_| Gate::default()).collect();
            let mut jobs = Jobs::new();
            for (i, gate) in gates.iter().enumerate() {
                jobs.add(move || match i % 4 < 2 {
                    true => wait(gate.clone()).unwrap(),
                    false => block_on(gate.clone()),
                });
                jobs.add(move || gate.open());
            }
            jobs.run(executor, workers);
        }
    }
}

/// A waker is valid at any time: during a poll, twice, and after the end; and it is the same one at
/// each poll of one wait.
// Proves: S1.
#[test]
fn a_waker_outlives_its_wait() {
    let keep = Gate::default();
    for _ in 0..2 {
        runtime(2).run(|| {
            let mut wakers = Vec::new();
            let mut left = 3;
            wait(poll_fn(|context| {
                wakers.push(context.waker().clone());
                left -= 1;
                if left == 0 {
                    return Poll::Ready(());
                }
                context.waker().wake_by_ref();
                wakers[0].wake_by_ref();
                Poll::Pending
            }))
            .unwrap();
            assert!(wakers.iter().all(|waker| waker.will_wake(&wakers[0])));
            std::thread::scope(|scope| {
                for waker in &wakers {
                    scope.spawn(|| waker.wake_by_ref());
                }
            });
            // They end no other wait.
            let limit = pirn::timeout(Duration::from_millis(5), || {
                wakers.iter().for_each(|waker| waker.wake_by_ref());
                wait(pending::<()>())
            });
            assert!(limit.is_err());
            let gate = keep.clone();
            assert!(pirn::timeout(Duration::from_millis(1), || wait(gate)).is_err());
        });
    }
    keep.waker().expect("it has been polled").wake();
}

/// An interrupted wait drops its future, on the waiting fiber; a wait that is interrupted before
/// has not polled it.
// Proves: S2.
#[test]
fn an_interrupt_drops_the_future() {
    on_every_shape(|runtime| {
        let drops = Drops::default();
        let polled = Arc::new(AtomicUsize::new(0));
        let fiber = runtime.spawn({
            let (drops, polled) = (drops.clone(), Arc::clone(&polled));
            move || {
                let one = drops.one();
                let first = wait(async {
                    let _one = one;
                    polled.fetch_add(1, Ordering::SeqCst);
                    pending::<()>().await;
                });
                assert_eq!((first, drops.count()), (Err(Interrupt::Cancelled), 1));
                let (one, count) = (drops.one(), Arc::clone(&polled));
                let second = wait(async move {
                    let _one = one;
                    count.fetch_add(1, Ordering::SeqCst);
                });
                assert_eq!((second, drops.count()), (Err(Interrupt::Cancelled), 2));
                // That is not an interruption point.
                block_on(give_way(2));
                assert_eq!(cancel::shield(|| wait(async { 7 })), Ok(7));
            }
        });
        eventually("it polls", || polled.load(Ordering::SeqCst) == 1);
        fiber.cancel();
        fiber.join().unwrap();
        assert_eq!(polled.load(Ordering::SeqCst), 1);
        // A deadline, on a fiber and on a thread.
        let limited =
            || pirn::timeout(Duration::from_millis(1), || wait(pending::<()>()));
        assert!(runtime.run(limited).is_err());
        assert!(limited().is_err());
    });
}

/// A future that wakes itself without end lets other fibers run.
// Proves: S2.
#[test]
fn a_future_that_wakes_itself_yields() {
    alone(|| {
        let stop = Arc::new(AtomicBool::new(false));
        let other = pirn::spawn({
            let stop = Arc::clone(&stop);
            move || stop.store(true, Ordering::SeqCst)
        });
        wait(poll_fn(|context| {
            context.waker().wake_by_ref();
            match stop.load(Ordering::SeqCst) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        }))
        .unwrap();
        other.join().unwrap();
    });
}

/// The message of a call that panicked inside a poll; none if it did not.
fn said_in_poll(call: impl FnOnce()) -> Option<String> {
    let mut call = Some(call);
    let raised = catch_unwind(AssertUnwindSafe(|| {
        block_on(poll_fn(|_| {
            (call.take().expect("one poll"))();
            Poll::Ready(())
        }));
    }));
    let panic = raised.err()?;
    let text = panic.downcast_ref::<String>().cloned();
    Some(text.unwrap_or_else(|| (*panic.downcast_ref::<&str>().unwrap()).to_owned()))
}

/// Such a call inside a poll panics, with advice.
#[track_caller]
fn refused(what: &str, call: impl FnOnce()) {
    let said = said_in_poll(call);
    let advised = said.is_some_and(|said| said.contains("pirn::future::fiber"));
    assert!(advised, "{what} inside a poll");
}

/// Inside a poll a call that would have to wait panics on a fiber, with advice. It leaves no state
/// behind, and the fiber can wait as usual.
// Proves: N5-X-cached, S3.
#[test]
fn a_wait_inside_a_poll_panics() {
    on_every_shape(|runtime| runtime.run(waits_inside_a_poll));
}

fn waits_inside_a_poll() {
    let long = Duration::from_secs(3600);
    let (tx, rx) = channel::bounded::<Box<u32>>(1);
    refused("recv", || drop(rx.recv()));
    tx.send(Box::new(1)).unwrap();
    refused("send", || drop(tx.send(Box::new(2))));
    refused("send_timeout", || drop(tx.send_timeout(Box::new(2), long)));
    assert_eq!((rx.len(), rx.recv()), (1, Ok(Box::new(1))));
    refused("select", || {
        pirn::select! { recv(rx) -> _ => {}, after(long) => {}, }
    });
    refused("sleep", || _ = pirn::sleep(long));
    refused("park", pirn::park);
    refused("yield_now", pirn::yield_now);
    let mut ticks = time::interval(long);
    ticks.tick().unwrap();
    refused("interval", || _ = ticks.tick());
    let child = pirn::spawn(move || rx.recv().is_err());
    refused("join", || _ = child.wait());
    let (_sender, later) = channel::oneshot::channel::<u8>();
    refused("oneshot", || _ = later.recv());
    let token = cancel::Token::new();
    refused("token", || token.wait());
    refused("future::wait", || _ = wait(ready(())));
    refused("block_on", || block_on(ready(())));
    refused("scope", || pirn::scope(|_| ()));
    refused("blocking", || pirn::blocking(|| ()));
    refused("run", || runtime(1).run(|| ()));
    refused("dispatcher", || {
        pirn::dispatcher::Dispatcher::new(1).unwrap().run(|| ());
    });
    drop(tx);
    assert!(child.join().unwrap());
    locks_inside_a_poll();
    others_inside_a_poll();
}

fn others_inside_a_poll() {
    let word = 0_u8;
    let key = &raw const word as usize;
    refused("park_on", || _ = pirn::wait::park_on(key, || true));
    assert_eq!(pirn::wait::unpark_all(key), 0);
    let group: TaskGroup = TaskGroup::new();
    group.spawn(|| _ = for_ever()).unwrap();
    refused("group", || _ = group.wait());
    let file = std::env::current_exe().unwrap();
    let file = pirn::fs::File::open(file).unwrap();
    // Whether or not it is cached.
    refused("read", || _ = (&file).read(&mut [0; 16]));
    refused("wait_idle", || {
        _ = pirn::runtime::Handle::current().wait_idle();
    });
}

/// Locks that a refused wait has queued for work afterwards.
fn locks_inside_a_poll() {
    let mutex = Mutex::new(0);
    let guard = mutex.lock();
    refused("mutex", || *mutex.lock() += 1);
    drop(guard);
    *mutex.lock() += 1;
    let condvar = Condvar::new();
    refused("condvar", || drop(condvar.wait(mutex.lock())));
    *mutex.lock() += 1;
    let rwlock = RwLock::new(0);
    let guard = rwlock.read();
    refused("write", || *rwlock.write() += 1);
    drop((rwlock.read(), guard));
    let guard = rwlock.write();
    refused("read", || drop(rwlock.read()));
    drop(guard);
    *rwlock.write() += 1;
    let semaphore = Semaphore::new(1);
    let permit = semaphore.acquire(1).unwrap();
    refused("semaphore", || drop(semaphore.acquire(1)));
    drop(permit);
    drop(semaphore.acquire(1).unwrap());
    let barrier = Barrier::new(2);
    refused("barrier", || _ = barrier.wait());
    pirn::scope(|scope| {
        scope.spawn(|| barrier.wait());
        barrier.wait();
    });
    let group = WaitGroup::new();
    let member = group.clone();
    refused("wait group", || _ = group.wait());
    drop(member);
    group.wait().unwrap();
    let event = Event::manual();
    refused("event", || _ = event.wait());
    event.set();
    event.wait().unwrap();
    let once = Once::new();
    once.call_once(|| refused("once", || once.call_once(|| ())));
    assert!(once.is_completed());
}

/// A call that need not wait works inside a poll, and no budget is consumed there.
// Proves: S3.
#[test]
fn what_need_not_wait_works_inside_a_poll() {
    alone(|| {
        let ran = Arc::new(AtomicBool::new(false));
        let other = pirn::spawn({
            let ran = Arc::clone(&ran);
            move || ran.store(true, Ordering::SeqCst)
        });
        let (tx, rx) = channel::bounded(1);
        let mutex = Mutex::new(0);
        let rwlock = RwLock::new(0);
        let said = said_in_poll(|| {
            for i in 0..1000 {
                tx.send(i).unwrap();
                assert_eq!(rx.recv(), Ok(i));
                *mutex.lock() += 1;
                *rwlock.write() += *mutex.lock();
                pirn::spawn::checkpoint().unwrap();
                pirn::sleep(Duration::ZERO).unwrap();
                drop(rwlock.read());
            }
            pirn::select! { recv(rx) -> _ => panic!("empty"), default => {} }
            pirn::current().unpark();
            pirn::park();
            assert_eq!(pirn::run(|| 1), 1);
        });
        assert_eq!((said, ran.load(Ordering::SeqCst)), (None, false));
        assert_eq!((*mutex.lock(), tx.len()), (1000, 0));
        // The first operation after the poll yields.
        pirn::spawn::checkpoint().unwrap();
        assert!(ran.load(Ordering::SeqCst));
        other.join().unwrap();
    });
}

/// A poll that panics is over.
// Proves: S3.
#[test]
fn a_poll_that_panics_is_over() {
    on_every_shape(|runtime| {
        runtime.run(|| {
            for _ in 0..3 {
                let raised = catch_unwind(|| wait(async { panic!("so") }));
                let panic = raised.unwrap_err();
                assert_eq!(panic.downcast_ref::<&str>(), Some(&"so"));
                assert!(said_in_poll(|| _ = wait(ready(()))).is_some());
                pirn::scope(|scope| scope.spawn(|| wait(give_way(1))).join().unwrap())
                    .unwrap();
            }
        });
    });
}

/// A destructor that waits during a poll that panics behaves as in any fiber that unwinds.
// Proves: S3.
#[test]
fn a_destructor_waits_amid_a_poll_that_panics() {
    struct Receives(channel::Receiver<()>, Arc<AtomicBool>);
    impl Drop for Receives {
        fn drop(&mut self) {
            self.1.store(self.0.recv().is_ok(), Ordering::SeqCst);
        }
    }
    let runtime = runtime(2);
    let (tx, rx) = channel::bounded(0);
    let received = Arc::new(AtomicBool::new(false));
    let fiber = runtime.spawn({
        let received = Arc::clone(&received);
        move || {
            wait(async move {
                let _receives = Receives(rx, received);
                panic!("so");
            })
        }
    });
    tx.send(()).unwrap();
    assert!(fiber.join().unwrap_err().is_panic());
    assert!(received.load(Ordering::SeqCst));
}

/// On a plain thread a wait inside a poll blocks, as any wait does.
// Proves: S3.
#[test]
fn a_thread_waits_inside_a_poll() {
    let (tx, rx) = channel::bounded(0);
    let sender = pirn::spawn(move || tx.send(7).unwrap());
    let received = block_on(async {
        let received = rx.recv().unwrap();
        block_on(give_way(2));
        pirn::scope(|scope| scope.spawn(|| received + 1).join().unwrap())
    });
    assert_eq!(received, 8);
    sender.join().unwrap();
}

/// Reports name the future's wait of a fiber.
// Proves: S4.
#[test]
fn a_wait_for_a_future_is_reported() {
    let runtime = runtime(1);
    let gate = Gate::default();
    let fiber = runtime.spawn({
        let gate = gate.clone();
        move || wait(gate)
    });
    eventually("it parks", || {
        let fibers = runtime.fibers();
        fibers.iter().any(|fiber| {
            fiber.reason == Some(pirn::diag::Reason::Future)
                && fiber
                    .waits_for
                    .as_ref()
                    .is_some_and(|object| object.to_string().starts_with("future"))
        })
    });
    gate.open();
    fiber.join().unwrap().unwrap();
}

/// Wakes, interrupts and deadlines coincide at every moment.
// Proves: S1, S1 (free).
#[test]
fn a_storm_of_wakes_and_interrupts() {
    for workers in [1, 2, 4] {
        let runtime: Runtime = runtime(workers);
        let (tx, rx) = channel::unbounded();
        let waker = std::thread::spawn({
            move || {
                let mut seed = 1_u32;
                while let Ok((gate, handle)) = rx.recv() {
                    let (gate, handle): (Gate, pirn::spawn::Fiber) = (gate, handle);
                    seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    if let Some(waker) = gate.waker() {
                        waker.wake_by_ref();
                        waker.wake();
                    }
                    match seed >> 30 {
                        0 => handle.unpark(),
                        1 => std::thread::yield_now(),
                        _ => {}
                    }
                    gate.open();
                }
            }
        });
        runtime.scope(|scope| {
            for i in 0..scaled(20_000) {
                let tx = tx.clone();
                let handle = scope.spawn(move || {
                    let gate = Gate::default();
                    // Refused if the cancellation arrives between the start and this send.
                    tx.send((gate.clone(), pirn::current())).or(Err(()))?;
                    match i % 3 {
                        0 => wait(gate).or(Err(())),
                        1 => pirn::timeout(Duration::from_micros(50), || wait(gate))
                            .map(|_| ())
                            .or(Ok(())),
                        _ => {
                            block_on(gate);
                            Ok(())
                        }
                    }
                });
                if i % 3 == 0 {
                    handle.cancel();
                }
            }
        });
        drop(tx);
        waker.join().unwrap();
        assert_eq!(runtime.metrics().total.rescues, 0);
    }
}

/// A select with a default inside a poll waits for nothing: the poll goes on as one, and its timers
/// stay those of the fiber.
// Proves: S3.
#[test]
fn a_select_with_a_default_leaves_the_poll_a_poll() {
    let looks = || {
        let (_one, a) = channel::unbounded::<()>();
        let (_other, b) = channel::unbounded::<()>();
        pirn::select! {
            recv(a) -> _ => {},
            recv(b) -> _ => {},
            default => {}
        }
        let refused = catch_unwind(AssertUnwindSafe(|| a.recv()));
        assert!(refused.is_err(), "it has waited in a poll");
    };
    runtime(1).run(|| {
        let ended = wait(async {
            looks();
            pirn::future::sleep(Duration::from_millis(1)).await;
        });
        assert_eq!(ended, Ok(()));
    });
}
