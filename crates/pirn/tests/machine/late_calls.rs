//! Calls of the library for `late`: fibers, scopes, runtimes, futures, parallel code, reports.

use std::cell::{Cell, RefCell};
use std::io;
use std::num::NonZeroUsize;
use std::panic::{catch_unwind, resume_unwind};
use std::sync::atomic::Ordering;
use std::time::Duration;

use pirn::cancel::{self, Token};
use pirn::dispatcher::{self, Dispatcher};
use pirn::par::graph::{Access, Graph};
use pirn::runtime::{self, Deadlock, Handle, Runtime, Scheduler, Spread};
use pirn::scope::{self, TaskGroup};
use pirn::select::Select;
use pirn::sync::{Mutex, RwLock};
use pirn::{Interrupt, diag, future, par, sim, spawn, time};

use crate::util::{Directory, LONG};

const SHORT: Duration = Duration::from_millis(1);

/// Calls everything in this file.
pub(crate) fn all() {
    spawning();
    parking();
    scopes();
    groups();
    cancellation();
    futures();
    threads();
    dispatchers();
    runtimes();
    settings();
    free_migration();
    default_runtime();
    reports();
    par_results();
    par_sorts();
    par_splits();
    par_graph();
    simulation();
}

fn spawning() {
    assert_eq!(pirn::run(|| 1), 1);
    assert_eq!(spawn(|| 2).join().unwrap(), 2);
    let builder = spawn::Builder::new().name("late").stack_size(1 << 16);
    let named = builder.spawn(|| spawn::current().name().map(str::len));
    assert_eq!(named.unwrap().join().unwrap(), Some(4));
    let apart = spawn::Builder::new().apart(true).spawn(|| 3).unwrap();
    assert_eq!(apart.join_timeout(LONG).unwrap().unwrap(), 3);
    let waited = spawn(|| 4);
    waited.wait().unwrap();
    assert!(waited.is_finished());
    let mut ended = waited.join_case();
    assert_eq!(Select::new().add(&mut ended), 0);
    let panics = spawn(panic_quietly);
    let panics_too = spawn(panic_quietly);
    let again = catch_unwind(|| panics_too.join().map_err(|error| error.resume()));
    assert!(again.is_err());
    let payload = panics
        .join()
        .map_or_else(spawn::JoinError::into_panic, |()| Box::new(0));
    assert_eq!(payload.downcast_ref(), Some(&5));
    spawn(|| ()).detach();
    assert!(is_cancelled());
    LOCAL.set(9);
    assert_eq!((LOCAL.get(), LOCAL.take()), (9, 9));
    LIST.with_borrow_mut(|list| list.push(1));
    assert_eq!(
        LIST.with_borrow(Vec::len),
        LIST.with(|list| list.take().len())
    );
}

pirn::fiber_local! {
    static LOCAL: Cell<u32> = Cell::new(0);
    static LIST: RefCell<Vec<u32>> = RefCell::new(Vec::new());
}

/// Cancels a fiber that a join has not waited for. Returns whether its sleep has not ended.
fn is_cancelled() -> bool {
    let sleeps = spawn(|| pirn::sleep(LONG));
    let sleeps = sleeps.join_timeout(SHORT).unwrap_err();
    sleeps.cancel();
    // An error if it has not begun.
    sleeps.join().map_or(true, |slept| slept.is_err())
}

fn parking() {
    spawn::current().unpark();
    spawn::park();
    pirn::current().unpark();
    assert_eq!(spawn::park_interruptible(), Ok(()));
    let own = spawn::current();
    let waker = spawn(move || own.unpark());
    pirn::park();
    waker.join().unwrap();
    spawn::park_timeout(SHORT);
    spawn::yield_now();
    pirn::yield_now();
    assert_eq!(spawn::checkpoint(), Ok(()));
}

