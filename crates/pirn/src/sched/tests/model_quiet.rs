//! Models: a waiter for quiescence is woken when the last fiber has ended, and not before.

use std::sync::Arc;

use crate::base::tests::explore::explore;
use crate::fiber::tests::stage::Block;
use crate::sched::pool::counters::{Counter, WorkerCounters};
use crate::sched::pool::quiescence::{Quiet, balance};
use crate::shim::atomic::{AtomicBool, AtomicU32, Ordering, fence};
use crate::shim::thread::{self, JoinHandle};
use crate::wait::{How, Reason, Spec};

/// The counts of a pool: those of two workers, and those of threads outside.
#[derive(Default)]
struct Books {
    workers: [WorkerCounters; 2],
    outside: Counter,
    rejected: Counter,
}

struct Fixture {
    books: Books,
    quiet: Quiet,
    /// Set before the last fiber is counted as ended; nothing else orders it.
    over: AtomicBool,
    turns: AtomicU32,
}

impl Fixture {
    /// Creates a fixture with `fibers` alive that came from outside.
    fn new(fibers: usize) -> Arc<Fixture> {
        let fixture = Fixture {
            books: Books::default(),
            quiet: Quiet::new(),
            over: AtomicBool::new(false),
            turns: AtomicU32::new(0),
        };
        (0..fibers).for_each(|_| fixture.books.outside.increment_shared());
        Arc::new(fixture)
    }

    /// Lets the model run other threads first. By loads alone loom does not explore these orders; a
    /// read-modify-write operation makes it do so.
    fn turn(&self) {
        self.turns.fetch_add(1, Ordering::Relaxed);
    }

    fn live(&self) -> u64 {
        let Books {
            workers,
            outside,
            rejected,
        } = &self.books;
        balance(|| workers.iter(), outside, rejected)
    }

    /// Worker `i` ends a fiber.
    fn end(&self, i: usize) {
        self.books.workers[i].completed.increment();
        self.quiet.check_if_watched(|| self.live());
    }

    /// Simulates a worker that goes to sleep: a fence, then a last check whether a waiter watches.
    fn sleep(&self) {
        fence(Ordering::SeqCst);
        self.quiet.check_if_watched(|| self.live());
    }

    fn wait(&self, inside: bool) {
        let how = self
            .quiet
            .wait(|| self.live(), inside, &Spec::of(Reason::Idle));
        assert!(matches!(how, How::Woken(_)));
    }

    fn thread(
        self: &Arc<Self>,
        body: impl FnOnce(&Fixture) + Send + 'static,
    ) -> JoinHandle<()> {
        let fixture = Arc::clone(self);
        thread::spawn(String::new(), move || body(&fixture)).expect("a modelled thread")
    }
}

fn join(threads: impl IntoIterator<Item = JoinHandle<()>>) {
    threads
        .into_iter()
        .for_each(|thread| thread.join().expect("the thread passes"));
}

fn fiber() -> Arc<Block> {
    let block = Block::new();
    block.renew(1);
    Arc::new(block)
}

/// The last fiber ends while another one begins to wait.
#[test]
fn model_quiet_end_against_wait() {
    explore("quiet_end_against_wait", 3, || {
        let (fixture, waiter) = (Fixture::new(1), fiber());
        let worker = fixture.thread(|fixture| {
            fixture.over.store(true, Ordering::Relaxed);
            fixture.end(0);
            fixture.sleep();
        });
        waiter.play(|| fixture.wait(false));
        assert!(fixture.over.load(Ordering::Relaxed), "woken too early");
        join([worker]);
    });
}

/// A fiber spawns another, which ends on the other worker, later: the sums never miss it.
#[test]
fn model_quiet_never_misses_a_child() {
    explore("quiet_never_misses_a_child", 3, || {
        let (fixture, waiter) = (Fixture::new(1), fiber());
        let handed = Arc::new(AtomicBool::new(false));
        let parent = {
            let handed = Arc::clone(&handed);
            fixture.thread(move |fixture| {
                fixture.turn();
                fixture.books.workers[0].spawned.increment();
                handed.store(true, Ordering::Release);
                fixture.end(0);
                fixture.sleep();
            })
        };
        let child = fixture.thread(move |fixture| {
            fixture.turn();
            if handed.load(Ordering::Acquire) {
                fixture.over.store(true, Ordering::Relaxed);
                fixture.end(1);
            }
            fixture.sleep();
        });
        fixture.turn();
        let alive = fixture.live();
        assert!(
            alive > 0 || fixture.over.load(Ordering::Relaxed),
            "a fiber was missed"
        );
        join([parent, child]);
        if fixture.live() > 0 {
            fixture.over.store(true, Ordering::Relaxed);
            fixture.end(1);
        }
        waiter.play(|| fixture.wait(false));
    });
}

/// A spawn from outside is rejected: it is counted as spawned, then as rejected. A waiter that
/// reads the counts in between is woken.
#[test]
fn model_quiet_refusal_against_wait() {
    explore("quiet_refusal_against_wait", 3, || {
        let (fixture, waiter) = (Fixture::new(0), fiber());
        let spawner = fixture.thread(|fixture| {
            fixture.books.outside.increment_shared();
            fixture.books.rejected.increment_shared();
            fixture.quiet.check(|| fixture.live());
        });
        waiter.play(|| fixture.wait(false));
        join([spawner]);
    });
}

/// Two fibers of the pool wait for all the others, of which there are none: both return, though
/// neither ends before the other has returned.
#[test]
fn model_quiet_two_inside_release_each_other() {
    explore("quiet_two_inside", 2, || {
        let (fixture, one, other) = (Fixture::new(2), fiber(), fiber());
        let second = {
            let fixture = Arc::clone(&fixture);
            other.start(move || fixture.wait(true))
        };
        one.play(|| fixture.wait(true));
        join([second]);
        assert_eq!(fixture.live(), 2);
    });
}
