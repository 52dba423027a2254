//! Games of fork-join, for storms short and long: trees of joins drawn by a seed, halves that wait
//! for each other, and runtimes that end in the middle of both.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pirn::cancel::{self, Token, shield};
use pirn::channel::bounded;
use pirn::par::{self, Split, join};
use pirn::runtime::Scheduler;
use pirn::sync::Mutex;
use pirn::{Interrupt, Runtime, yield_now};

use crate::util::{Dice, Drops, LONG, SLACK, eventually, resident, shaped};

/// The result of a node: the leaves below it, or the number of the leaf with the propagated panic.
type Sum = Result<usize, usize>;

/// A tree of joins. Its nodes are numbered from the root, 1, on; those below node n are 2n and 2n +
/// 1.
pub(crate) struct Tree {
    seed: u64,
    depth: u32,
    /// Some leaves wait until they are cancelled.
    dooms: bool,
    token: Token,
    /// Leaves that have taken their turn.
    turns: Mutex<usize>,
    begun: AtomicUsize,
    ended: AtomicUsize,
}

/// The action of a leaf.
#[derive(Copy, Clone, PartialEq)]
enum Leaf {
    Computes,
    GivesWay,
    Sleeps,
    TakesItsTurn,
    WaitsForTheEnd,
    Fails,
}

/// The region around the join of a node, or how its halves interact.
#[derive(Copy, Clone, PartialEq)]
enum Fork {
    Plain,
    Scoped,
    UnderADeadline,
    UnderAToken,
    Shielded,
    /// The first half waits for the second one.
    Talks,
    /// Panics inside are caught.
    Catches,
}

impl Tree {
    pub(crate) fn new(seed: usize, depth: u32, dooms: bool) -> Tree {
        Tree {
            seed: seed as u64,
            depth,
            dooms,
            token: Token::new(),
            turns: Mutex::new(0),
            begun: AtomicUsize::new(0),
            ended: AtomicUsize::new(0),
        }
    }

    fn draw(&self, node: usize, below: usize) -> usize {
        Dice(self.seed << 32 ^ node as u64).below(below)
    }

    fn leaf(&self, node: usize) -> Leaf {
        match self.draw(node, 24) {
            0 => Leaf::Fails,
            1..=3 => Leaf::GivesWay,
            4 => Leaf::Sleeps,
            5..=7 => Leaf::TakesItsTurn,
            8 if self.dooms => Leaf::WaitsForTheEnd,
            _ => Leaf::Computes,
        }
    }

    fn fork(&self, node: usize) -> Fork {
        match self.draw(node, 16) {
            0 => Fork::UnderADeadline,
            1 => Fork::UnderAToken,
            // A waiter for the end would not be notified there.
            2 if !self.dooms => Fork::Shielded,
            3..=5 => Fork::Talks,
            6 => Fork::Catches,
            7..=9 => Fork::Scoped,
            _ => Fork::Plain,
        }
    }

    fn is_leaf(&self, node: usize) -> bool {
        node >= 1 << self.depth
    }

    /// Walks the tree, once.
    pub(crate) fn run(&self) -> Sum {
        let sum = catch_unwind(AssertUnwindSafe(|| self.node(1)));
        sum.map_err(|panic| *panic.downcast::<usize>().expect("a leaf's number"))
    }

    fn node(&self, node: usize) -> usize {
        if self.is_leaf(node) {
            return self.be_leaf(node);
        }
        let (left, right) = (|| self.node(2 * node), || self.node(2 * node + 1));
        let both = || join(left, right);
        let (left, right) = match self.fork(node) {
            Fork::Plain => both(),
            Fork::Scoped => par::scope(|s| s.join(|_| left(), |_| right())),
            Fork::UnderADeadline => {
                cancel::with_deadline(pirn::time::now() + 100 * LONG, both)
            }
            Fork::UnderAToken => self.token.enter(both),
            Fork::Shielded => shield(both),
            Fork::Talks => self.talk(left, right),
            Fork::Catches => catch_unwind(AssertUnwindSafe(both)).unwrap_or((0, 0)),
        };
        left + right
    }