fn scopes() {
    let sum = pirn::scope(|s| {
        s.on_exit(|| ());
        let one = s.spawn(|| 1);
        let two = s.try_spawn(|| 2).unwrap();
        let three = spawn::Builder::new().spawn_scoped(s, || 3).unwrap();
        let io = s.spawn_on(&Dispatcher::io(), || 4);
        s.wait().unwrap();
        assert_eq!(s.wait_timeout(LONG), Ok(true));
        [one, two, three, io].map(|fiber| fiber.join().unwrap())
    });
    assert_eq!(sum, [1, 2, 3, 4]);
    let tried = scope::try_scope(|s| {
        s.on_exit(|| ());
        let one = s.spawn(|| Ok::<_, Interrupt>(1));
        let io = s.spawn_on(&Dispatcher::io(), || Ok(2));
        s.wait()?;
        Ok((one.join(), io.join()))
    });
    assert_eq!(tried, Ok((Some(1), Some(2))));
    let failed = pirn::try_scope(|s| {
        s.spawn(|| Err::<(), _>(Interrupt::TimedOut));
        pirn::sleep(LONG)
    });
    assert_eq!(failed, Err(Interrupt::TimedOut));
    assert_eq!(scope::supervise(|s| s.spawn(|| 3).join().unwrap()), 3);
    assert_eq!(scope::scope(|s| s.spawn(|| 4).join().unwrap()), 4);
    assert_eq!(scope::all([|| Ok::<_, Interrupt>(5)]), Ok(vec![5]));
    assert_eq!(scope::any([|| Ok::<_, Interrupt>(6)]), Ok(6));
    assert_eq!(scope::race([|| 7]), Some(7));
}

fn groups() {
    let group = TaskGroup::new().limit(1);
    for n in 0..3 {
        group.spawn(move || n).unwrap();
    }
    let mut ended = 0;
    while let Some(value) = group.join_next().unwrap() {
        ended += value.unwrap();
    }
    assert_eq!(ended, 3);
    assert!(group.wait_timeout(LONG).unwrap());
    let token = Token::new();
    let under = TaskGroup::under(&token);
    under.spawn(|| pirn::sleep(LONG)).unwrap();
    token.cancel();
    under.wait().unwrap();
}

fn cancellation() {
    assert_eq!(cancel::check(), Ok(()));
    assert_eq!((cancel::deadline(), cancel::reason()), (None, None));
    let past = time::now();
    assert!(cancel::with_deadline(past, cancel::check).is_err());
    let shielded = || cancel::shield(|| pirn::sleep(SHORT));
    assert_eq!(cancel::with_deadline(past, shielded), Ok(()));
    let token = Token::new();
    let child = token.child();
    let _counts = child.on_cancel(|| ());
    let cancelling = spawn({
        let token = token.clone();
        move || token.cancel()
    });
    child.wait();
    cancelling.join().unwrap();
    assert!(child.is_cancelled() && !Token::current().is_cancelled());
    assert_eq!(token.enter(|| pirn::sleep(LONG)), Err(Interrupt::Cancelled));
    let mut case = token.case();
    Select::new().add(&mut case);
}

fn futures() {
    future::block_on(future::sleep(SHORT));
    future::wait(future::sleep_until(time::now() + SHORT)).unwrap();
    let fiber = future::fiber(|| {
        pirn::sleep(SHORT).unwrap();
        1
    });
    assert_eq!(future::block_on(fiber).unwrap(), 1);
    let slept = spawn(|| future::wait(future::sleep(SHORT)));
    slept.join().unwrap().unwrap();
    future::block_on(async {
        drop(future::fiber(|| pirn::sleep(LONG)));
        future::sleep(SHORT).await;
    });
}

fn threads() {
    assert_eq!(pirn::blocking(|| 1), 1);
    assert_eq!(pirn::compute(|| 2), 2);
    assert_eq!(pirn::blocking::blocking(|| 3), 3);
    assert_eq!(pirn::blocking::compute(|| 4), 4);
    assert_eq!(pirn::blocking::block_in_place(|| 5), 5);
    let inside = || pirn::blocking::block_in_place(|| pirn::blocking(|| 6));
    assert_eq!(spawn(inside).join().unwrap(), 6);
}

fn dispatchers() {
    assert_eq!(Dispatcher::io().run(|| 1), 1);
    let own = Dispatcher::new(1).unwrap();
    let limited = own.limited(1).queue_limit(8);
    assert_eq!(limited.spawn(|| 2).join().unwrap(), 2);
    assert_eq!(Dispatcher::single().unwrap().run(|| 3), 3);
    assert_eq!(Dispatcher::unconfined().run(|| 4), 4);
    assert_eq!(dispatcher::spawn_on(&own, || 5).join().unwrap(), 5);
    // It panics if another thread has called it and has not ended.
    let main = catch_unwind(|| dispatcher::run_main(|| Dispatcher::main().run(|| 6)));
    assert!(main.map_or_else(|panic| panic.is::<&str>(), |six| six == 6));
}

