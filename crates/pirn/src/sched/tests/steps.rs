//! Single steps of one worker, on a pool that has several workers and no threads: what a step
//! takes, from which queue, and which sleeper it wakes.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::base::clock;
use crate::base::list::Fifo;
use crate::context::StackConfig;
use crate::events::Watch;
use crate::fiber::{FiberHead, FiberPtr, current};
use crate::observe::{Deadlock, observers};
use crate::runtime::Handle;
#[cfg(all(target_os = "linux", not(pirn_modelled)))]
use crate::sched::config::LibcCalls;
use crate::sched::config::{Config, Scheduler, ThreadConfig};
use crate::sched::placement::lines::Spread;
use crate::sched::pool::shared::Pool;
use crate::sched::queue::injector::End;
use crate::sched::queue::next_slot::NextItem;
use crate::sched::queue::ring::CAPACITY;
use crate::sched::worker::park::SPIN;
use crate::sched::worker::records::intervals::{
    MAINTENANCE_AFTER_SLEEP, MAINTENANCE_INTERVAL,
};
use crate::sched::worker::run::Worker;
use crate::shim;
use crate::shim::hint::hints;
#[cfg(all(target_os = "linux", not(pirn_modelled)))]
use crate::sys::Process;

/// Hints of one spin in vain, as `base::backoff` bounds them.
const HINTS: u64 = 1 + 2 + 4 + 8 + 16 + 32 + 5 * 64;

/// A pool and its first worker, which is awake. The other workers sleep; waking one leaves it a
/// token.
struct Stage {
    pool: Arc<Pool>,
    worker: Worker,
    ran: Arc<AtomicUsize>,
    spawned: usize,
}

impl Stage {
    fn new(workers: usize) -> Stage {
        Stage::of(config(workers))
    }

    fn of(config: Config) -> Stage {
        let pool = Pool::start(config, None).expect("a pool");
        for remote in pool.remotes.iter() {
            remote.thread.set_launched(true);
        }
        let worker = Worker::new(Arc::clone(&pool), 0);
        worker.begin_drive();
        Stage {
            pool,
            worker,
            ran: Arc::default(),
            spawned: 0,
        }
    }

    /// A stage with a worker that is counted as searching.
    fn searching(workers: usize) -> Stage {
        let stage = Stage::new(workers);
        assert!(stage.pool.idle.try_search());
        stage.worker.search.set_active(true);
        stage
    }

    /// Fresh fibers, in no queue.
    fn fibers(&mut self, n: usize) -> Vec<FiberPtr> {
        self.spawn(n);
        (0..n)
            .map(|_| {
                let mut one = self.pool.injector.pop_any(0, 1);
                one.pop_front().expect("it was spawned")
            })
            .collect()
    }

    /// Spawns `n` fibers, as from outside.
    fn spawn(&mut self, n: usize) {
        let handle = Handle::of(Arc::clone(&self.pool));
        // While one searches, a spawn from outside wakes no worker.
        let idle = &self.pool.idle;
        let searches = idle.searching() == 0 && idle.try_search();
        for _ in 0..n {
            let ran = Arc::clone(&self.ran);
            drop(handle.spawn(move || ran.fetch_add(1, Ordering::Relaxed)));
        }
        if searches {
            let _ = idle.found_work();
        }
        self.spawned += n;
    }

    /// Pushes `n` fibers to the injector, as from outside.
    fn inject(&mut self, n: usize) {
        for fiber in self.fibers(n) {
            self.pool.injector.push(0, fiber);
        }
    }

    /// Pushes `n` fibers to the ring of a worker.
    fn fill(&mut self, worker: usize, n: usize) {
        for fiber in self.fibers(n) {
            let pushed = self.pool.remotes[worker].ring.push(fiber);
            assert!(pushed.is_ok(), "the ring is full");
        }
    }

    /// Queues a fiber as if it were spawned here.
    fn queue(&self, fiber: FiberPtr) {
        // It has been counted as one from outside.
        self.pool.arrivals.reject();
        self.worker.queue_job(fiber, false);
    }

