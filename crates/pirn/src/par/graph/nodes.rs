//! A graph under construction: nodes, their names, and the orders between them.
//!
//! Owns: the closures, also during a run. Does not own: the edges that result (`plan`).

use std::borrow::Cow;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::Result as Caught;

use super::access::Access;
use super::countdown::Countdown;
use super::cycle::Cycle;
use super::node_id::NodeId;
use super::plan::Plan;
use crate::shim::Lock;

/// A graph of tasks with the resources they read and write, and an order of them, to be
/// run repeatedly; see [the module](super).
///
/// # Examples
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
    /// Pairs of nodes; the first runs before the second.
    orders: Vec<(u32, u32)>,
    /// The plan for the current nodes and orders; none if they have changed since it was
    /// made.
    ready: Option<(Plan, Countdown)>,
}

/// The closure of a node. Taken out while it runs.
pub(super) struct Node<'env>(Lock<Option<Box<dyn FnMut() + Send + 'env>>>);

/// A graph that is ready to run.
pub(super) struct Prepared<'a, 'env> {
    pub(super) nodes: &'a [Node<'env>],
    pub(super) plan: &'a Plan,
    pub(super) countdown: &'a mut Countdown,
}

impl<'env> Graph<'env> {
    /// Creates a graph without nodes.
    ///
    /// # Examples
    /// ```
    /// let mut graph = pirn::par::graph::Graph::new();
    /// assert!(graph.is_empty());
    /// assert_eq!(graph.run(), Ok(()));
    /// ```
    #[must_use]
    pub fn new() -> Graph<'env> {
        Graph::default()
    }

    /// Adds a node that calls `f` once in each run, and returns its identifier. `name` is
    /// for messages; several nodes may have the same one.
    ///
    /// # Panics
    /// If `access` names a node that this graph does not have; or at the 2³²nd node.
    ///
    /// # Examples
    /// ```
    /// use pirn::par::graph::{Access, Graph};
    ///
    /// let mut frames = 0;
    /// let mut graph = Graph::new();
    /// graph.add("count", Access::new(), || frames += 1);
    /// for _ in 0..3 {
    ///     graph.run()?;
    /// }
    /// drop(graph);
    /// assert_eq!(frames, 3);
    /// # Ok::<(), pirn::par::graph::Cycle>(())
    /// ```
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

    /// Orders `after` behind `before`: it starts when `before` has ended, and sees all
    /// its effects. Either may have been added first.
    ///
    /// # Panics
    /// If this graph does not have one of the nodes.
    ///
    /// # Examples
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

    /// Orders each of `nodes` behind the one named before it.
    ///
    /// # Panics
    /// Like [`order`](Self::order).
    ///
    /// # Examples
    /// ```
    /// use pirn::par::graph::{Access, Graph};
    ///
    /// let mut graph = Graph::new();
    /// let [c, b, a] = ["c", "b", "a"].map(|name| graph.add(name, Access::new(), || {}));
    /// graph.chain(&[a, b, c]);
    /// assert!(graph.line()?.eq([a, b, c]));
    /// # Ok::<(), pirn::par::graph::Cycle>(())
    /// ```
    #[doc(alias = "linearize")]
    #[track_caller]
    pub fn chain(&mut self, nodes: &[NodeId]) {
        for pair in nodes.windows(2) {
            self.order(pair[0], pair[1]);
        }
    }

    /// Returns the number of nodes.
    ///
    /// # Examples
    /// ```
    /// use pirn::par::graph::{Access, Graph};
    ///
    /// let mut graph = Graph::new();
    /// graph.add("load", Access::new(), || {});
    /// assert_eq!(graph.len(), 1);
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns true if there are no nodes.
    ///
    /// # Examples
    /// ```
    /// use pirn::par::graph::{Access, Graph};
    ///
    /// let mut graph = Graph::new();
    /// assert!(graph.is_empty());
    /// graph.add("load", Access::new(), || {});
    /// assert!(!graph.is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns the name of a node.
    ///
    /// # Panics
    /// If this graph does not have it.
    ///
    /// # Examples
    /// ```
    /// use pirn::par::graph::{Access, Graph};
    ///
    /// let mut graph = Graph::new();
    /// let node = graph.add("load", Access::new(), || {});
    /// assert_eq!(graph.name(node), "load");
    /// ```
    #[must_use]
    #[track_caller]
    pub fn name(&self, node: NodeId) -> &str {
        self.check(node, None);
        &self.names[node.0 as usize]
    }

    /// Returns the nodes in line: run one by one in this order, they have the effect of a
    /// run.
    ///
    /// # Errors
    /// If the explicit orders form a cycle.
    ///
    /// # Examples
    /// ```
    /// use pirn::par::graph::{Access, Graph};
    ///
    /// let mut graph = Graph::new();
    /// let draw = graph.add("draw", Access::new(), || {});
    /// let load = graph.add("load", Access::new(), || {});
    /// graph.order(load, draw);
    /// assert!(graph.line()?.eq([load, draw]));
    /// # Ok::<(), pirn::par::graph::Cycle>(())
    /// ```
    pub fn line(&mut self) -> Result<impl ExactSizeIterator<Item = NodeId> + '_, Cycle> {
        let Prepared { plan, .. } = self.prepare()?;
        Ok(plan.line.iter().map(|node| NodeId(*node)))
    }

    /// Returns the data of a run. Computes the plan if nodes or orders have been added
    /// since the last one.
    pub(super) fn prepare(&mut self) -> Result<Prepared<'_, 'env>, Cycle> {
        let ready = match self.ready.take() {
            Some(ready) => ready,
            None => {
                let plan = Plan::new(&self.accesses, &self.orders);
                let plan = plan.map_err(|cycle| self.name_all(&cycle))?;
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

    fn name_all(&self, cycle: &[u32]) -> Cycle {
        let named = |node: &u32| (NodeId(*node), self.names[*node as usize].clone());
        Cycle::new(cycle.iter().map(named).collect())
    }

    /// Panics if this graph does not have `node`, which is to come before the node named
    /// `before`, if any.
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
    /// Calls the closure; returns its panic. One call at a time.
    pub(super) fn call(&self) -> Caught<()> {
        let body = self.0.lock().take();
        let mut body = body.expect("a node runs once in a run");
        // UNWIND: the next run calls the closure again, like any `FnMut` that has
        // panicked.
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