fn runtimes() {
    let own = Runtime::builder().workers(1).build().unwrap();
    assert_eq!(own.run(|| spawn(|| 2).join().unwrap()), 2);
    assert_eq!(own.scope(|s| s.spawn(|| 3).join().unwrap()), 3);
    assert_eq!(
        own.try_scope(|s| Ok(s.spawn(|| Ok::<_, Interrupt>(4)).join())),
        Ok(Some(4))
    );
    assert_eq!(own.dispatcher().run(|| 5), 5);
    assert_eq!(own.handle().spawn(|| 6).join().unwrap(), 6);
    own.wait_idle().unwrap();
    own.shutdown(LONG).unwrap();
    let hand = Runtime::builder().workers(0).build().unwrap();
    let fiber = hand.spawn(|| 3);
    hand.run_until_idle();
    assert_eq!(fiber.join().unwrap(), 3);
    assert_eq!(hand.run(|| pirn::sleep(SHORT)), Ok(()));
    let drawn = runtime::Builder::new().deterministic(1);
    assert_eq!(drawn.build().unwrap().run(|| pirn::sleep(LONG)), Ok(()));
    assert_eq!(
        runtime::test(|handle| handle.spawn(|| 7).join().unwrap()),
        7
    );
    assert_eq!(Runtime::builder().test(|_| pirn::sleep(LONG)), Ok(()));
    assert_eq!(Runtime::new().unwrap().run(|| 8), 8);
    a_test_on_fibers();
}

#[pirn::test]
fn a_test_on_fibers() {
    pirn::sleep(LONG).unwrap();
}

/// A runtime with almost all settings.
fn settings() {
    let directory = Directory::new();
    let builder = Runtime::builder()
        .workers(2)
        .name("late")
        .scheduler(Scheduler::SingleQueue)
        .spread(Spread::Evenly)
        .deadlock(Deadlock::Report)
        .prewarm(2)
        .pin_workers(true)
        .io_uring(true)
        .assertions(true)
        .stats_at_exit(true)
        .stall_signal(true)
        .slow_fiber(Some(LONG))
        .trace(directory.at("trace"))
        .on_panic(|info| assert!(info.message().is_none()))
        .on_thread_start(|| ())
        .on_thread_stop(|| ());
    #[cfg(target_os = "linux")]
    let builder = builder.inspect(directory.at("inspect"));
    let own = builder.build().unwrap();
    own.set_workers(NonZeroUsize::MIN);
    assert_eq!(own.workers(), 1);
    assert!(own.spawn(panic_quietly).join().is_err());
    own.write_trace(&mut io::sink()).unwrap();
    own.shutdown(LONG).unwrap();
}

fn panic_quietly() {
    resume_unwind(Box::new(5))
}

/// Started fibers may change threads.
#[expect(unsafe_code, reason = "the promise that allows it")]
fn free_migration() {
    // SAFETY: the fibers keep nothing of their thread.
    let builder = unsafe { Runtime::builder().workers(2).free_migration() };
    let own = builder.build().unwrap();
    let sleeping = |n| own.spawn(move || pirn::sleep(SHORT).map(|()| n));
    let fibers = [1, 2].map(sleeping);
    assert_eq!(fibers.map(|fiber| fiber.join().unwrap()), [Ok(1), Ok(2)]);
}

fn default_runtime() {
    assert_eq!(runtime::run(|| 1), 1);
    let handle = Handle::current();
    handle.enter(|| handle.enter(|| spawn(|| ()).join().unwrap()));
    assert!(Handle::try_current().is_none());
    assert!(!handle.token().is_cancelled());
    assert!(Runtime::builder().install().is_err());
    runtime::shutdown_default(LONG).unwrap();
    Runtime::builder().workers(2).install().unwrap();
    assert_eq!(runtime::run(|| 1), 1);
}

