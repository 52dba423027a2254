//! Random graphs, compared with a short definition of the required order. No node runs too early,
//! conflicting nodes never overlap, and the result equals that of one node after another.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};

use pirn::Runtime;
use pirn::par::graph::{Access, Graph, NodeId};

use crate::util::{Dice, SCHEDULERS, on_every_shape, scaled};

/// The access of a node to one resource.
#[derive(Clone, Copy, PartialEq)]
enum Use {
    Read,
    Write,
}

/// The description of a graph.
struct Said {
    /// Resources by number.
    uses: Vec<Vec<(usize, Use)>>,
    /// Pairs: a node, and one that was declared to run after it.
    orders: Vec<(usize, usize)>,
}

const RESOURCES: usize = 6;
/// Types that stand for the first few; the others have names.
struct R<const N: usize>;

impl Said {
    fn random(dice: &mut Dice) -> Said {
        let n = 1 + dice.below(60);
        let ranks = shuffled(dice, n);
        let (uses, orders) = (1 + dice.below(3), dice.below(n));
        let one = |dice: &mut Dice| match dice.below(3) {
            0 => (dice.below(RESOURCES), Use::Write),
            _ => (dice.below(RESOURCES), Use::Read),
        };
        Said {
            uses: (0..n)
                .map(|_| (0..dice.below(uses + 1)).map(|_| one(dice)).collect())
                .collect(),
            orders: (0..orders)
                .map(|_| (dice.below(n), dice.below(n)))
                .filter(|(a, b)| ranks[*a] < ranks[*b])
                .collect(),
        }
    }

    /// Returns the nodes in serial order, by the definition.
    fn line(&self) -> Vec<usize> {
        let n = self.uses.len();
        let mut line: Vec<usize> = Vec::new();
        while line.len() < n {
            let may_go = |node: &usize| {
                let mut orders = self.orders.iter();
                !line.contains(node) && orders.all(|(a, b)| b != node || line.contains(a))
            };
            line.push((0..n).find(may_go).expect("there is no cycle"));
        }
        line
    }

    fn conflict(&self, a: usize, b: usize) -> bool {
        self.uses[a].iter().any(|(left, how)| {
            self.uses[b].iter().any(|(right, other)| {
                left == right && (*how == Use::Write || *other == Use::Write)
            })
        })
    }

    /// Returns for each node the nodes that must end before it starts.
    fn waits(&self) -> Vec<Vec<usize>> {
        let line = self.line();
        let mut waits = vec![Vec::new(); line.len()];
        for (at, b) in line.iter().enumerate() {
            for a in &line[..at] {
                if self.conflict(*a, *b) || self.orders.contains(&(*a, *b)) {
                    waits[*b].push(*a);
                }
            }
        }
        waits
    }

    fn access(&self, node: usize) -> Access {
        let mut access = Access::new();
        for (resource, usage) in &self.uses[node] {
            access = match (resource, usage) {
                (0, Use::Read) => access.read::<R<0>>(),
                (0, Use::Write) => access.write::<R<0>>(),
                (1, Use::Read) => access.read::<R<1>>(),
                (1, Use::Write) => access.write::<R<1>>(),
                (n, Use::Read) => access.read_named(n.to_string()),
                (n, Use::Write) => access.write_named(n.to_string()),
            };
        }
        access
    }
}

fn shuffled(dice: &mut Dice, n: usize) -> Vec<usize> {
    let mut all: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        all.swap(i, dice.below(i + 1));
    }
    all
}

/// State that the nodes of a run write and read. All relaxed: only the graph orders it.
struct World {
    values: [AtomicU64; RESOURCES],
    readers: [AtomicUsize; RESOURCES],
    writers: [AtomicUsize; RESOURCES],
    /// 0: not yet; 1: runs; 2: has run.
    stages: Vec<AtomicU8>,
}

impl World {
    fn new(nodes: usize) -> World {
        World {
            values: std::array::from_fn(|n| AtomicU64::new(n as u64)),
            readers: std::array::from_fn(|_| AtomicUsize::new(0)),
            writers: std::array::from_fn(|_| AtomicUsize::new(0)),
            stages: (0..nodes).map(|_| AtomicU8::new(0)).collect(),
        }
    }

    /// Applies the accesses of node `node` to the values.
    fn act(&self, said: &Said, node: usize) {
        let mut sum = node as u64;
        for (resource, _) in &said.uses[node] {
            sum = sum.rotate_left(5) ^ self.values[*resource].load(Ordering::Relaxed);
        }
        for (resource, usage) in &said.uses[node] {
            if *usage == Use::Write {
                let value = sum.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                self.values[*resource].store(value, Ordering::Relaxed);
            }
        }
    }