    /// Returns how many workers have been woken since the stage was made, as the first worker
    /// counts them and as they are missing among the sleepers.
    fn woken(&self) -> u64 {
        let missing = self.pool.workers() - 1 - self.pool.idle.sleeping();
        let counted = self.worker.remote().counters.wakes.get();
        assert_eq!(counted, missing as u64);
        counted
    }

    /// Returns `held` and runs all fibers that are in any queue.
    fn end(self, held: impl IntoIterator<Item = FiberPtr>) {
        let Stage {
            pool,
            worker,
            ran,
            spawned,
        } = self;
        let mut left: Vec<FiberPtr> = held.into_iter().collect();
        for remote in pool.remotes.iter() {
            left.extend(remote.next.take().map(NextItem::fiber));
            left.extend(std::iter::from_fn(|| remote.ring.pop()));
        }
        for fiber in left {
            pool.injector.push(0, fiber);
        }
        let _ = worker.end_drive();
        drop(worker);
        pool.drain();
        assert_eq!(ran.load(Ordering::Relaxed), spawned, "each runs once");
    }
}

fn config(workers: usize) -> Config {
    Config {
        name: "steps".to_owned(),
        workers,
        scheduler: Scheduler::WorkStealing,
        stacks: StackConfig {
            size: 64 << 10,
            max_stacks: usize::MAX,
            cache: 64,
        },
        seed: None,
        exclusive: false,
        threads: ThreadConfig {
            most: workers,
            processors: Vec::new(),
            prewarm: None,
            keep: None,
            on_start: None,
            on_stop: None,
        },
        by_hand: true,
        free: false,
        spread: Spread::Never,
        #[cfg(all(target_os = "linux", not(pirn_modelled)))]
        libc: LibcCalls {
            park: false,
            process: Process::this(),
        },
        io_uring: false,
        on_panic: None,
        attached: None,
        watch: Watch::default(),
        observers: observers(Deadlock::Off, None),
    }
}

/// A thief looks at every other worker, wherever it begins.
// Proves: C1.
#[test]
fn a_thief_finds_the_one_worker_that_has_work() {
    let mut stage = Stage::new(9);
    let mut stolen = Vec::new();
    for round in 0..80 {
        let victim = 1 + round % 8;
        stage.fill(victim, 1);
        let found = stage.worker.steal();
        stolen.push(found.unwrap_or_else(|| panic!("nothing of worker {victim}")));
    }
    assert!(stage.worker.steal().is_none());
    stage.end(stolen);
}

/// A thief begins at any worker: it does not always rob the same one.
// Proves: C1.
#[test]
fn a_thief_begins_anywhere() {
    let mut stage = Stage::new(9);
    let fibers = stage.fibers(8);
    let mut robbed = [0; 8];
    for _ in 0..400 {
        let others = || stage.pool.remotes.iter().skip(1);
        let rings = || others().map(|remote| &remote.ring);
        for (ring, fiber) in rings().zip(&fibers) {
            assert!(ring.push(*fiber).is_ok());
        }
        let found = stage.worker.steal().expect("each has one");
        let first = fibers.iter().position(|fiber| *fiber == found);
        robbed[first.expect("one of these")] += 1;
        rings().for_each(|ring| while ring.pop().is_some() {});
    }
    // One of the eight is left out by chance once in 10^22 runs.
    assert!(robbed.iter().all(|times| *times > 0), "{robbed:?}");
    stage.end(fibers);
}

/// Fibers that a thread spawns go to the shards in turn.
// Proves: B12.
#[test]
fn spawns_from_outside_rotate_over_the_shards() {
    let mut stage = Stage::new(4);
    stage.spawn(12);
    let lengths = [0, 1, 2, 3].map(|shard| stage.pool.injector.shard_len(shard));
    assert_eq!((stage.pool.injector.shards(), lengths), (4, [3; 4]));
    stage.end([]);
}