fn reports() {
    let handle = Handle::current();
    let waits = spawn(spawn::park);
    let mutex = Mutex::new(());
    diag::name_object(&mutex, "late");
    diag::dump(&mut io::sink()).unwrap();
    handle.dump(&mut io::sink()).unwrap();
    assert!(!diag::fibers().is_empty() && !handle.fibers().is_empty());
    assert_eq!(diag::external_wait(|| 1), 1);
    assert!(handle.metrics().total.spawned > 0);
    handle.metrics().prometheus(&mut io::sink()).unwrap();
    drop((handle.spawn_lines(), handle.stack_use()));
    // An error: there is no trace.
    drop(handle.write_trace(&mut io::sink()));
    waits.fiber().unpark();
    waits.join().unwrap();
    #[cfg(unix)]
    diag::dump_on_quit().unwrap();
    #[cfg(feature = "tracing")]
    assert_eq!(diag::in_span(&tracing::Span::none(), || 2), 2);
}

fn par_results() {
    assert_eq!(pirn::join(|| 7, || 8), (7, 8));
    assert_eq!(par::join(|| 7, || 8), (7, 8));
    assert_eq!(par::join_context(|_| 7, |context| context.migrated()).0, 7);
    assert_eq!(par::scope(|s| s.join(|_| 1, |_| 2)), (1, 2));
    assert_eq!(par::map(0..4_usize, |n| n * n), [0, 1, 4, 9]);
    assert_eq!(par::map_reduce(0..4_u32, || 0, |n| n * n, |a, b| a + b), 14);
    assert_eq!(par::reduce(0..4_u32, || 0, |a, b| a + b), 6);
    assert_eq!(par::sum::<_, u32>(0..4_u32), 6);
    assert_eq!(par::find_any(0..9_u32, |n| *n == 5), Some(5));
    par::for_each(0..4_u32, drop);
    assert_eq!(
        par::try_for_each(0..4_u32, |_| Ok::<_, Interrupt>(())),
        Ok(())
    );
    assert_eq!(par::try_map(0..2_u32, Ok::<_, Interrupt>), Ok(vec![0, 1]));
}

/// Sorts by each function.
fn par_sorts() {
    let sorts: [fn(&mut [u32]); 6] = [
        |items| par::sort(items),
        |items| par::sort_by(items, u32::cmp),
        |items| par::sort_by_key(items, |n| *n),
        |items| par::sort_unstable(items),
        |items| par::sort_unstable_by(items, u32::cmp),
        |items| par::sort_unstable_by_key(items, |n| *n),
    ];
    for sort in sorts {
        let mut items: Vec<u32> = (0..20_000).rev().collect();
        sort(&mut items);
        assert!(items.is_sorted());
    }
}

/// Divides slices by each function.
fn par_splits() {
    let mut items = vec![1_u32; 1_000];
    let sum = |part: &[u32]| part.iter().sum::<u32>();
    let double = |part: &mut [u32]| part.iter_mut().for_each(|n| *n *= 2);
    par::for_each(par::chunks_mut(&mut items, 7), double);
    par::for_each(par::chunks_exact_mut(&mut items, 10), double);
    par::for_each(par::rchunks_mut(&mut items, 7), double);
    par::for_each(par::rchunks_exact_mut(&mut items, 10), double);
    let sums: [u32; 4] = [
        par::map(par::chunks(&items, 7), sum).iter().sum(),
        par::map(par::chunks_exact(&items, 10), sum).iter().sum(),
        par::map(par::rchunks(&items, 7), sum).iter().sum(),
        par::map(par::rchunks_exact(&items, 10), sum).iter().sum(),
    ];
    assert_eq!(sums, [16_000; 4]);
    par::scan(&mut items, |a, b| a + b);
    assert_eq!(items.last(), Some(&16_000));
}

fn par_graph() {
    let value = RwLock::new(1);
    let mut graph = Graph::new();
    let write = Access::new().write_named("value");
    let first = graph.add("first", write, || *value.write() += 1);
    let read = Access::new().read_named("value").after(first);
    graph.add("second", read, || assert_eq!(*value.read(), 2));
    graph.run().unwrap();
}

fn simulation() {
    assert!(!sim::is_simulated());
    sim::point();
    let count = sim::atomic::AtomicUsize::new(1);
    count.fetch_add(1, Ordering::SeqCst);
    sim::atomic::fence(Ordering::SeqCst);
    let cell = sim::cell::Racy::new(1);
    cell.set(cell.get() + 1);
    assert_eq!((cell.into_inner(), count.into_inner()), (2, 2));
}
