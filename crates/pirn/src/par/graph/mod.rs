//! A graph of tasks: each says what it reads and writes, or which it comes after, and a
//! run does them as parallel as that allows. What a game does in each frame.
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
//! // These two may run side by side: they only read what they share.
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
//! The nodes of a graph stand in a line: in the order in which they were
//! [added](Graph::add), but each behind all that it was said to come after
//! ([`Access::after`], [`Graph::order`]). In other words: again and again, of the nodes
//! that may go, the one goes next that was added first.
//!
//! Two nodes *conflict* if one of them writes what the other reads or writes. **Of two
//! nodes that conflict, or of which one was said to come after the other, the one that
//! stands in front has ended before the other starts, and the other sees all that it
//! did.** Any other two may run at the same time, unless one waits for the other by way
//! of a third. So what a run does is what running the nodes one by one, down the line,
//! would do.
//!
//! An explicit order therefore prevails over the order of addition, and a graph has an
//! order unless what was said explicitly goes in a circle ([`Cycle`]).
//!
//! # What is left to you
//!
//! Accesses say when nodes run. They hand out nothing, and what a node then touches is
//! checked by the compiler as ever: nodes that share something share it behind a lock of
//! [`sync`](crate::sync), which is always free if the accesses are true
//! ([`try_write`](crate::sync::RwLock::try_write) tells), or as atomics. (A lock of
//! `std`, held while a node computes in parallel or waits, would block the thread that is
//! to go on.) What only one node uses it may own, or borrow mutably, as above.
//!
//! * *Input that changes between runs* stands behind such a lock too, outside of the
//!   graph: `*input.lock() = next; frame.run()?;`. What a node borrows mutably is its own
//!   for as long as there is the graph.
//! * *A node to be left out* in some runs looks at a flag and returns; or there is a
//!   second graph without it. None can be taken out.
//! * *A node on the main thread* does not exist: all run on workers. What has to be done
//!   there is done by a node by
//!   [`Dispatcher::main`](crate::dispatcher::Dispatcher::main)`().run(…)`, while the main
//!   thread is in [`run_main`](crate::dispatcher::run_main); or between runs, by the
//!   caller.
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
//! | two conflict, no order given: any, may change | – | – | as added, always |
//! | a cycle panics | runs nothing, for ever | `Err(Cycle)` names one node | [`Cycle`] names its nodes in order |
//! | data goes by parameters | captured | weights | captured |

// Owns: what users see of graphs, how edges are found, and how a run proceeds. Does not
// own: the fibers that nodes run on (`scope`).

mod access;
mod countdown;
mod cycle;
mod line;
mod nodes;
mod plan;
mod run;

pub use access::Access;
pub use cycle::Cycle;
pub use nodes::{Graph, NodeId};

#[cfg(test)]
mod tests;