/// Of the fibers that its own ring has spilled, a worker fetches the newest; of those of another
/// worker's ring, the oldest.
// Proves: B19.
#[test]
fn a_worker_fetches_the_newest_of_its_own_and_the_oldest_of_others() {
    for (shard, expected) in [(0, 4), (1, 0)] {
        let mut stage = Stage::new(2);
        let fibers = stage.fibers(10);
        let mut batch: Fifo<FiberHead> = Fifo::new();
        fibers.iter().for_each(|fiber| batch.push_back(*fiber));
        stage.pool.injector.spill(shard, batch);
        // Its share is six.
        let first = stage.worker.fetch();
        assert_eq!(first, Some(fibers[expected]), "of shard {shard}");
        assert_eq!(stage.pool.injector.len(), 4);
        stage.end(first);
    }
}

/// The last look before a sleep covers each queue that may hold a fiber for the worker.
// Proves: C12.
#[test]
fn each_queue_is_looked_at_before_a_sleep() {
    fn placed(stage: &Stage, fiber: FiberPtr) {
        stage.pool.remotes[0].placed.push(0, fiber);
    }
    fn injected(stage: &Stage, fiber: FiberPtr) {
        stage.pool.injector.push(1, fiber);
    }
    fn in_a_ring(stage: &Stage, fiber: FiberPtr) {
        assert!(stage.pool.remotes[2].ring.push(fiber).is_ok());
    }
    let places: [fn(&Stage, FiberPtr); 3] = [placed, injected, in_a_ring];
    for (number, put) in places.into_iter().enumerate() {
        for scheduler in [Scheduler::WorkStealing, Scheduler::SingleQueue] {
            let mut stage = Stage::of(Config {
                scheduler,
                ..config(3)
            });
            let fiber = stage.fibers(1)[0];
            assert!(!stage.worker.end_drive(), "nothing is queued");
            stage.worker.begin_drive();
            put(&stage, fiber);
            // With a single queue no worker has fresh fibers of its own.
            let seen = scheduler == Scheduler::WorkStealing || number < 2;
            assert_eq!(stage.worker.end_drive(), seen, "{number}, {scheduler:?}");
            stage.worker.begin_drive();
            let placed = stage.worker.take_placed();
            stage.end(placed);
        }
    }
}

/// A worker fetches its share of the fibers that have arrived, at most a quarter of a ring, and no
/// more than its ring has room for.
// Proves: B9.
#[test]
fn a_worker_fetches_its_share() {
    for (workers, arrived, taken) in [(4, 3, 1), (4, 100, 26), (1, 40, 40), (2, 400, 64)]
    {
        let mut stage = Stage::new(workers);
        stage.inject(arrived);
        let first = stage.worker.fetch();
        assert!(first.is_some());
        let left = stage.pool.injector.len();
        assert_eq!(arrived - left, taken, "of {arrived}, {workers} workers");
        assert_eq!(stage.worker.remote().ring.len() as usize, taken - 1);
        stage.end(first);
    }
    let mut stage = Stage::new(1);
    stage.fill(0, CAPACITY as usize - 5);
    stage.inject(100);
    let first = stage.worker.fetch();
    assert!(first.is_some());
    assert_eq!(stage.pool.injector.len(), 94);
    assert_eq!(stage.worker.remote().ring.free_slots(), 0);
    assert_eq!(stage.worker.remote().counters.overflows.get(), 0);
    stage.end(first);
}

