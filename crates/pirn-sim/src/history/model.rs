//! The trait of sequential models.

use std::fmt::Debug;
use std::hash::Hash;

/// A sequential specification of the operations on an object.
///
/// Ready-made ones are [`Register`](super::Register), [`Queue`](super::Queue) and
/// [`Map`](super::Map).
///
/// # Examples
/// Permits: an acquisition waits for a permit, and an attempt may fail without a reason.
/// ```
/// use pirn_sim::history::{History, Model};
///
/// #[derive(Debug)]
/// enum Op {
///     Acquire,
///     TryAcquire,
///     Release,
/// }
///
/// struct Permits;
///
/// impl Model for Permits {
///     type Op = Op;
///     type Ret = bool;
///     type State = u32;
///
///     fn init() -> u32 {
///         1
///     }
///
///     fn step(free: &u32, op: &Op) -> impl IntoIterator<Item = (bool, u32)> {
///         let acquired = free.checked_sub(1).map(|left| (true, left));
///         match op {
///             Op::Acquire => acquired.into_iter().collect(),
///             Op::TryAcquire => acquired.into_iter().chain([(false, *free)]).collect(),
///             Op::Release => vec![(true, free + 1)],
///         }
///     }
/// }
///
/// let history = History::<Permits>::new();
/// history.invoke(Op::Acquire).done(true);
/// let second = history.invoke(Op::Acquire);
/// history.invoke(Op::TryAcquire).done(false);
/// history.invoke(Op::Release).done(true);
/// second.done(true);
/// assert!(history.check().is_ok());
/// history.invoke(Op::Acquire).done(true); // there is no third permit
/// assert!(history.check().is_err());
/// ```
pub trait Model {
    /// An operation, with its arguments. Reports show its `Debug`.
    type Op: Debug;
    /// The result of an operation. Reports show its `Debug`.
    type Ret: Debug + PartialEq;
    /// The state of the object between two operations.
    type State: Clone + Eq + Hash;

    /// Returns the state of a new object.
    fn init() -> Self::State;

    /// Returns the possible outcomes of `op` in `state`: each result with the state after it.
    ///
    /// Most operations have one, as an array. An operation with a choice has several. One that has
    /// to wait in this state has none.
    fn step(
        state: &Self::State,
        op: &Self::Op,
    ) -> impl IntoIterator<Item = (Self::Ret, Self::State)>;

    /// Returns the part of the object that `op` concerns, such as the key in a map.
    ///
    /// Operations on different parts must not affect each other. Each part has a state of its own,
    /// which begins as [`init`](Model::init), and is checked for itself. That takes much less time.
    /// By default the object is one part.
    fn partition(op: &Self::Op) -> impl Eq + Hash {
        let _ = op;
    }
}
