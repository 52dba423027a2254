//! A graph as it is put together: nodes, their names, and what was said about their
//! order.
//!
//! Owns: the closures, in a run too. Does not own: what follows from what was said
//! (`plan`).

use std::borrow::Cow;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::Result as Caught;

use super::access::Access;
use super::countdown::Countdown;
use super::cycle::Cycle;
use super::plan::Plan;
use crate::shim::Lock;

/// Tasks with what they read and write, and an order of them, to be run again and again;
/// see [the module](super).
///
/// ```
/// use pirn::par::graph::{Access, Graph};
///
/// let (mut left, mut right) = (0, 0);
/// let mut graph = Graph::new();
/// graph.add("left", Access::new(), || left += 1);
/// graph.add("right", Access::new(), || right += 2);
/// graph.run()?;
/// graph.run()?;
/// drop(graph);
/// assert_eq!((left, right), (2, 4));
/// # Ok::<(), pirn::par::graph::Cycle>(())
/// ```
#[derive(Default)]
pub struct Graph<'env> {
    nodes: Vec<Node<'env>>,
    names: Vec<Cow<'static, str>>,
    accesses: Vec<Access>,
    /// Of two nodes each, the first comes before the second.
    orders: Vec<(u32, u32)>,
    /// Of what has been said so far; none if that has changed since it was made.
    ready: Option<(Plan, Countdown)>,
}

/// Names a node of one graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub(super) u32);

/// What a node does. Out of its place while it is done.
pub(super) struct Node<'env>(Lock<Option<Box<dyn FnMut() + Send + 'env>>>);

/// A graph to be run.
pub(super) struct Prepared<'a, 'env> {
    pub(super) nodes: &'a [Node<'env>],
    pub(super) plan: &'a Plan,
    pub(super) countdown: &'a mut Countdown,
}

impl<'env> Graph<'env> {
    /// A graph without nodes.
    #[must_use]
    pub fn new() -> Graph<'env> {
        Graph::default()
    }

    /// Adds a node that calls `f` once in each run.
    ///
    /// # Panics
    /// If `access` names a node that this graph does not have; or at the 2³²nd node.
    #[track_caller]
    pub fn add<F>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        access: Access,
        f: F,
    ) -> NodeId
    where
        F: FnMut() + Send + 'env,
    {
        let name = name.into();
        for node in &access.after {
            self.check(*node, Some(&name));
        }
        let id = u32::try_from(self.nodes.len()).expect("fewer than 2^32 nodes");
        self.nodes.push(Node(Lock::new(Some(Box::new(f)))));
        self.names.push(name);
        self.accesses.push(access);
        self.ready = None;
        NodeId(id)
    }

    /// Has `after` start when `before` has ended, and see all that it did. Either may
    /// have been added first.
    ///
    /// # Panics
    /// If this graph does not have one of the nodes.
    ///
    /// ```
    /// use pirn::par::graph::{Access, Graph};
    ///
    /// let mut graph = Graph::new();
    /// let egg = graph.add("egg", Access::new(), || {});
    /// let hen = graph.add("hen", Access::new().after(egg), || {});
    /// graph.order(hen, egg);
    /// let cycle = graph.run().unwrap_err();
    /// assert!(cycle.names().eq(["egg", "hen"]));
    /// ```
    #[track_caller]
    pub fn order(&mut self, before: NodeId, after: NodeId) {
        self.check(before, None);
        self.check(after, None);
        self.orders.push((before.0, after.0));
        self.ready = None;
    }

    /// Has each of `nodes` start when the one named before it has ended.
    ///
    /// # Panics
    /// Like [`order`](Self::order).
    #[track_caller]
    pub fn chain(&mut self, nodes: &[NodeId]) {
        for pair in nodes.windows(2) {
            self.order(pair[0], pair[1]);
        }
    }

    /// How many nodes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are no nodes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The name of a node.
    ///
    /// # Panics
    /// If this graph does not have it.
    #[must_use]
    #[track_caller]
    pub fn name(&self, node: NodeId) -> &str {
        self.check(node, None);
        &self.names[node.0 as usize]
    }

    /// The nodes in line: one by one in this order they would do what a run does.
    ///
    /// # Errors
    /// If there is none, since what was said goes in a circle.
    pub fn line(&mut self) -> Result<impl ExactSizeIterator<Item = NodeId> + '_, Cycle> {
        let Prepared { plan, .. } = self.prepare()?;
        Ok(plan.line.iter().map(|node| NodeId(*node)))
    }

    /// What a run needs. Finds who waits for whom, if that has not been done since
    /// something was said.
    pub(super) fn prepare(&mut self) -> Result<Prepared<'_, 'env>, Cycle> {
        let ready = match self.ready.take() {
            Some(ready) => ready,
            None => {
                let plan = Plan::new(&self.accesses, &self.orders);
                let plan = plan.map_err(|circle| self.name_all(&circle))?;
                let countdown = Countdown::new(&plan);
                (plan, countdown)
            }
        };
        let (plan, countdown) = self.ready.insert(ready);
        Ok(Prepared {
            nodes: &self.nodes,
            plan,
            countdown,
        })
    }

    fn name_all(&self, circle: &[u32]) -> Cycle {
        let named = |node: &u32| (NodeId(*node), self.names[*node as usize].clone());
        Cycle::new(circle.iter().map(named).collect())
    }

    /// Panics if this graph does not have `node`, which is to come before the one of the
    /// name `before`, if any.
    #[track_caller]
    fn check(&self, node: NodeId, before: Option<&str>) {
        let n = self.nodes.len();
        if (node.0 as usize) < n {
            return;
        }
        let node = node.0;
        match before {
            Some(name) => panic!(
                "{name:?} is to come after node {node} of another graph: this one has {n} nodes"
            ),
            None => panic!("node {node} of another graph: this one has {n} nodes"),
        }
    }
}

impl Node<'_> {
    /// Does it; returns its panic. Once at a time.
    pub(super) fn call(&self) -> Caught<()> {
        let body = self.0.lock().take();
        let mut body = body.expect("a node runs once in a run");
        // UNWIND: what is left of the closure is called again in the next run, as with
        // any `FnMut` that has panicked.
        let result = catch_unwind(AssertUnwindSafe(&mut body));
        *self.0.lock() = Some(body);
        result
    }
}

impl fmt::Debug for Graph<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph")
            .field("nodes", &self.names)
            .finish_non_exhaustive()
    }
}