/// A worker that never runs out of fresh fibers takes one from the injector after the number
/// of dispatches that its fibers' run time demands, in whole rounds.
// Proves: D-2.
#[test]
fn the_injector_has_its_turn_among_fresh_fibers() {
    for (run, most) in [
        (1_000, 3 * MAINTENANCE_INTERVAL),
        (10_000, 20),
        (1_000_000, 2),
    ] {
        let mut stage = Stage::new(1);
        stage.fill(0, CAPACITY as usize / 2);
        let worker = &stage.worker;
        // Of 1,000 nanoseconds and this run, by the weight of a new sample.
        worker.maintenance.intervals.resume(0);
        worker.maintenance.intervals.round(1, 4 * run - 3_000);
        // A look in vain, so that the next one is as late as it may be. No run is measured.
        worker.maintenance.pretend_injector(0);
        worker.maintenance.forget_runs();
        worker.force_maintenance();
        let first = worker.find().expect("one of the ring");
        assert!(worker.remote().ring.push(first).is_ok());
        let late = stage.fibers(1)[0];
        stage.pool.injector.push(0, late);
        let worker = &stage.worker;
        let turns = (1..10_000).find(|_| {
            let found = worker.find().expect("the ring has some");
            found == late || worker.remote().ring.push(found).is_err()
        });
        let turns = turns.expect("it has its turn");
        assert!(turns <= most, "{turns} turns, of {most}");
        stage.end([late]);
    }
}

/// A spawned fiber is in the slot of its worker, where no thief takes it before it
/// has aged.
// Proves: C14.
#[test]
fn a_fiber_in_the_slot_stays_with_its_worker() {
    let mut stage = Stage::new(2);
    let own = stage.fibers(1)[0];
    stage.queue(own);
    let remote = stage.worker.remote();
    assert!(!remote.next.is_empty() && remote.ring.is_empty());
    // The first worker steals from the second.
    let other = stage.fibers(1)[0];
    let victim = &stage.pool.remotes[1];
    assert!(victim.next.put(NextItem::Fresh(other)).is_none());
    assert!(stage.worker.steal().is_none());
    victim.notes.set_aged(victim.next.look_fresh());
    assert_eq!(stage.worker.steal(), Some(other));
    stage.end([other]);
}

/// A spin that sees no work ends after ten microseconds of the clock and 383 hints.
// Proves: C10.
#[test]
fn a_spin_in_vain_is_bounded() {
    let stage = Stage::new(2);
    let (reads, before) = (Cell::new(0), hints());
    // Each read takes a microsecond.
    let clock = || {
        reads.set(reads.get() + 1);
        reads.get() * 1_000
    };
    assert!(!stage.worker.watch_by(clock, SPIN, || ()));
    assert_eq!(reads.get(), 1 + 10, "reads, one in 16 looks");
    assert_eq!(hints() - before, HINTS);
    stage.end([]);
}

/// Spins in vain end: four in a row at most, none where spinning has not paid, and
/// none where no other worker could bring work.
// Proves: C10.
#[test]
fn spins_in_vain_end() {
    for (workers, patience, spins) in [(2, 8, 4), (2, 1, 1), (2, 0, 0), (1, 8, 0)] {
        let stage = Stage::new(workers);
        stage.worker.search.set_patience(patience);
        let before = hints();
        assert!((0..100).all(|_| !stage.worker.spin()));
        assert_eq!(hints() - before, spins * HINTS, "{workers}, {patience}");
        stage.end([]);
    }
}

/// However well spinning has paid, a worker spins once before it sleeps.
// Proves: C10.
#[test]
fn a_worker_spins_once_before_it_sleeps() {
    let stage = Stage::new(2);
    for slept in 1..=20 {
        stage.worker.search.set_patience(8);
        let before = hints();
        stage.worker.rest_until(Some(shim::now()));
        assert_eq!(stage.worker.remote().counters.parks.get(), slept);
        assert_eq!(hints() - before, HINTS);
    }
    stage.end([]);
}

