//! The model of a register.

use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;

use super::model::Model;

/// The [`Model`] of one value that is read, written, and compared and set. At first it is
/// `T::default()`.
///
/// # Examples
/// ```
/// use pirn_sim::history::{History, Register, RegisterOp, RegisterRet};
///
/// let history = History::<Register<u32>>::new();
/// history.invoke(RegisterOp::CompareAndSet(0, 7)).done(RegisterRet::Set(true));
/// history.invoke(RegisterOp::Read).done(RegisterRet::Value(7));
/// assert!(history.check().is_ok());
/// ```
#[derive(Debug)]
pub struct Register<T> {
    value: PhantomData<T>,
}

/// An operation on a [`Register`].
///
/// # Examples
/// ```
/// use pirn_sim::history::RegisterOp;
///
/// assert_eq!(format!("{:?}", RegisterOp::Write(7)), "Write(7)");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RegisterOp<T> {
    /// Returns the value: [`RegisterRet::Value`].
    Read,
    /// Replaces the value: [`RegisterRet::Written`].
    Write(T),
    /// Replaces the value by the second one if it is the first one: [`RegisterRet::Set`].
    CompareAndSet(T, T),
}

/// The result of an operation on a [`Register`].
///
/// # Examples
/// ```
/// use pirn_sim::history::RegisterRet;
///
/// assert_ne!(RegisterRet::Value(7), RegisterRet::Written);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RegisterRet<T> {
    /// The value that was read.
    Value(T),
    /// The value was replaced.
    Written,
    /// Whether the value was equal, and has been replaced.
    Set(bool),
}

impl<T: Clone + Debug + Default + Eq + Hash> Model for Register<T> {
    type Op = RegisterOp<T>;
    type Ret = RegisterRet<T>;
    type State = T;

    fn init() -> T {
        T::default()
    }

    fn step(
        state: &T,
        op: &RegisterOp<T>,
    ) -> impl IntoIterator<Item = (RegisterRet<T>, T)> {
        let outcome = match op {
            RegisterOp::Read => (RegisterRet::Value(state.clone()), state.clone()),
            RegisterOp::Write(value) => (RegisterRet::Written, value.clone()),
            RegisterOp::CompareAndSet(old, new) if old == state => {
                (RegisterRet::Set(true), new.clone())
            }
            RegisterOp::CompareAndSet(..) => (RegisterRet::Set(false), state.clone()),
        };
        [outcome]
    }
}
