//! One run of a graph.
//!
//! Owns: which fiber runs which node, and what a panic stops. Does not own: whose turn it
//! is (`countdown`), or the order (`plan`).
//!
//! The caller spawns a fiber for each node that waits for nobody, and waits for all
//! fibers, in a scope. A fiber runs a node, and spawns one for each that may run now on
//! that account (`countdown`), so that other workers may take them; but with the first in
//! line it goes on itself, unless others want its thread.
//!
//! The fibers are obliged: they start though the caller be cancelled, since a run is no
//! interruption point and leaves nothing out. Where the runtime takes no fibers any more,
//! the nodes are kept and run by the fiber that was to spawn them.

use std::panic::{Location, resume_unwind};

use super::countdown::Countdown;
use super::cycle::Cycle;
use super::nodes::{Graph, Node};
use super::plan::Plan;
use crate::fiber::current;
use crate::sched::beat::is_wanted;
use crate::scope::{Scope, scope};
use crate::shim::atomic::{AtomicBool, Ordering};
use crate::spawn::Builder;

/// What the fibers of a run share.
struct Run<'run, 'env> {
    nodes: &'run [Node<'env>],
    plan: &'run Plan,
    countdown: &'run Countdown,
    /// A node has panicked: no more are started. Written by whoever ran it.
    stopped: AtomicBool,
    /// Where the run was asked for.
    location: &'static Location<'static>,
}

impl Graph<'_> {
    /// Runs every node once, each when those that it comes after have ended, on fibers of
    /// the caller's runtime: of the calling fiber's, else of the entered one, else of the
    /// default one. Returns when all have ended.
    ///
    /// Nodes are ordinary code on fibers: they may park, borrow, use
    /// [scopes](crate::scope()) and other graphs. Nodes that may run at the same time may
    /// wait for each other, on one worker too. Several nodes may run one after another on
    /// one fiber, so what one leaves in a [fiber-local](crate::fiber_local!) the next may
    /// find.
    ///
    /// The order is found in the first run, and again when nodes or orders have been
    /// added; a run then costs a spawned fiber for each node at most, and allocates
    /// nothing else. If the runtime has been shut down meanwhile, the nodes that are left
    /// run one after another.
    ///
    /// # Errors
    /// If nodes are to run in a circle; then none has run.
    ///
    /// # Panics
    /// With the first panic of a node. Nodes that come after it do not run, others only
    /// if they have started; those are cancelled, and waited for. The graph can be run
    /// again. And as [`scope`](crate::scope()) for the want of a runtime.
    ///
    /// # Cancellation
    /// Not an interruption point: all nodes run, though the caller be cancelled. They are
    /// under its token and its deadline, so what they wait for is interrupted.
    ///
    /// # Blocking
    /// Returns when all nodes have ended: parks a fiber, blocks a plain thread.
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
    /// Has the node at `position` run on a fiber of its own; false if that cannot be.
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

    /// Runs the node at `position`, and whatever may run on that account.
    fn go_on_from<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>, position: u32) {
        let mut next = Some(position);
        // Nodes that no fiber was to be had for.
        let mut kept = Vec::new();
        while let Some(position) = next.take().or_else(|| kept.pop()) {
            // ORDERING: Relaxed: what the panic left behind goes by the scope's end; this
            // only saves work. Who has not seen it runs a node that may run anyway.
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
            // What others want the thread for would wait for all that this fiber goes on
            // with; a fresh fiber waits for its turn, or runs elsewhere.
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