/// Of the fibers that its ring has spilled, a worker takes the oldest when that is due, and the
/// newest otherwise.
#[test]
fn the_oldest_spilled_fiber_has_its_turn() {
    let mut stage = Stage::new(1);
    let mut fibers = stage.fibers(5);
    let mut batch: Fifo<FiberHead> = Fifo::new();
    for fiber in &fibers {
        batch.push_back(*fiber);
    }
    stage.pool.injector.spill(0, batch);
    let worker = &stage.worker;
    let mut due = |at| {
        worker.maintenance.set_oldest_due(at);
        // As if that many dispatches had gone by without a look at the injector.
        worker.maintenance.pretend_injector(1_000);
        worker.force_maintenance();
        let found = worker.find().expect("one is due");
        fibers.retain(|fiber| *fiber != found);
        (found, fibers.clone())
    };
    let (newest, left) = due(u64::MAX);
    assert!(left.len() == 4 && !left.contains(&newest));
    let before = left[0];
    let (oldest, _) = due(0);
    assert_eq!(oldest, before, "the oldest");
    assert!(
        worker.maintenance.oldest_due() > 0,
        "the next one is due later"
    );
    let (second, left) = due(u64::MAX);
    assert!(left.iter().all(|fiber| *fiber != second) && left.len() == 2);
    assert_eq!(stage.pool.injector.len(), 2);
    let last = stage.pool.injector.pop_batch(0, 2, End::Oldest);
    let last: Vec<FiberPtr> = fifo(last);
    assert_eq!(last, left);
    stage.end([newest, oldest, second].into_iter().chain(last));
}

/// A fiber in another shard has its turn while the shard of the worker is never empty: the worker
/// of the other one may be stuck.
// Proves: B19.
#[test]
fn another_shard_has_its_turn() {
    let mut stage = Stage::new(2);
    let fibers = stage.fibers(20);
    let (there, here) = fibers.split_last().expect("twenty");
    stage.pool.injector.push(1, *there);
    here.iter()
        .for_each(|fiber| stage.pool.injector.push(0, *fiber));
    let worker = &stage.worker;
    let taken: Vec<FiberPtr> = (0..4)
        .map(|_| {
            worker.maintenance.set_oldest_due(0);
            worker.maintenance.pretend_injector(1_000);
            worker.force_maintenance();
            worker.find().expect("one is due")
        })
        .collect();
    assert!(taken.contains(there), "{taken:?} without {there:?}");
    stage.end(taken);
}

fn fifo(mut batch: Fifo<FiberHead>) -> Vec<FiberPtr> {
    std::iter::from_fn(|| batch.pop_front()).collect()
}

/// Maintenance measures how long fibers have run since the one before. If that was long, the next
/// looks at the injector come sooner.
#[test]
fn maintenance_notes_the_time_of_a_round() {
    let mut stage = Stage::new(1);
    let before = stage.worker.maintenance.intervals.injector_interval();
    // A run in this round.
    stage.fill(0, 1);
    let found = stage.worker.find();
    run_long();
    stage.worker.force_maintenance();
    assert!(stage.worker.find().is_none());
    assert!(stage.worker.maintenance.intervals.injector_interval() < before);
    stage.end(found);
}

/// Lets as much time pass as a long run takes.
fn run_long() {
    let until = clock::now() + 2_000_000;
    while clock::now() < until {
        std::hint::spin_loop();
    }
}

/// A worker that has slept measures its first runs, not a whole round of them.
#[test]
fn long_runs_are_noticed_soon_after_a_sleep() {
    let mut stage = Stage::new(1);
    stage.worker.resume_intervals();
    stage.fill(0, MAINTENANCE_AFTER_SLEEP as usize + 1);
    let mut found = Vec::new();
    for _ in 0..MAINTENANCE_AFTER_SLEEP {
        assert!(!current::local().is_slow());
        found.extend(stage.worker.find());
        run_long();
    }
    found.extend(stage.worker.find());
    assert!(current::local().is_slow());
    stage.end(found);
}

/// A worker that runs out of fibers has not completed a round, but still measures.
#[test]
fn long_runs_are_noticed_by_a_worker_that_runs_dry() {
    let mut stage = Stage::new(1);
    stage.fill(0, 1);
    let found = stage.worker.find();
    run_long();
    assert!(found.is_some() && !current::local().is_slow());
    assert!(stage.worker.find().is_none());
    assert!(current::local().is_slow());
    stage.end(found);
}

