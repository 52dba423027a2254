//! Spawning in the steady state allocates nothing: neither from the allocator, which this binary
//! counts, nor from the system. Nor does a writer that waits for a slow reader.
#![cfg(not(any(loom, shuttle, pirn_asan, pirn_tsan)))]
#![allow(
    clippy::disallowed_methods,
    reason = "starts strace, where it is there"
)]

#[path = "../src/base/tests/unmeasured.rs"]
mod unmeasured;

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pirn::dispatcher::Dispatcher;
use pirn::net::UnixStream;
use pirn::par::graph::{Access, Graph};
use pirn::runtime::Scheduler;
use pirn::{JoinHandle, Runtime};
use socket2::SockRef;

use unmeasured::unmeasured;

/// Counts the allocations of every thread.
struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

/// Bytes in blocks that have not been freed.
static IN_USE: AtomicU64 = AtomicU64::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[expect(
    unsafe_code,
    reason = "the trait is unsafe; it is passed on as it comes"
)]
// SAFETY: every call is forwarded to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        IN_USE.fetch_add(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        IN_USE.fetch_add(size as u64, Ordering::Relaxed);
        IN_USE.fetch_sub(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.realloc(block, layout, size) }
    }
}

const ROUNDS: usize = 1_000_000;
/// Blocks that the loop itself allocates: its list of handles.
const OWN: u64 = 1;

/// Memory that the process has requested from the system so far.
#[derive(Debug, Clone, Copy)]
struct Asked {
    faults: u64,
    mappings: usize,
}

fn asked() -> Asked {
    let stat = fs::read_to_string("/proc/self/stat").expect("is there");
    let (_, fields) = stat.rsplit_once(')').expect("a name in brackets");
    let faults = fields
        .split_whitespace()
        .nth(7)
        .and_then(|n| n.parse().ok());
    let maps = fs::read_to_string("/proc/self/maps").expect("is there");
    Asked {
        faults: faults.expect("a number"),
        mappings: maps.lines().count(),
    }
}

/// Spawns fibers of one kind and joins them, on a fiber, `alive` at a time.
fn rounds<const CAPTURE: usize, const RESULT: usize>(
    runtime: &Runtime,
    rounds: usize,
    alive: usize,
) {
    runtime.run(|| {
        let mut fibers: Vec<JoinHandle<[u8; RESULT]>> = Vec::with_capacity(alive);
        for round in 0..rounds / alive {
            fibers.extend((0..alive).map(|_| {
                let capture = [round as u8; CAPTURE];
                pirn::spawn(move || [capture.last().map_or(1, |last| last | 1); RESULT])
            }));
            for fiber in fibers.drain(..) {
                let result = fiber.join().expect("it does not panic");
                assert!(result.last().is_none_or(|byte| byte & 1 == 1));
            }
        }
    });
}

/// Runs so many fibers of a kind on both workers that their caches are filled.
fn warm_up(runtime: &Runtime, rounds: fn(&Runtime, usize, usize)) {
    rounds(runtime, 200_000, 1_000);
    rounds(runtime, 50_000, 1);
    stock_stacks(runtime);
}

/// Runs a few fibers that wait at once, so that a delayed worker, and one that takes over, find
/// stacks that have been used before.
fn stock_stacks(runtime: &Runtime) {
    const STACKS: u64 = 32;
    let waiting = AtomicU64::new(0);
    runtime.scope(|s| {
        for _ in 0..STACKS {
            s.spawn(|| {
                waiting.fetch_add(1, Ordering::SeqCst);
                while waiting.load(Ordering::SeqCst) < STACKS {
                    pirn::yield_now();
                }
            });
        }
    });
}

/// Returns a runtime with two started workers, which creates their threads and stacks.
fn started(scheduler: Scheduler) -> Runtime {
    let runtime = Runtime::builder()
        .workers(2)
        // A thread that is added while one of the two waits for a processor costs memory.
        .max_threads(2)
        .scheduler(scheduler)
        // The deadlock detector allocates.
        .deadlock(pirn::runtime::Deadlock::Off)
        .build();
    let runtime = runtime.expect("a runtime starts");
    let arrived = AtomicU64::new(0);
    let arrive = || {
        arrived.fetch_add(1, Ordering::SeqCst);
        while arrived.load(Ordering::SeqCst) < 2 {
            std::thread::yield_now();
        }
    };
    runtime.scope(|s| {
        s.spawn(arrive);
        s.spawn(arrive);
    });
    runtime
}

