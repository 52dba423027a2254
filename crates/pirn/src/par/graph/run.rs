//! One run of a graph.
//!
//! Owns: which fiber runs which node, and what a panic stops. Does not own: which node is
//! ready (`countdown`), or the order (`plan`).
//!
//! In a scope, the caller spawns a fiber for each node without predecessors, and waits
//! for all fibers. A fiber runs a node and spawns a fiber for each successor that is now
//! ready (`countdown`), so that other workers may take them. It runs the first in line
//! itself, unless other fibers wait for its thread.
//!
//! The fibers have the flag `must_run`: they start even if the caller is cancelled,
//! because a run is no interruption point and skips no node. If the runtime accepts no
//! more fibers, the fiber that was to spawn a node keeps it and runs it.

use std::panic::{Location, resume_unwind};

use super::countdown::Countdown;
use super::cycle::Cycle;
use super::nodes::{Graph, Node};
use super::plan::Plan;
use crate::fiber::current;
use crate::sched::worker::heartbeat::is_wanted;
use crate::scope::{Scope, scope};
use crate::shim::atomic::{AtomicBool, Ordering};
use crate::spawn::Builder;

/// State shared by the fibers of a run.
struct Run<'run, 'env> {
    nodes: &'run [Node<'env>],
    plan: &'run Plan,
    countdown: &'run Countdown,
    /// Set when a node has panicked: no more nodes are started. Written by the fiber that
    /// ran it.
    stopped: AtomicBool,
    /// The place that called `run`.
    location: &'static Location<'static>,
}

impl Graph<'_> {
    /// Runs every node once, each when its predecessors have ended, and returns when all
    /// have ended.
    ///
    /// They run on fibers of the caller's runtime: that of the calling fiber, else the
    /// entered one, else the default one.
    ///
    /// Nodes are ordinary code on fibers: they may park, borrow, use
    /// [scopes](crate::scope()) and other graphs. Nodes that may run at the same time may
    /// wait for each other, on one worker too. Several nodes may run one after another on
    /// one fiber, so a node may find a [fiber-local](crate::fiber_local!) that another
    /// one has set.
    ///
    /// The order is computed in the first run, and again when nodes or orders have been
    /// added. A run then costs at most one spawned fiber for each node, and allocates
    /// nothing else. If the runtime is shut down meanwhile, the remaining nodes run one
    /// after another.
    ///
    /// # Errors
    /// If the explicit orders form a cycle; then no node has run.
    ///
    /// # Panics
    /// With the first panic of a node. Its successors do not run, and of the others only
    /// those that have started; these are cancelled and waited for. The graph can be run
    /// again. Also like [`scope`](crate::scope()), if there is no runtime.
    ///
    /// # Cancellation
    /// Not an interruption point: all nodes run, even if the caller is cancelled. They
    /// run under its token and its deadline, so their waits are interrupted.
    ///
    /// # Blocking
    /// Returns when all nodes have ended: parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    /// use pirn::par::graph::{Access, Graph};
    ///
    /// let (parts, total) = (AtomicU32::new(0), AtomicU32::new(0));
    /// let mut graph = Graph::new();
    /// let left = graph.add("left", Access::new(), || _ = parts.fetch_add(1, Relaxed));
    /// let right = graph.add("right", Access::new(), || _ = parts.fetch_add(2, Relaxed));
    /// let both = Access::new().after(left).after(right);
    /// graph.add("both", both, || total.store(parts.load(Relaxed), Relaxed));
    /// graph.run()?;
    /// assert_eq!(total.load(Relaxed), 3);
    /// # Ok::<(), pirn::par::graph::Cycle>(())
    /// ```
    #[track_caller]
    pub fn run(&mut self) -> Result<(), Cycle> {
        let location = Location::caller();
        let graph = self.prepare()?;
        graph.countdown.reset(graph.plan);
        let run = Run {
            nodes: graph.nodes,
            plan: graph.plan,
            countdown: graph.countdown,
            stopped: AtomicBool::new(false),
            location,
        };
        scope(|s| {
            for position in run.plan.first() {
                if !run.spawn(s, position) {
                    run.go_on_from(s, position);
                }
            }
        });
        Ok(())
    }
}

impl Run<'_, '_> {
    /// Spawns a fiber that runs the node at `position`; false if that fails.
    fn spawn<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        position: u32,
    ) -> bool {
        let body = move || self.go_on_from(scope, position);
        scope
            .spawn_obliged(self.location, Builder::new(), body)
            .is_ok()
    }

    /// Runs the node at `position`, and successors that become ready.
    fn go_on_from<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>, position: u32) {
        let mut next = Some(position);
        // Nodes that could not be spawned.
        let mut kept = Vec::new();
        while let Some(position) = next.take().or_else(|| kept.pop()) {
            // ORDERING: Relaxed: the end of the scope passes on the effects of the panic;
            // this only saves work. A fiber that has not seen the flag runs a node that
            // may run anyway.
            if self.stopped.load(Ordering::Relaxed) {
                return;
            }
            let node = self.plan.line[position as usize] as usize;
            if let Err(panic) = self.nodes[node].call() {
                // ORDERING: as above.
                self.stopped.store(true, Ordering::Relaxed);
                // UNWIND: up to the fiber's end, where the scope takes it.
                resume_unwind(panic);
            }
            // A fiber that waits for this thread would wait for all nodes that this fiber
            // runs itself. A fresh fiber is queued behind it, or runs elsewhere.
            let ends = is_wanted(current::local());
            self.countdown.ended(self.plan, position, |ready| {
                if next.is_none() && !ends {
                    next = Some(ready);
                } else if !self.spawn(scope, ready) {
                    kept.push(ready);
                }
            });
        }
    }
}