/// Fibers that take long are worth a wake-up each; one that takes a microsecond is not.
#[test]
fn surplus_wakes_a_sleeper() {
    let mut short = Stage::new(3);
    for fiber in short.fibers(2) {
        short.queue(fiber);
    }
    assert_eq!(short.woken(), 0);
    assert_eq!(short.worker.remote().counters.surplus_missed.get(), 2);
    short.end([]);

    let mut long = Stage::new(3);
    // A round of one run that takes a second.
    long.worker.maintenance.intervals.resume(0);
    long.worker.maintenance.intervals.round(1, 1_000_000_000);
    let fibers = long.fibers(3);
    long.queue(fibers[0]);
    // The `next` slot is not for others.
    assert_eq!(long.woken(), 0);
    long.queue(fibers[1]);
    assert_eq!(long.woken(), 1);
    assert_eq!(long.worker.remote().counters.surplus_found.get(), 1);
    // One searches now.
    long.queue(fibers[2]);
    assert_eq!(long.woken(), 1);
    long.end([]);
}

/// The last worker that searches wakes another when it has found something and more is left, in
/// whichever queue it has found it.
// Proves: C5.
#[test]
fn the_last_search_is_passed_on() {
    let find = |stage: &Stage, maintenance: bool| {
        stage.worker.maintenance.set_left(u32::from(!maintenance));
        stage.worker.maintenance.pretend_injector(1_000);
        stage.worker.find().expect("there is one")
    };
    // In another worker's ring.
    let mut stage = Stage::searching(4);
    stage.fill(2, 1);
    stage.inject(1);
    stage.worker.rest();
    assert!(!stage.worker.remote().next.is_empty());
    assert!(!stage.worker.search.is_active());
    assert_eq!(stage.woken(), 1);
    stage.end([]);
    // In its own ring.
    let mut stage = Stage::searching(4);
    stage.fill(0, 1);
    stage.inject(1);
    let found = find(&stage, false);
    assert_eq!(stage.woken(), 1);
    stage.end([found]);
    // Among the fibers that have arrived: by its share, and in maintenance.
    for maintenance in [false, true] {
        let mut stage = Stage::searching(4);
        stage.inject(2);
        let found = find(&stage, maintenance);
        assert_eq!(stage.woken(), 1, "maintenance: {maintenance}");
        stage.end([found]);
    }
    // Nothing is left.
    let mut stage = Stage::searching(4);
    stage.inject(1);
    let found = find(&stage, false);
    assert!(!stage.worker.search.is_active());
    assert_eq!(stage.woken(), 0);
    stage.end([found]);
    // Another one still searches.
    let mut stage = Stage::searching(4);
    assert!(stage.pool.idle.try_search());
    stage.inject(2);
    let found = find(&stage, false);
    assert_eq!(stage.woken(), 0);
    stage.end([found]);
}

/// A worker with a fiber that blocks the thread keeps nothing fresh, and nothing fresh is queued
/// there until the last such fiber is done.
#[test]
fn a_blocked_worker_hands_on() {
    let mut stage = Stage::new(3);
    stage.fill(0, 3);
    let fiber = stage.fibers(1)[0];
    let remote = &stage.pool.remotes[0];
    assert!(remote.next.put(NextItem::Fresh(fiber)).is_none());
    stage.worker.begin_in_place();
    assert!(remote.next.is_empty() && remote.ring.is_empty());
    assert_eq!(stage.pool.injector.len(), 4);
    assert_eq!(stage.woken(), 1);
    assert!(stage.worker.role.forwards_fresh());
    stage.worker.begin_in_place();
    stage.worker.end_in_place();
    assert!(stage.worker.role.forwards_fresh());
    let fiber = stage.fibers(1)[0];
    stage.queue(fiber);
    assert_eq!(stage.pool.injector.len(), 5);
    stage.worker.end_in_place();
    assert!(!stage.worker.role.forwards_fresh());
    let fiber = stage.fibers(1)[0];
    stage.queue(fiber);
    assert_eq!(stage.pool.injector.len(), 5);
    assert!(!stage.pool.remotes[0].next.is_empty());
    stage.end([]);
}