    fn talk(
        &self,
        left: impl FnOnce() -> usize + Send,
        right: impl FnOnce() -> usize + Send,
    ) -> (usize, usize) {
        let (tx, rx) = bounded(0);
        join(
            || {
                let seed = shield(|| rx.recv().expect("it is sent"));
                assert_eq!(seed, self.seed);
                left()
            },
            || {
                shield(|| tx.send(self.seed).expect("it is waited for"));
                right()
            },
        )
    }

    fn be_leaf(&self, node: usize) -> usize {
        self.begun.fetch_add(1, Ordering::SeqCst);
        match self.leaf(node) {
            Leaf::Computes | Leaf::Fails => {}
            Leaf::GivesWay => yield_now(),
            Leaf::Sleeps => drop(pirn::sleep(Duration::from_micros(30))),
            Leaf::TakesItsTurn => {
                let mut turns = self.turns.lock();
                yield_now();
                *turns += 1;
            }
            Leaf::WaitsForTheEnd => {
                assert_eq!(pirn::sleep(100 * LONG), Err(Interrupt::Cancelled));
            }
        }
        self.ended.fetch_add(1, Ordering::SeqCst);
        if self.leaf(node) == Leaf::Fails {
            resume_unwind(Box::new(node));
        }
        1
    }

    /// The required result of a node: as if the halves were called one after the other, and neither
    /// prevented the other.
    fn expected(&self, node: usize) -> Sum {
        if self.is_leaf(node) {
            return match self.leaf(node) {
                Leaf::Fails => Err(node),
                _ => Ok(1),
            };
        }
        let (left, right) = (self.expected(2 * node), self.expected(2 * node + 1));
        let sum = left.and_then(|left| Ok(left + right?));
        match self.fork(node) {
            Fork::Catches => Ok(sum.unwrap_or(0)),
            _ => sum,
        }
    }

    /// Checks the result of the tree.
    pub(crate) fn check(&self, sum: Sum) {
        assert_eq!(sum, self.expected(1), "seed {}", self.seed);
        let leaves = 1_usize << self.depth;
        assert_eq!(self.begun.load(Ordering::SeqCst), leaves);
        assert_eq!(self.ended.load(Ordering::SeqCst), leaves);
        let take_turns = (leaves..2 * leaves)
            .filter(|node| self.leaf(*node) == Leaf::TakesItsTurn)
            .count();
        assert_eq!(*self.turns.lock(), take_turns);
    }
}

/// Fibers walk trees during cancellations: all leaves are visited, and the result does not change.
pub(crate) fn cancel_amid(runtime: &Runtime, seed: usize, depth: u32) {
    let trees: Vec<Tree> = (0..3)
        .map(|n| Tree::new(seed * 3 + n, depth, true))
        .collect();
    runtime.run(|| {
        pirn::scope(|s| {
            let fibers: Vec<_> =
                trees.iter().map(|tree| s.spawn(|| tree.run())).collect();
            for (n, (fiber, tree)) in fibers.into_iter().zip(&trees).enumerate() {
                crate::executor_kind::until(&tree.begun, 1);
                for _ in 0..tree.draw(0, 1 << n) {
                    yield_now();
                }
                fiber.cancel();
                tree.check(fiber.join().expect("it was begun"));
            }
        });
    });
}

/// First halves wait for second ones by every kind of wait, on several fibers at a time.
pub(crate) fn wait_for_each_other(runtime: &Runtime, rounds: usize) {
    const FIBERS: usize = 6;
    let lock = Mutex::new(0);
    runtime.scope(|s| {
        for fiber in 0..FIBERS {
            let lock = &lock;
            s.spawn(move || {
                let (there, from_there) = bounded(0);
                let (back, from_back) = bounded(1);
                for round in 0..rounds {
                    let first = || {
                        let got: usize = from_there.recv().unwrap();
                        let mut held = lock.lock();
                        back.send(got + 1).unwrap();
                        if round % 3 == 0 {
                            yield_now();
                        }
                        *held += 1;
                        got
                    };
                    let second = || {
                        there.send(round).unwrap();
                        *lock.lock() += 1;
                        from_back.recv().unwrap()
                    };
                    let (got, came_back) = match (fiber + round) % 2 {
                        0 => join(first, second),
                        _ => {
                            let (second, first) = join(second, first);
                            (first, second)
                        }
                    };
                    assert_eq!((got, came_back), (round, round + 1));
                }
            });
        }
    });
    assert_eq!(lock.into_inner(), 2 * rounds * FIBERS);
}

