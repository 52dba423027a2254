//! The declaration of a node: its resources and predecessors.
//!
//! Owns: the names of resources. Does not own: the edges that result (`plan`).

use std::any::{TypeId, type_name};
use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};

use super::node_id::NodeId;

/// A declaration of the resources that a node reads and writes, and of the nodes it comes
/// after; see [`Graph`](super::Graph).
///
/// A resource is named by a type, any type that stands for it, or by a string. A type and
/// a string never name the same resource.
///
/// # Examples
/// ```
/// use pirn::par::graph::{Access, Graph};
///
/// struct Terrain;
/// let mut graph = Graph::new();
/// let load = graph.add("load", Access::new().write::<Terrain>(), || {});
/// let level = 3;
/// graph.add(
///     "light",
///     Access::new().read::<Terrain>().write_named(format!("lights of level {level}")),
///     || {},
/// );
/// graph.add("greet", Access::new().after(load), || {});
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Access {
    pub(super) uses: Vec<(Resource, Use)>,
    pub(super) after: Vec<NodeId>,
}

/// The name of a shared resource.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Resource {
    /// A type, with its name for messages.
    Type(TypeId, &'static str),
    Named(Cow<'static, str>),
}

/// How a node uses a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Read,
    Write,
}

impl Access {
    /// Returns an access without resources and predecessors.
    ///
    /// # Examples
    /// ```
    /// use pirn::par::graph::{Access, Graph};
    ///
    /// let mut graph = Graph::new();
    /// let greet = graph.add("greet", Access::new(), || {});
    /// assert_eq!(graph.name(greet), "greet");
    /// ```
    pub fn new() -> Access {
        Access::default()
    }

    /// Declares that the node reads the resource of type `R`.
    ///
    /// # Examples
    /// ```
    /// use pirn::par::graph::{Access, Graph};
    ///
    /// struct Terrain;
    /// let mut graph = Graph::new();
    /// let load = graph.add("load", Access::new().write::<Terrain>(), || {});
    /// // These two may run at the same time, after `load`.
    /// graph.add("draw", Access::new().read::<Terrain>(), || {});
    /// graph.add("hear", Access::new().read::<Terrain>(), || {});
    /// assert_eq!(graph.line()?.next(), Some(load));
    /// # Ok::<(), pirn::par::graph::Cycle>(())
    /// ```
    pub fn read<R: ?Sized + 'static>(self) -> Access {
        self.with(Resource::of::<R>(), Use::Read)
    }

    /// Declares that the node writes the resource of type `R`, and may read it.
    ///
    /// # Examples
    /// ```
    /// use pirn::par::graph::{Access, Graph};
    /// use pirn::sync::Mutex;
    ///
    /// struct Score;
    /// let score = Mutex::new(1);
    /// let mut graph = Graph::new();
    /// graph.add("double", Access::new().write::<Score>(), || *score.lock() *= 2);
    /// graph.add("add", Access::new().write::<Score>(), || *score.lock() += 3);
    /// graph.run()?;
    /// drop(graph);
    /// assert_eq!(score.into_inner(), 5);
    /// # Ok::<(), pirn::par::graph::Cycle>(())
    /// ```
    pub fn write<R: ?Sized + 'static>(self) -> Access {
        self.with(Resource::of::<R>(), Use::Write)
    }

    /// Declares that the node reads the resource of this name.
    ///
    /// # Examples
    /// ```
    /// use pirn::par::graph::{Access, Graph};
    ///
    /// let mut graph = Graph::new();
    /// let load = graph.add("load", Access::new().write_named("level 1"), || {});
    /// let draw = graph.add("draw", Access::new().read_named("level 1"), || {});
    /// assert!(graph.line()?.eq([load, draw]));
    /// # Ok::<(), pirn::par::graph::Cycle>(())
    /// ```
    pub fn read_named(self, name: impl Into<Cow<'static, str>>) -> Access {
        self.with(Resource::Named(name.into()), Use::Read)
    }

    /// Declares that the node writes the resource of this name, and may read it.
    ///
    /// # Examples
    /// ```
    /// use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    /// use pirn::par::graph::{Access, Graph};
    ///
    /// let lit = AtomicU32::new(0);
    /// let mut graph = Graph::new();
    /// for level in 0..3 {
    ///     // Each node has a resource of its own, so all may run at the same time.
    ///     let access = Access::new().write_named(format!("lights of level {level}"));
    ///     graph.add("light", access, || _ = lit.fetch_add(1, Relaxed));
    /// }
    /// graph.run()?;
    /// assert_eq!(lit.load(Relaxed), 3);
    /// # Ok::<(), pirn::par::graph::Cycle>(())
    /// ```
    pub fn write_named(self, name: impl Into<Cow<'static, str>>) -> Access {
        self.with(Resource::Named(name.into()), Use::Write)
    }

    /// Orders the node behind `node`: it starts when `node` has ended, and sees all its
    /// effects.
    ///
    /// # Examples
    /// ```
    /// use pirn::par::graph::{Access, Graph};
    ///
    /// let text = pirn::sync::Mutex::new(String::new());
    /// let mut graph = Graph::new();
    /// let hello = graph.add("hello", Access::new(), || text.lock().push_str("hello"));
    /// graph.add("you", Access::new().after(hello), || text.lock().push_str(", you"));
    /// graph.run()?;
    /// drop(graph);
    /// assert_eq!(text.into_inner(), "hello, you");
    /// # Ok::<(), pirn::par::graph::Cycle>(())
    /// ```
    pub fn after(mut self, node: NodeId) -> Access {
        self.after.push(node);
        self
    }

    fn with(mut self, resource: Resource, usage: Use) -> Access {
        self.uses.push((resource, usage));
        self
    }
}

impl Resource {
    fn of<R: ?Sized + 'static>() -> Resource {
        Resource::Type(TypeId::of::<R>(), type_name::<R>())
    }
}

impl Hash for Resource {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Resource::Type(id, _) => id.hash(state),
            Resource::Named(name) => name.hash(state),
        }
    }
}

impl fmt::Debug for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Resource::Type(_, name) => f.write_str(name),
            Resource::Named(name) => write!(f, "{name:?}"),
        }
    }
}
