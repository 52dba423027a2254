//! A graph of tasks: each names the resources it reads and writes, or the tasks it comes
//! after. A run executes them with as much parallelism as that allows. Useful for the
//! frame of a game.
//!
//! ```
//! use pirn::par::graph::{Access, Graph};
//! use pirn::sync::RwLock;
//!
//! struct Speed(f64);
//! struct Place(f64);
//! let (speed, place) = (RwLock::new(Speed(1.0)), RwLock::new(Place(0.0)));
//! let (mut seen, mut heard) = (0.0, 0.0);
//!
//! let mut frame = Graph::new();
//! frame.add("steer", Access::new().write::<Speed>(), || speed.write().0 *= 2.0);
//! frame.add("move", Access::new().read::<Speed>().write::<Place>(), || {
//!     place.write().0 += speed.read().0;
//! });
//! // These two may run in parallel: they only read the shared resource.
//! frame.add("draw", Access::new().read::<Place>(), || seen = place.read().0);
//! frame.add("hum", Access::new().read::<Place>(), || heard = place.read().0);
//! for _ in 0..3 {
//!     frame.run()?;
//! }
//! drop(frame);
//! assert_eq!((seen, heard), (14.0, 14.0));
//! # Ok::<(), pirn::par::graph::Cycle>(())
//! ```
//!
//! # The order
//!
//! The nodes of a graph form a line. It is the order in which they were
//! [added](Graph::add), except that each node is behind all nodes that it was ordered
//! after ([`Access::after`], [`Graph::order`]). In other words, the next in line is
//! always the node added first among those that may come next.
//!
//! Two nodes *conflict* if one of them writes a resource that the other reads or writes.
//! **If two nodes conflict, or have an explicit order, the one in front has ended before
//! the other starts, and the other sees all its effects.** Any other two may run at the
//! same time, unless one waits for the other through a third. So a run has the effect of
//! running the nodes one by one, down the line.
//!
//! An explicit order therefore prevails over the order of addition. A graph has an order
//! unless its explicit orders form a cycle ([`Cycle`]).
//!
//! # Limits of a graph
//!
//! Accesses decide when nodes run. They grant no access to data, and the compiler checks
//! the data of a node as usual. Nodes share data as atomics or behind a lock of
//! [`sync`](crate::sync), which is always free if the accesses are declared correctly
//! ([`try_write`](crate::sync::RwLock::try_write) checks that). A lock of `std` that is
//! held while a node computes in parallel or waits would block the thread on which its
//! owner is to resume. Data of a single node may be owned, or borrowed mutably, as above.
//!
//! * *Input that changes between runs* is behind such a lock too, outside of the graph:
//!   `*input.lock() = next; frame.run()?;`. A mutable borrow of a node lasts as long as
//!   the graph.
//! * *A node to be skipped* in some runs checks a flag and returns; or a second graph
//!   lacks it. Nodes cannot be removed.
//! * *A node on the main thread* does not exist: all run on workers. A node can run code
//!   there by [`Dispatcher::main`](crate::dispatcher::Dispatcher::main)`().run(…)`, while
//!   the main thread is in [`run_main`](crate::dispatcher::run_main). Or the caller runs
//!   it between runs.
//!
//! # If you know…
//!
//! | bevy_ecs | taskflow | petgraph, and a loop | here |
//! |---|---|---|---|
//! | `Schedule` | `tf::Taskflow` | `DiGraph<F, ()>` | [`Graph`] |
//! | `add_systems(f)` | `emplace(f)` | `add_node(f)` | [`add`](Graph::add) |
//! | `Res<R>`, `&C` in a query | – | – | [`read::<R>()`](Access::read) |
//! | `ResMut<R>`, `&mut C` | – | – | [`write::<R>()`](Access::write) |
//! | `b.after(a)` | `b.succeed(a)` | `add_edge(a, b, ())` | [`after(a)`](Access::after), [`order(a, b)`](Graph::order) |
//! | `chain()` | `linearize` | – | [`chain`](Graph::chain) |
//! | `run(&mut world)` | `executor.run(f).wait()` | `toposort`, then calls | [`run`](Graph::run) |
//! | on a conflict without an order: any, may change | – | – | as added, always |
//! | a cycle panics | runs nothing, never returns | `Err(Cycle)` names one node | [`Cycle`] names its nodes in order |
//! | data passed by parameters | captured | weights | captured |

// Owns: the public interface of graphs, how edges are found, and how a run proceeds. Does
// not own: the fibers that nodes run on (`scope`).

mod access;
mod countdown;
mod cycle;
mod line;
mod node_id;
mod nodes;
mod plan;
mod run;

pub use access::Access;
pub use cycle::Cycle;
pub use node_id::NodeId;
pub use nodes::Graph;

#[cfg(test)]
mod tests;