/// So many joins, and a tenth as many halves that become fibers: memory use stays constant.
pub(crate) fn join_in_flat_memory(runtime: &Runtime, joins: usize) {
    fn tree(depth: u32) -> usize {
        match depth {
            0 => 1,
            _ => {
                let (left, right) = join(|| tree(depth - 1), || tree(depth - 1));
                left + right
            }
        }
    }
    let work = |joins: usize| {
        runtime.run(|| {
            for _ in 0..joins / 1_000 {
                assert_eq!(tree(10), 1 << 10);
                for round in 0..100_usize {
                    let (left, right) = join(yield_now, || [round; 50]);
                    assert_eq!(((), round), (left, right[round % 50]));
                }
            }
        });
    };
    work(joins / 10);
    let before = resident();
    work(joins);
    let grown = resident().saturating_sub(before);
    assert!(grown < SLACK as usize * (8 << 20), "grew by {grown} bytes");
}

/// A runtime is shut down while its fibers join, loop and sort, and wait for each other in
/// uninterruptible ways: all work is completed, and nothing is lost.
pub(crate) fn end_amid(workers: usize, scheduler: Scheduler, seed: usize) {
    const FIBERS: usize = 5;
    let runtime = shaped(workers, scheduler);
    let handle = runtime.handle();
    let begun = Arc::new(AtomicUsize::new(0));
    let made = Drops::default();
    let fibers: Vec<_> = (0..FIBERS)
        .map(|fiber| {
            let (begun, made) = (Arc::clone(&begun), made.clone());
            runtime.spawn(move || {
                begun.fetch_add(1, Ordering::SeqCst);
                let mut step = seed + fiber;
                let mut results = 0;
                while cancel::check().is_ok() {
                    results += work(step, &made);
                    step += 1;
                }
                // Now the shutdown has been reported, and it continues.
                results
                    + (step..step + 5)
                        .map(|step| work(step, &made))
                        .sum::<usize>()
            })
        })
        .collect();
    eventually("all have begun", || begun.load(Ordering::SeqCst) == FIBERS);
    for _ in 0..Dice(seed as u64).below(200_000) {
        std::hint::spin_loop();
    }
    runtime.shutdown(LONG * SLACK).expect("all of them end");
    let results = fibers.into_iter().map(|fiber| fiber.join().unwrap());
    assert_eq!(results.sum::<usize>(), made.count());
    assert_eq!(handle.metrics().total.rescues, 0);
}

/// One piece of work; returns how many objects it has created, and dropped.
fn work(step: usize, made: &Drops) -> usize {
    match step % 5 {
        0 => {
            let tree = Tree::new(step, 5, false);
            tree.check(tree.run());
            0
        }
        1 => {
            let things = par::map((0..300).grain(7), |n| {
                if n % 50 == 0 {
                    yield_now();
                }
                made.one()
            });
            things.len()
        }
        2 => {
            let mut numbers = Dice(step as u64).many(3_000);
            par::sort(&mut numbers);
            assert!(numbers.is_sorted());
            0
        }
        3 => {
            // Each item waits for the next one's.
            let links: Vec<_> = (0..20).map(|_| bounded::<()>(0)).collect();
            par::for_each(0..20_usize, |at| {
                if at < 19 {
                    shield(|| links[at].1.recv().unwrap());
                }
                if at > 0 {
                    shield(|| links[at - 1].0.send(()).unwrap());
                }
            });
            0
        }
        _ => {
            let kept = join(
                || {
                    yield_now();
                    made.one()
                },
                || made.one(),
            );
            drop(kept);
            2
        }
    }
}