    /// Runs as a node, which checks the others meanwhile.
    fn run(&self, said: &Said, waits: &[usize], node: usize, pauses: bool) {
        for before in waits {
            let stage = self.stages[*before].load(Ordering::Relaxed);
            assert_eq!(stage, 2, "node {node} runs before node {before} has ended");
        }
        let stage = self.stages[node].swap(1, Ordering::Relaxed);
        assert_eq!(stage, 0, "node {node} runs again");
        // No node is a rival of itself.
        let mut uses: Vec<(usize, Use)> = Vec::new();
        for &(resource, usage) in &said.uses[node] {
            match uses.iter_mut().find(|(other, _)| *other == resource) {
                Some((_, Use::Write)) => {}
                Some((_, other)) => *other = usage,
                None => uses.push((resource, usage)),
            }
        }
        for &(resource, usage) in &uses {
            let users = match usage {
                Use::Read => &self.readers,
                Use::Write => &self.writers,
            };
            users[resource].fetch_add(1, Ordering::Relaxed);
        }
        if pauses {
            pirn::yield_now();
        }
        for &(resource, usage) in &uses {
            let readers = self.readers[resource].load(Ordering::Relaxed);
            let writers = self.writers[resource].load(Ordering::Relaxed);
            let alone = match usage {
                Use::Read => readers > 0 && writers == 0,
                Use::Write => readers == 0 && writers == 1,
            };
            assert!(alone, "node {node}: {readers} readers, {writers} writers");
        }
        self.act(said, node);
        for &(resource, usage) in &uses {
            let users = match usage {
                Use::Read => &self.readers,
                Use::Write => &self.writers,
            };
            users[resource].fetch_sub(1, Ordering::Relaxed);
        }
        self.stages[node].store(2, Ordering::Relaxed);
    }

    fn values(&self) -> [u64; RESOURCES] {
        std::array::from_fn(|n| self.values[n].load(Ordering::Relaxed))
    }

    fn renew(&self) {
        for stage in &self.stages {
            assert_eq!(stage.swap(0, Ordering::Relaxed), 2, "a node was left out");
        }
    }
}

/// One random graph, run three times, compared with its serial order.
fn play(runtime: &Runtime, seed: u64) {
    let mut dice = Dice(seed);
    let said = Said::random(&mut dice);
    let waits = said.waits();
    let n = said.uses.len();
    let world = World::new(n);
    let mut graph = Graph::new();
    let mut ids: Vec<NodeId> = Vec::new();
    for node in 0..n {
        // Declarations that can be made in one call sometimes are.
        let mut access = said.access(node);
        for (a, _) in said.orders.iter().filter(|(a, b)| *b == node && *a < node) {
            access = access.after(ids[*a]);
        }
        let (world, said, waits) = (&world, &said, &waits[node]);
        let mut pauses = dice.below(2) == 0;
        ids.push(graph.add(format!("node {node}"), access, move || {
            pauses = !pauses;
            world.run(said, waits, node, pauses);
        }));
    }
    for (a, b) in said.orders.iter().filter(|(a, b)| a > b) {
        graph.order(ids[*a], ids[*b]);
    }
    let line = said.line();
    let in_line: Vec<NodeId> = line.iter().map(|node| ids[*node]).collect();
    assert!(graph.line().unwrap().eq(in_line), "seed {seed}");
    let oracle = World::new(n);
    for round in 0..3 {
        runtime.run(|| graph.run().unwrap());
        world.renew();
        line.iter().for_each(|node| oracle.act(&said, *node));
        assert_eq!(world.values(), oracle.values(), "seed {seed} round {round}");
    }
}

/// A thousand random graphs, compared with the definition.
// Proves: O14.
#[test]
fn random_graphs() {
    let rounds = scaled(1_000) as u64 / 8;
    let shape = AtomicU64::new(0);
    on_every_shape(|runtime| {
        let shape = shape.fetch_add(1, Ordering::Relaxed);
        (0..=rounds).for_each(|round| play(runtime, 1 + shape * 1_000 + round));
    });
}

/// The same where fibers may migrate.
// Proves: O14.
#[test]
fn random_graphs_where_fibers_migrate() {
    let rounds = scaled(1_000) as u64 / 8;
    for scheduler in SCHEDULERS {
        for workers in [1, 2, 4, 8] {
            let runtime = crate::free::free(workers, scheduler);
            let seed = 10_000 + workers as u64 * 1_000;
            (0..=rounds).for_each(|round| play(&runtime, seed + round));
        }
    }
}

