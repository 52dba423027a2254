//! Sources of work of one worker: each is served within a bound while all the others are full.
//! Counted in turns of fibers, so that it holds however slow the machine is.

use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use pirn::net::UnixStream;
use pirn::runtime::Scheduler;
use pirn::time::{now, sleep_until};
use pirn::{Runtime, park};

use crate::util::SCHEDULERS;

const PAIR: usize = 0;
const YIELDS: usize = 1;
const FRESH: usize = 2;
const SPAWNED: usize = 3;
const WOKEN: usize = 4;
const TIMER: usize = 5;
const SOCKET: usize = 6;
const SOURCES: usize = 7;

const NAMES: [&str; SOURCES] = [
    "pairs that wake each other",
    "loops of yields",
    "chains of fresh fibers",
    "spawns from outside",
    "wakes from outside",
    "timers",
    "sockets",
];

/// How many fibers yield, and how many chains there are.
const EACH: usize = 20;

/// The most turns of other fibers before a due source is served. The worker checks timers and its
/// inbox every 61 dispatches, the injector every 127, in whole rounds. The fibers found are queued
/// behind all ready ones: between two of those it runs at most one fiber of the ring, or of the
/// injector, and three of the `next` slot before each. In a single queue it takes one fiber at each
/// check of the injector, which holds all fresh fibers; only these wait for longer.
const fn most(scheduler: Scheduler, source: usize) -> usize {
    match (scheduler, source) {
        (Scheduler::SingleQueue, FRESH | SPAWNED) => 3 * 61 * (2 * EACH + 6),
        _ => 61 + 2 * 4 * READY,
    }
}

/// The most fibers that are ready at a time: the yielding ones, the pair, the one that sends
/// requests to a thread, its partner, the one that reads.
const READY: usize = EACH + 5;

/// The test lasts so many turns of each source.
const ENOUGH: usize = 100;

/// More turns than any source may need for that.
const AT_LAST: usize = 2 * ENOUGH * most(Scheduler::SingleQueue, FRESH);

/// Turns, counted, and the source of each.
#[derive(Default)]
struct Board {
    turns: AtomicUsize,
    /// The turn in which the source became due; 0: it is not.
    due: [AtomicUsize; SOURCES],
    longest: [AtomicUsize; SOURCES],
    served: [AtomicUsize; SOURCES],
    alarm: Mutex<Option<Instant>>,
    over: AtomicBool,
}

impl Board {
    /// Counts a turn of a fiber.
    fn turn(&self) {
        let turn = self.turns.fetch_add(1, SeqCst) + 1;
        if self.alarm.lock().unwrap().is_some_and(|at| now() >= at) {
            let _ = self.due[TIMER].compare_exchange(0, turn, SeqCst, SeqCst);
        }
        let all = self.served.iter().all(|n| n.load(SeqCst) >= ENOUGH);
        if all || turn > AT_LAST {
            self.over.store(true, SeqCst);
        }
    }

    fn is_over(&self) -> bool {
        self.over.load(SeqCst)
    }

    fn is_due(&self, source: usize) -> bool {
        self.due[source].load(SeqCst) != 0
    }

    /// Marks the source as due.
    fn expect(&self, source: usize) {
        self.due[source].store(self.turns.load(SeqCst).max(1), SeqCst);
    }

    /// The running fiber serves the source.
    fn serve(&self, source: usize) {
        self.turn();
        let due = self.due[source].swap(0, SeqCst);
        if due != 0 {
            let waited = self.turns.load(SeqCst) - due;
            self.longest[source].fetch_max(waited, SeqCst);
        }
        self.served[source].fetch_add(1, SeqCst);
    }
}

fn chain(board: Arc<Board>) {
    board.serve(FRESH);
    board.expect(FRESH);
    if !board.is_over() {
        pirn::spawn(move || chain(board)).detach();
    }
}

