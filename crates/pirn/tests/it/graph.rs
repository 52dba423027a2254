//! Graphs of tasks: order of nodes, concurrency, panics, interrupts.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use pirn::par::graph::{Access, Cycle, Graph, NodeId};
use pirn::sync::{Barrier, RwLock};
use pirn::{Runtime, channel};

use crate::executor_kind::{runtime, until};
use crate::par_fixture::compute;
use crate::util::on_every_shape;

struct Place;
struct Speed;

/// The names of the called nodes, in order.
#[derive(Default)]
struct Called(Mutex<Vec<&'static str>>);

impl Called {
    fn note(&self, name: &'static str) {
        self.0.lock().unwrap().push(name);
    }

    fn take(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// A node that logs its call.
fn noting<'env>(
    graph: &mut Graph<'env>,
    called: &'env Called,
    name: &'static str,
    access: Access,
) -> NodeId {
    graph.add(name, access, move || called.note(name))
}

/// Nodes borrow mutably, keep state between runs, and see the effects of the nodes before them.
// Proves: O14.
#[test]
fn systems_of_a_frame() {
    on_every_shape(|runtime| {
        let (speed, place) = (RwLock::new(1_u64), RwLock::new(0_u64));
        let (mut seen, mut heard) = (Vec::new(), 0);
        let free = "the graph keeps the others away";
        let mut frame = Graph::new();
        frame.add("steer", Access::new().write::<Speed>(), || {
            *speed.try_write().expect(free) += 1;
        });
        frame.add(
            "move",
            Access::new().read::<Speed>().write::<Place>(),
            || {
                *place.try_write().expect(free) += *speed.try_read().expect(free);
            },
        );
        frame.add("draw", Access::new().read::<Place>(), || {
            seen.push(*place.try_read().expect(free));
        });
        frame.add("hum", Access::new().read::<Place>(), || {
            heard += *place.try_read().expect(free);
        });
        runtime.run(|| (0..4).for_each(|_| frame.run().unwrap()));
        drop(frame);
        assert_eq!(seen, [2, 5, 9, 14]);
        assert_eq!(heard, 30);
    });
}

/// Of two conflicting nodes the one added first runs first, unless it was declared to run after the
/// other.
// Proves: O14.
#[test]
fn the_order_of_a_line() {
    let called = Called::default();
    let mut graph = Graph::new();
    let a = noting(&mut graph, &called, "a", Access::new().write::<Place>());
    let b = noting(&mut graph, &called, "b", Access::new().write::<Place>());
    let c = noting(&mut graph, &called, "c", Access::new().write::<Place>());
    let line = |graph: &mut Graph<'_>| graph.line().unwrap().collect::<Vec<_>>();
    assert_eq!(line(&mut graph), [a, b, c]);
    graph.run().unwrap();
    assert_eq!(called.take(), ["a", "b", "c"]);
    graph.order(c, a);
    assert_eq!(line(&mut graph), [b, c, a]);
    graph.run().unwrap();
    assert_eq!(called.take(), ["b", "c", "a"]);
    // No node is reordered for this one, which was declared to run after the last.
    let d = noting(
        &mut graph,
        &called,
        "d",
        Access::new().after(a).read::<Place>(),
    );
    assert_eq!(line(&mut graph), [b, c, a, d]);
    graph.run().unwrap();
    assert_eq!(called.take(), ["b", "c", "a", "d"]);
    assert_eq!((graph.len(), graph.is_empty()), (4, false));
    assert_eq!(graph.name(d), "d");
    graph.chain(&[d, c, b]);
    let cycle = graph.run().unwrap_err();
    assert!(cycle.nodes().eq([a, d, c]), "{cycle}");
    assert_eq!(called.take(), [""; 0], "nothing runs in a cycle");
}

/// A type and a text name different resources, as do two texts; reads do not conflict.
// Proves: O14.
#[test]
fn what_conflicts() {
    on_every_shape(|runtime| {
        let all = Barrier::new(6);
        let meet = || _ = all.wait();
        let mut graph = Graph::new();
        graph.add("type", Access::new().write::<Place>(), meet);
        graph.add("text", Access::new().write_named("Place"), meet);
        graph.add("other", Access::new().write_named("Speed".to_owned()), meet);
        graph.add("reader", Access::new().read::<Speed>(), meet);
        graph.add("another", Access::new().read::<Speed>().read::<str>(), meet);
        graph.add("nothing", Access::new(), meet);
        let mut last = 0;
        let both = Access::new()
            .read::<Place>()
            .write::<Place>()
            .write::<Place>();
        graph.add("both", both, || last += 1);
        // It ends only if all six run at the same time.
        (0..10).for_each(|_| runtime.run(|| graph.run().unwrap()));
        drop(graph);
        assert_eq!(last, 10);
    });
}

/// Layers of nodes, each node after all nodes of the layer before it: a whole layer runs at the
/// same time, on one worker too.
// Proves: O14, O14-wait.
#[test]
fn layers_run_side_by_side() {
    const LAYERS: usize = 6;
    on_every_shape(|runtime| {
        let barriers: Vec<_> = (1..=LAYERS).map(Barrier::new).collect();
        let layer = AtomicUsize::new(0);
        let mut graph = Graph::new();
        let mut before: Vec<NodeId> = Vec::new();
        for (index, barrier) in barriers.iter().enumerate() {
            let layer = &layer;
            let body = move || {
                assert_eq!(layer.load(Ordering::SeqCst), index);
                if barrier.wait().is_leader() {
                    layer.store(index + 1, Ordering::SeqCst);
                }
                until(layer, index + 1);
            };
            let after = |access: Access, node: &NodeId| access.after(*node);
            let access = before.iter().fold(Access::new(), after);
            before = (0..=index)
                .map(|_| graph.add(format!("layer {index}"), access.clone(), body))
                .collect();
        }
        for _ in 0..5 {
            layer.store(0, Ordering::SeqCst);
            runtime.run(|| graph.run().unwrap());
            assert_eq!(layer.load(Ordering::SeqCst), LAYERS);
        }
    });
}

/// Nodes without an order may wait for each other, on one worker too.
// Proves: O14-wait.
#[test]
fn nodes_wait_for_each_other() {
    on_every_shape(|runtime| {
        let (to_left, left) = channel::bounded(0);
        let (to_right, right) = channel::bounded(0);
        let (mut at_left, mut at_right) = (0, 0);
        let mut graph = Graph::new();
        let start = graph.add("start", Access::new(), || {});
        graph.add("left", Access::new().after(start), || {
            at_left = left.recv().unwrap();
            to_right.send(at_left + 1).unwrap();
        });
        graph.add("right", Access::new().after(start), || {
            to_left.send(1).unwrap();
            at_right = right.recv().unwrap();
        });
        (0..20).for_each(|_| runtime.run(|| graph.run().unwrap()));
        drop(graph);
        assert_eq!((at_left, at_right), (1, 2));
    });
}

/// Between two nodes other fibers have their turn: ready ones, and those with an expired timer.
// Proves: O14-turns.
#[test]
fn a_chain_gives_way() {
    const NODES: usize = 1_000;
    let runtime = runtime(1);
    let (turns, over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let awake = AtomicBool::new(false);
    let mut seen = Vec::new();
    let mut graph = Graph::new();
    let mut chain = Vec::new();
    for _ in 0..NODES {
        chain.push(graph.add("node", Access::new(), || {
            // Together longer than the sleep.
            compute(Duration::from_micros(100));
        }));
    }
    let last = graph.add("last", Access::new(), || {
        seen.push((turns.load(Ordering::SeqCst), awake.load(Ordering::SeqCst)));
    });
    chain.push(last);
    graph.chain(&chain);
    runtime.run(|| {
        pirn::scope(|s| {
            s.spawn(|| {
                while !over.load(Ordering::SeqCst) {
                    turns.fetch_add(1, Ordering::SeqCst);
                    pirn::yield_now();
                }
            });
            until(&turns, 1);
            graph.run().unwrap();
            over.store(true, Ordering::SeqCst);
        });
        pirn::scope(|s| {
            s.spawn(|| {
                pirn::sleep(Duration::from_millis(1)).unwrap();
                awake.store(true, Ordering::SeqCst);
            });
            pirn::yield_now();
            graph.run().unwrap();
        });
    });
    drop(graph);
    let (turns, _) = seen[0];
    // Four nodes run in a row: three out of the slot for the next fiber, and one before them.
    assert!(turns >= NODES / 6, "{turns} turns of another fiber");
    let (_, awake) = seen[1];
    assert!(awake, "a timer waits for a whole chain");
}

/// Graphs run from plain threads, on the runtime that these have entered, and inside nodes.
// Proves: O14.
#[test]
fn runs_from_anywhere() {
    let sum = AtomicUsize::new(0);
    let mut graph = Graph::new();
    graph.add("outer", Access::new(), || {
        let name = std::thread::current().name().map(str::to_owned);
        assert!(name.is_some_and(|name| name.starts_with("own-")));
        let mut inner = Graph::new();
        for n in 0..10 {
            let sum = &sum;
            inner.add("inner", Access::new(), move || {
                let add = |n| sum.fetch_add(n, Ordering::SeqCst);
                pirn::scope(|s| drop(s.spawn(|| add(n))));
                pirn::par::join(|| add(n), || add(n));
            });
        }
        inner.run().unwrap();
    });
    let own = Runtime::builder().name("own").workers(2).build().unwrap();
    own.enter(|| graph.run().unwrap());
    drop(graph);
    assert_eq!(sum.into_inner(), 3 * 45);
    // On the default runtime.
    let mut ran = false;
    let mut graph = Graph::new();
    graph.add("node", Access::new(), || ran = true);
    graph.run().unwrap();
    drop(graph);
    assert!(ran);
    // An empty graph.
    Graph::new().run().unwrap();
}

/// A deterministic runtime orders the nodes by its seed: one seed, one order.
// Proves: O14.
#[test]
fn graphs_by_a_seed() {
    let order = |seed: u64| {
        let called = Called::default();
        let mut graph = Graph::new();
        let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
        for name in names {
            graph.add(name, Access::new(), || {
                pirn::sleep(Duration::from_secs(1)).unwrap();
                called.note(name);
            });
        }
        let runtime = Runtime::builder().deterministic(seed).build().unwrap();
        runtime.run(|| graph.run().unwrap());
        drop(graph);
        called.take()
    };
    let orders: BTreeSet<_> = (0..20).map(|seed| (order(seed), order(seed))).collect();
    assert!(
        orders
            .iter()
            .all(|(one, again)| one == again && one.len() == 8)
    );
    assert!(orders.len() > 1, "always the same order");
}

/// A runtime without workers runs a graph on the thread that drives it.
// Proves: O14.
#[test]
fn graphs_by_hand() {
    let runtime = Runtime::builder().workers(0).build().unwrap();
    let here = std::thread::current().id();
    let ran = AtomicUsize::new(0);
    let mut graph = Graph::new();
    let first = graph.add("first", Access::new(), || {});
    for _ in 0..3 {
        graph.add("node", Access::new().after(first), || {
            assert_eq!(std::thread::current().id(), here);
            ran.fetch_add(1, Ordering::SeqCst);
        });
    }
    runtime.run(|| graph.run().unwrap());
    drop(graph);
    assert_eq!(ran.into_inner(), 3);
}

/// A cycle of one, and the message for cycles.
// Proves: O14-circle.
#[test]
fn cycles_in_words() {
    let mut graph = Graph::new();
    let a = graph.add("a", Access::new(), || {});
    let b = graph.add("b", Access::new().after(a), || {});
    graph.order(b, b);
    let cycle: Cycle = graph.run().unwrap_err();
    assert!(cycle.names().eq(["b"]));
    let head = "these nodes of a graph form a cycle:";
    assert_eq!(cycle.to_string(), format!("{head} `b` before itself"));

    let mut graph = Graph::new();
    let a = graph.add("a", Access::new(), || {});
    let b = graph.add("b", Access::new().after(a), || {});
    graph.order(b, a);
    let cycle = graph.line().map(drop).unwrap_err();
    assert_eq!(
        cycle.to_string(),
        format!("{head} `a` before `b` before `a`")
    );
    // It is detected again.
    assert_eq!(graph.run().unwrap_err(), cycle);
}

/// A node of a larger graph is rejected.
// Proves: O14-circle.
#[test]
fn nodes_of_another_graph() {
    let mut other = Graph::new();
    other.add("a", Access::new(), || {});
    let b = other.add("b", Access::new(), || {});
    let mut graph = Graph::new();
    let a = graph.add("a", Access::new(), || {});
    let refused = catch_unwind(AssertUnwindSafe(|| graph.order(a, b))).unwrap_err();
    let said = refused.downcast::<String>().unwrap();
    assert_eq!(*said, "node 1 of another graph: this one has 1 nodes");
    let add = || graph.add("c", Access::new().after(b), || {});
    let refused = catch_unwind(AssertUnwindSafe(add)).unwrap_err();
    let said = refused.downcast::<String>().unwrap();
    assert_eq!(
        *said,
        "\"c\" is to come after node 1 of another graph: this one has 1 nodes"
    );
    assert_eq!(graph.len(), 1);
    graph.run().unwrap();
}
