//! The declaration of a node: its resources and predecessors.
//!
//! Owns: the names of resources. Does not own: the edges that result (`plan`).

use std::any::{TypeId, type_name};
use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};

use super::nodes::NodeId;

/// The resources that a node reads and writes, and the nodes it comes after; see
/// [`Graph`](super::Graph).
///
/// A resource is named by a type, any type that stands for it, or by a string. A type and
/// a string never name the same resource.
///
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
    pub fn new() -> Access {
        Access::default()
    }

    /// Declares that the node reads the resource of type `R`.
    pub fn read<R: ?Sized + 'static>(self) -> Access {
        self.with(Resource::of::<R>(), Use::Read)
    }

    /// Declares that the node writes the resource of type `R`, and may read it.
    pub fn write<R: ?Sized + 'static>(self) -> Access {
        self.with(Resource::of::<R>(), Use::Write)
    }

    /// Declares that the node reads the resource of this name.
    pub fn read_named(self, name: impl Into<Cow<'static, str>>) -> Access {
        self.with(Resource::Named(name.into()), Use::Read)
    }

    /// Declares that the node writes the resource of this name, and may read it.
    pub fn write_named(self, name: impl Into<Cow<'static, str>>) -> Access {
        self.with(Resource::Named(name.into()), Use::Write)
    }

    /// Orders the node behind `node`: it starts when `node` has ended, and sees all its
    /// effects.
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