/// Two fibers that wake each other.
fn pair(board: &Arc<Board>) {
    let (main, own) = (pirn::current(), Arc::clone(board));
    let partner = pirn::spawn(move || {
        while !own.is_over() {
            own.turn();
            main.unpark();
            park();
        }
        main.unpark();
    });
    while !board.is_over() {
        park();
        board.serve(PAIR);
        board.expect(PAIR);
        partner.fiber().unpark();
    }
    partner.fiber().unpark();
}

/// A thread spawns, wakes and sends. The worker waits for it, so the turn of each event is known.
fn from_outside(runtime: &Runtime, board: &Arc<Board>) {
    let (handle, own) = (runtime.handle(), Arc::clone(board));
    let woken = runtime.spawn(move || {
        while !own.is_over() {
            park();
            own.serve(WOKEN);
        }
    });
    let target = woken.fiber().clone();
    let (mut near, mut far) = UnixStream::pair().unwrap();
    let own = Arc::clone(board);
    runtime.spawn(move || {
        while !own.is_over() {
            far.read_exact(&mut [0]).unwrap();
            own.serve(SOCKET);
        }
    });
    let (ask, asked) = mpsc::channel::<usize>();
    let (tell, told) = mpsc::channel::<()>();
    let own = Arc::clone(board);
    let thread = move || {
        for source in asked {
            match source {
                WOKEN => target.unpark(),
                // At the end the reader may be gone.
                SOCKET => drop(near.write_all(&[0])),
                _ => {
                    let own = Arc::clone(&own);
                    handle.spawn(move || own.serve(SPAWNED)).detach();
                }
            }
            // At the end nothing listens.
            let _ = tell.send(());
        }
    };
    thread::spawn(thread);
    let board = Arc::clone(board);
    runtime.spawn(move || {
        while !board.is_over() {
            for source in [SPAWNED, WOKEN, SOCKET] {
                if !board.is_due(source) {
                    board.expect(source);
                    ask.send(source).unwrap();
                    told.recv().unwrap();
                }
            }
            board.turn();
            pirn::yield_now();
        }
        for source in [WOKEN, SOCKET] {
            ask.send(source).unwrap();
        }
    });
}

/// Pairs that wake each other, yield loops, chains of fresh fibers, spawns from outside, wakes from
/// outside, timers, a socket: all at once on one worker.
// Proves: B14.
#[test]
fn each_is_served_within_a_bound() {
    for scheduler in SCHEDULERS {
        serve_all(scheduler);
    }
}

fn serve_all(scheduler: Scheduler) {
    // No second thread, which a busy machine would activate.
    let builder = Runtime::builder().workers(1).max_threads(1);
    let runtime = builder.scheduler(scheduler).build().unwrap();
    let board = Arc::new(Board::default());
    for _ in 0..EACH {
        let own = Arc::clone(&board);
        runtime.spawn(move || {
            while !own.is_over() {
                own.serve(YIELDS);
                own.expect(YIELDS);
                pirn::yield_now();
            }
        });
        let own = Arc::clone(&board);
        runtime.spawn(move || chain(own));
    }
    let own = Arc::clone(&board);
    runtime.spawn(move || pair(&own));
    let own = Arc::clone(&board);
    runtime.spawn(move || {
        while !own.is_over() {
            let at = now() + Duration::from_micros(200);
            *own.alarm.lock().unwrap() = Some(at);
            sleep_until(at).unwrap();
            *own.alarm.lock().unwrap() = None;
            own.serve(TIMER);
        }
    });
    from_outside(&runtime, &board);
    runtime.wait_idle().unwrap();
    let all = (&board.turns, &board.served, &board.longest);
    for (source, name) in NAMES.into_iter().enumerate() {
        let served = board.served[source].load(SeqCst);
        let longest = board.longest[source].load(SeqCst);
        assert!(served >= ENOUGH, "{name}, {scheduler:?}: {all:?}");
        let most = most(scheduler, source);
        assert!(longest <= most, "{name}, {scheduler:?}: {all:?}");
    }
}
