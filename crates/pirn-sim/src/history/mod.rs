//! Histories: the results of operations that overlap, checked against a model.
//!
//! A [`History`] records when each operation is invoked, when it returns, and its result. A
//! [`Model`] says what the operations do one after the other. [`History::check`] looks for an order
//! of the operations that explains all results: each operation takes effect at one moment between
//! its invocation and its return. A history that has such an order is *linearizable*.
//!
//! An assertion about the last state of a test accepts wrong results on the way. A history has them
//! all, and needs no list of the outcomes that are allowed.
//!
//! # Examples
//! A register with an operation in two critical sections:
//! ```
//! use std::sync::Arc;
//!
//! use pirn::sync::Mutex;
//! use pirn_sim::history::{History, Register, RegisterOp, RegisterRet};
//!
//! fn compare_and_set(register: &Mutex<u32>, old: u32, new: u32) -> bool {
//!     let is_equal = *register.lock() == old;
//!     if is_equal {
//!         *register.lock() = new; // another value may have come meanwhile
//!     }
//!     is_equal
//! }
//!
//! let failure = pirn_sim::campaign().find(|| {
//!     let (register, history) = (Arc::new(Mutex::new(0)), History::<Register<u32>>::new());
//!     let take = |new| {
//!         let (register, history) = (Arc::clone(&register), history.clone());
//!         pirn::spawn(move || {
//!             let pending = history.invoke(RegisterOp::CompareAndSet(0, new));
//!             let is_set = compare_and_set(&register, 0, new);
//!             pending.done(RegisterRet::Set(is_set));
//!         })
//!     };
//!     let fibers = [take(1), take(2)];
//!     fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
//!     history.check().unwrap();
//! });
//! let report = failure.unwrap().to_string();
//! assert!(report.contains("not linearizable"));
//! assert!(report.contains("[CompareAndSet(0, 2) -> Set(true)"));
//! ```
//!
//! # Limits
//! * The time of a check grows with the number of operations, and exponentially with the number of
//!   those that overlap. An operation without a result overlaps all later ones. Results that tell
//!   the operations apart help: write each value once.
//! * A history is as strict as its order of events. Operations of which none has returned before
//!   the other was invoked may be in both orders, so invoke right before the operation begins.

mod call;
mod log;
mod map;
mod model;
mod prefix;
mod queue;
mod register;
mod search;
mod timeline;

pub use log::{History, Pending};
pub use map::{Map, MapOp};
pub use model::Model;
pub use queue::{Queue, QueueOp, QueueRet};
pub use register::{Register, RegisterOp, RegisterRet};
pub use timeline::NotLinearizable;