/// Random graphs in which some nodes panic: one of these panics is raised, no node after a panicked
/// one has run, and without the panics all run again.
// Proves: O14-panic.
#[test]
fn random_panics() {
    let rounds = scaled(200) as u64 / 8;
    let shape = AtomicU64::new(0);
    on_every_shape(|runtime| {
        let shape = shape.fetch_add(1, Ordering::Relaxed);
        for seed in (0..=rounds).map(|round| 50_000 + shape * 1_000 + round) {
            let mut dice = Dice(seed);
            let said = Said::random(&mut dice);
            let (waits, n) = (said.waits(), said.uses.len());
            let bad: Vec<bool> = (0..n).map(|_| dice.below(10) == 0).collect();
            let panics = AtomicBool::new(true);
            let ran: Vec<_> = (0..n).map(|_| AtomicBool::new(false)).collect();
            let mut graph = Graph::new();
            let body = |node: usize| {
                let (bad, panics, ran, waits) = (&bad, &panics, &ran, &waits[node]);
                move || {
                    let before = |node: &usize| ran[*node].load(Ordering::Relaxed);
                    assert!(waits.iter().all(before), "seed {seed}: {node} runs early");
                    pirn::yield_now();
                    if bad[node] && panics.load(Ordering::Relaxed) {
                        resume_unwind(Box::new(node));
                    }
                    ran[node].store(true, Ordering::Relaxed);
                }
            };
            let ids: Vec<NodeId> = (0..n)
                .map(|node| graph.add("node", said.access(node), body(node)))
                .collect();
            for (a, b) in &said.orders {
                graph.order(ids[*a], ids[*b]);
            }
            for succeeds in [false, true, false] {
                panics.store(!succeeds, Ordering::Relaxed);
                let run = AssertUnwindSafe(|| runtime.run(|| graph.run().unwrap()));
                match catch_unwind(run) {
                    Ok(()) => assert!(succeeds || !bad.contains(&true), "seed {seed}"),
                    Err(panic) => {
                        let node = *panic.downcast::<usize>().expect("a number");
                        assert!(!succeeds && bad[node], "seed {seed}: node {node}");
                    }
                }
                let count = ran
                    .iter()
                    .filter(|ran| ran.swap(false, Ordering::Relaxed))
                    .count();
                let all = count == n;
                assert!(all || !succeeds, "seed {seed}: a node was left out");
            }
        }
    });
}

/// A cycle of any length amid other nodes is named, all of it and nothing else.
// Proves: O14-circle.
#[test]
fn random_cycles() {
    for seed in 0..scaled(1_000) as u64 {
        let mut dice = Dice(seed);
        let n = 1 + dice.below(60);
        let length = 1 + dice.below(n);
        let nodes = shuffled(&mut dice, n);
        let (ring, others) = nodes.split_at(length);
        let mut ranks = vec![0; n];
        // All in the cycle have one rank, so that no other edge closes a cycle.
        ring.iter().for_each(|node| ranks[*node] = n);
        others
            .iter()
            .for_each(|node| ranks[*node] = dice.below(2 * n));
        let mut graph = Graph::new();
        let names: Vec<String> = (0..n).map(|node| format!("node {node}")).collect();
        let uses = |node: usize| match node % 3 {
            0 => Access::new().write::<R<0>>(),
            1 => Access::new().read::<R<0>>(),
            _ => Access::new(),
        };
        let never = || panic!("a node of a graph with a cycle runs");
        let ids: Vec<NodeId> = (0..n)
            .map(|node| graph.add(names[node].clone(), uses(node), never))
            .collect();
        for _ in 0..dice.below(3 * n) {
            let (a, b) = (dice.below(n), dice.below(n));
            if ranks[a] < ranks[b] {
                graph.order(ids[a], ids[b]);
            }
        }
        for at in 0..length {
            graph.order(ids[ring[at]], ids[ring[(at + 1) % length]]);
        }
        let cycle = graph.run().expect_err("a cycle");
        let first = ring.iter().enumerate().min_by_key(|(_, node)| **node);
        let (first, _) = first.expect("one at least");
        let expected: Vec<usize> =
            (0..length).map(|at| ring[(first + at) % length]).collect();
        assert!(
            cycle.nodes().eq(expected.iter().map(|node| ids[*node])),
            "seed {seed}: {cycle}, not {expected:?}"
        );
        assert!(
            cycle
                .names()
                .eq(expected.iter().map(|node| names[*node].as_str())),
            "seed {seed}"
        );
    }
}