/// Runs `part` in a process of its own, which allocates for nothing else; one such process at a
/// time. `name` is the name of the calling test.
fn apart(name: &str, part: fn()) {
    static ONE: Mutex<()> = Mutex::new(());
    if std::env::var_os(PART).is_some_and(|is| is == name) {
        return part();
    }
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let ended = Command::new(std::env::current_exe().expect("this binary"))
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .env(PART, name)
        .stdin(Stdio::null())
        .output()
        .expect("a process starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&ended.stdout), text(&ended.stderr));
    assert!(ended.status.success(), "{stdout}\n{stderr}");
    assert!(stdout.contains("1 passed"), "{stdout}");
}

/// Returns how many blocks all threads allocate while `f` runs.
fn blocks_of(f: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.load(Ordering::SeqCst);
    f();
    ALLOCATIONS.load(Ordering::SeqCst) - before
}

/// M11. A million rounds of spawn and join: no block, no mapping, no page, with
/// captures of 0, 64, 128 and 832 bytes and results of 0, 64 and 832.
// Proves: H-10, M4, M8, R6.
#[test]
fn alone_the_steady_state_allocates_nothing() {
    apart(
        "alone_the_steady_state_allocates_nothing",
        the_steady_state_allocates_nothing,
    );
}

fn the_steady_state_allocates_nothing() {
    type Kind = (&'static str, fn(&Runtime, usize, usize));
    let kinds: [Kind; 7] = [
        ("0 to 0", rounds::<0, 0>),
        ("64 to 0", rounds::<64, 0>),
        ("128 to 0", rounds::<128, 0>),
        ("0 to 64", rounds::<0, 64>),
        ("64 to 64", rounds::<64, 64>),
        ("128 to 64", rounds::<128, 64>),
        // The most that the largest header holds.
        ("832 to 832", rounds::<832, 832>),
    ];
    for scheduler in [Scheduler::WorkStealing, Scheduler::SingleQueue] {
        let runtime = started(scheduler);
        let share = if scheduler == Scheduler::WorkStealing {
            1
        } else {
            10
        };
        for (kind, rounds) in kinds {
            warm_up(&runtime, rounds);
            let before = asked();
            let blocks = blocks_of(|| rounds(&runtime, ROUNDS / share, 1)) - OWN;
            let after = asked();
            let what = format!("{kind} bytes, {scheduler:?}: {before:?}, then {after:?}");
            assert_eq!(blocks, 0, "blocks: {what}");
            assert_eq!(after.mappings, before.mappings, "{what}");
            assert!(after.faults - before.faults < 64, "{what}");
        }
    }
}

/// M4. The same for bursts: once the largest number of fibers has been alive, a burst allocates
/// nothing, on whichever worker its fibers start and end.
// Proves: R6.
#[test]
fn alone_a_warm_burst_allocates_nothing() {
    apart(
        "alone_a_warm_burst_allocates_nothing",
        a_warm_burst_allocates_nothing,
    );
}

fn a_warm_burst_allocates_nothing() {
    const BURST: usize = 2_000;
    let runtime = started(Scheduler::WorkStealing);
    let mut handles = Vec::with_capacity(BURST);
    let mut burst = || {
        runtime.run(|| {
            handles.extend((0..BURST).map(|i| pirn::spawn(move || i)));
            for (i, fiber) in handles.drain(..).enumerate() {
                assert_eq!(fiber.join().expect("it does not panic"), i);
            }
        });
    };
    (0..200).for_each(|_| burst());
    let blocks = blocks_of(|| (0..200).for_each(|_| burst()));
    // Magazines travel between threads in a list that may still grow once or twice.
    assert!(blocks < 16, "{blocks} blocks for {} fibers", 200 * BURST);
}

/// Children of a scope need no block of their own, however many it has had.
// Proves: K10.
#[test]
fn alone_children_allocate_nothing() {
    apart("alone_children_allocate_nothing", children_allocate_nothing);
}

fn children_allocate_nothing() {
    let runtime = started(Scheduler::WorkStealing);
    let wave = || {
        runtime.scope(|s| {
            for _ in 0..100 {
                (0..100).for_each(|_| drop(s.spawn(|| ())));
                s.wait().expect("no interrupt");
            }
        });
    };
    (0..20).for_each(|_| wave());
    let blocks = blocks_of(wave);
    assert!(blocks < 64, "{blocks} blocks for 10,000 children");
}

/// A scope keeps nothing of a child that has ended: the bytes in use stay the same.
// Proves: K10.
#[test]
fn alone_a_scope_keeps_nothing_of_its_children() {
    apart(
        "alone_a_scope_keeps_nothing_of_its_children",
        a_scope_keeps_nothing_of_its_children,
    );
}

fn a_scope_keeps_nothing_of_its_children() {
    const CHILDREN: u64 = 100_000;
    let runtime = started(Scheduler::WorkStealing);
    runtime.scope(|s| {
        let wave = || {
            (0..100).for_each(|_| drop(s.spawn(|| ())));
            s.wait().expect("no interrupt");
        };
        (0..2_000).for_each(|_| wave());
        let before = IN_USE.load(Ordering::SeqCst);
        (0..CHILDREN / 100).for_each(|_| wave());
        let grown = IN_USE.load(Ordering::SeqCst).saturating_sub(before);
        // Less than one byte for each child.
        assert!(grown < CHILDREN, "{grown} bytes for {CHILDREN} children");
    });
}

/// A scope keeps nothing of a child with a panic that has been joined.
// Proves: K10.
#[test]
fn alone_a_scope_keeps_nothing_of_joined_panics() {
    apart(
        "alone_a_scope_keeps_nothing_of_joined_panics",
        a_scope_keeps_nothing_of_joined_panics,
    );
}

fn a_scope_keeps_nothing_of_joined_panics() {
    const PANICS: u64 = 20_000;
    let runtime = started(Scheduler::WorkStealing);
    std::panic::set_hook(Box::new(|_| ()));
    runtime.scope(|s| {
        let join_panic = || _ = s.spawn(|| panic!()).join().expect_err("it panics");
        (0..1_000).for_each(|_| join_panic());
        let before = resident();
        (0..PANICS).for_each(|_| join_panic());
        let grown = resident().saturating_sub(before);
        // A header is 256 bytes.
        assert!(grown < 64 * PANICS, "{grown} bytes for {PANICS} panics");
    });
}

/// Dispatchers that have ended leave no memory behind.
// Proves: L3.
#[test]
fn alone_ended_dispatchers_keep_no_memory() {
    apart(
        "alone_ended_dispatchers_keep_no_memory",
        ended_dispatchers_keep_no_memory,
    );
}

fn ended_dispatchers_keep_no_memory() {
    const DISPATCHERS: u64 = 2_000;
    let create = |n: u64| {
        let own = match n % 4 {
            0 => Dispatcher::new(2),
            _ => Dispatcher::single(),
        };
        let own = own.expect("it starts");
        own.spawn(pirn::yield_now).detach();
        assert_eq!(own.run(|| n), n);
    };
    (0..200).for_each(create);
    let before = IN_USE.load(Ordering::SeqCst);
    (0..DISPATCHERS).for_each(create);
    let grown = IN_USE.load(Ordering::SeqCst).saturating_sub(before);
    // The detector of deadlocks may look at one of them just now.
    assert!(
        grown < 100 * DISPATCHERS,
        "{grown} bytes for {DISPATCHERS} dispatchers"
    );
}

/// Marks a moment in the log of system calls.
fn mark(name: &str) {
    let _ = fs::metadata(format!("/pirn-mark-{name}"));
}

/// Set where a part runs in a process of its own.
const PART: &str = "PIRN_TEST_PART";

const TRACED: &str = "PIRN_TEST_TRACED";

/// strace sees no call for memory in the steady state. Without strace this test is skipped, and the
/// counts of faults and mappings above must suffice.
// Proves: M11.
#[test]
fn alone_the_steady_state_makes_no_memory_calls() {
    const NAME: &str = "alone_the_steady_state_makes_no_memory_calls";
    if std::env::var_os(TRACED).is_some() {
        let runtime = started(Scheduler::WorkStealing);
        warm_up(&runtime, rounds::<64, 64>);
        mark("begin");
        rounds::<64, 64>(&runtime, ROUNDS, 1);
        mark("end");
        return;
    }
    let log = std::env::temp_dir().join(format!("pirn-strace-{}", std::process::id()));
    let traced = Command::new("strace")
        .args(["-f", "-e", "trace=%memory,%file", "-o"])
        .arg(&log)
        .arg(std::env::current_exe().expect("this binary"))
        .args(["--exact", NAME, "--test-threads=1"])
        .env(TRACED, "1")
        .stdout(Stdio::null())
        .status();
    let Ok(status) = traced else {
        return unmeasured("no strace on this machine");
    };
    let text = fs::read_to_string(&log).expect("strace writes its log");
    fs::remove_file(&log).expect("it is ours");
    assert!(status.success(), "{text}");
    let between = text
        .lines()
        .skip_while(|line| !line.contains("/pirn-mark-begin"))
        .take_while(|line| !line.contains("/pirn-mark-end"));
    let calls: Vec<&str> = between.skip(1).collect();
    assert!(text.contains("/pirn-mark-end"), "the marks are in the log");
    let memory = [
        "mmap(",
        "munmap(",
        "madvise(",
        "mprotect(",
        "brk(",
        "mremap(",
    ];
    let asked: Vec<_> = calls
        .iter()
        .filter(|call| memory.iter().any(|name| call.contains(name)))
        .collect();
    assert!(asked.is_empty(), "{asked:#?}");
}

/// A wait for a future allocates once, with any number of polls; a receive that has to wait reuses
/// a header.
// Proves: S1-price.
#[test]
fn alone_a_wait_for_a_future_allocates_once() {
    apart(
        "alone_a_wait_for_a_future_allocates_once",
        a_wait_for_a_future_allocates_once,
    );
}

fn a_wait_for_a_future_allocates_once() {
    const WAITS: u64 = 1_000;
    let runtime = started(Scheduler::WorkStealing);
    let waits = || {
        runtime.run(|| {
            let (tx, rx) = pirn::channel::bounded(0);
            pirn::scope(|s| {
                s.spawn(move || {
                    (0..WAITS).for_each(|i| tx.send(i).expect("it is received"));
                });
                for i in 0..WAITS {
                    let received = pirn::future::wait(rx.recv_async());
                    assert_eq!(received, Ok(Ok(i)));
                }
            });
        });
    };
    (0..20).for_each(|_| waits());
    let blocks = blocks_of(waits);
    assert!(
        (WAITS..WAITS + 16).contains(&blocks),
        "{blocks} blocks for {WAITS} waits"
    );
}

/// A graph is put in order once; its runs then allocate nothing.
// Proves: O14-again.
#[test]
fn alone_runs_of_a_graph_allocate_nothing() {
    apart(
        "alone_runs_of_a_graph_allocate_nothing",
        runs_of_a_graph_allocate_nothing,
    );
}

fn runs_of_a_graph_allocate_nothing() {
    struct R<const N: usize>;
    const RUNS: u64 = 1_000;
    for scheduler in [Scheduler::WorkStealing, Scheduler::SingleQueue] {
        let runtime = started(scheduler);
        stock_stacks(&runtime);
        let ran = AtomicU64::new(0);
        let mut graph = Graph::new();
        for layer in 0..10_usize {
            let write = Access::new().write::<R<0>>();
            graph.add(format!("writer {layer}"), write, || {
                ran.fetch_add(1, Ordering::Relaxed);
            });
            for reader in 0..10_u32 {
                let read = Access::new().read::<R<0>>();
                graph.add(format!("reader {reader}"), read, || {
                    pirn::yield_now();
                    ran.fetch_add(1, Ordering::Relaxed);
                });
            }
        }
        let mut runs = || {
            runtime.run(|| (0..RUNS).for_each(|_| graph.run().expect("no cycle")));
        };
        (0..3).for_each(|_| runs());
        let blocks = blocks_of(&mut runs);
        // As in a burst.
        assert!(blocks < 16, "{blocks} blocks in {RUNS} runs, {scheduler:?}");
        assert_eq!(ran.load(Ordering::Relaxed), 4 * RUNS * 110);
    }
}

/// A fiber that has promoted a job may enter any number of tokens: it keeps no memory of the ones
/// that it has left.
// Proves: O9-cost.
#[test]
fn alone_tokens_that_were_left_cost_no_memory() {
    apart(
        "alone_tokens_that_were_left_cost_no_memory",
        tokens_that_were_left_cost_no_memory,
    );
}

fn tokens_that_were_left_cost_no_memory() {
    const ENTRIES: usize = 10_000;
    let runtime = Runtime::builder().workers(1).build().expect("it starts");
    runtime.run(|| {
        let (tx, rx) = pirn::channel::bounded::<()>(0);
        // The first half waits for the second one, which thereby becomes a fiber.
        let (got, sent) = pirn::par::join(|| rx.recv(), || tx.send(()));
        assert_eq!((got, sent), (Ok(()), Ok(())));
        let token = pirn::cancel::Token::new();
        let enter_many = || (0..ENTRIES).for_each(|_| token.enter(|| ()));
        enter_many();
        let before = IN_USE.load(Ordering::Relaxed);
        enter_many();
        let more = IN_USE.load(Ordering::Relaxed).saturating_sub(before);
        assert!(more < ENTRIES as u64, "{more} bytes for {ENTRIES} entries");
    });
}

/// A thousand writers with slow readers wait: their pending data is copied nowhere, however long
/// the wait, and memory taken for waiting is returned.
// Proves: N5-X-slow.
#[test]
fn alone_slow_readers_cost_no_memory() {
    apart(
        "alone_slow_readers_cost_no_memory",
        slow_readers_cost_no_memory,
    );
}

fn slow_readers_cost_no_memory() {
    static BLOCK: [u8; 1 << 16] = [7; 1 << 16];
    const LINES: usize = 1_000;
    const ROUNDS: usize = 20;
    const PIECE: usize = 1 << 10;
    for workers in [1, 2, 4] {
        let runtime = Runtime::builder().workers(workers).build().unwrap();
        let in_use = || IN_USE.load(Ordering::SeqCst);
        let before = in_use();
        let (readers, writers): (Vec<_>, Vec<_>) = (0..LINES).map(|_| line()).unzip();
        let sent = Arc::new(AtomicU64::new(0));
        let writers: Vec<_> = writers
            .into_iter()
            .map(|writer| {
                let sent = Arc::clone(&sent);
                runtime.spawn(move || -> io::Error {
                    loop {
                        match (&writer).write(&BLOCK) {
                            Ok(n) => sent.fetch_add(n as u64, Ordering::SeqCst),
                            Err(error) => return error,
                        };
                    }
                })
            })
            .collect();
        settle(&sent);
        let (waiting, resident) = (in_use(), resident());
        for _ in 0..ROUNDS {
            runtime.run(|| {
                for reader in &readers {
                    let mut piece = [0; PIECE];
                    (&*reader).read_exact(&mut piece).unwrap();
                    assert_eq!(piece, [7; PIECE]);
                }
            });
        }
        settle(&sent);
        let each = (in_use() - before) / LINES as u64;
        assert!(each < 4_096, "{each} bytes for each connection");
        let more = in_use().saturating_sub(waiting);
        assert!(more < 1 << 18, "{more} bytes more after a while");
        let grown = self::resident().saturating_sub(resident);
        assert!(grown < 4 << 20, "{grown} bytes more in the process");
        let passed = sent.load(Ordering::SeqCst);
        assert!(passed >= (LINES * ROUNDS * PIECE) as u64, "{passed} bytes");
        drop(readers);
        for writer in writers {
            assert_eq!(writer.join().unwrap().kind(), ErrorKind::BrokenPipe);
        }
        drop(runtime);
        println!(
            "{workers} workers: {each} bytes a connection, {grown} more in the process"
        );
    }
}

/// The two ends of a connection with small buffers.
fn line() -> (UnixStream, UnixStream) {
    let (one, other) = UnixStream::pair().unwrap();
    for end in [&one, &other] {
        SockRef::from(end).set_send_buffer_size(4_096).unwrap();
    }
    (one, other)
}

/// Returns once `count` no longer changes.
fn settle(count: &AtomicU64) {
    let mut before = u64::MAX;
    while before != count.load(Ordering::SeqCst) {
        before = count.load(Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Bytes of memory that the process has in use.
fn resident() -> u64 {
    let text = fs::read_to_string("/proc/self/statm").expect("is there");
    let pages = text.split(' ').nth(1).and_then(|n| n.parse().ok());
    4_096 * pages.unwrap_or(0_u64)
}
