//! The model of a map.

use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;

use super::model::Model;

/// The [`Model`] of a map from keys to values. At first it is empty. The results are those of a
/// `HashMap`: the value that was at the key before, or `None`.
///
/// Operations on different keys are checked apart.
///
/// # Examples
/// ```
/// use pirn_sim::history::{History, Map, MapOp};
///
/// let history = History::<Map<&str, u32>>::new();
/// history.invoke(MapOp::Insert("a", 1)).done(None);
/// history.invoke(MapOp::Insert("b", 2)).done(None);
/// history.invoke(MapOp::Remove("a")).done(Some(1));
/// history.invoke(MapOp::Get("a")).done(Some(1));
/// let error = history.check().unwrap_err().to_string();
/// assert!(error.contains(r#"explains Get("a") -> Some(1)"#));
/// assert!(!error.contains(r#"Insert("b", 2)"#)); // another key
/// ```
#[derive(Debug)]
pub struct Map<K, V> {
    entry: PhantomData<(K, V)>,
}

/// An operation on a [`Map`].
///
/// # Examples
/// ```
/// use pirn_sim::history::MapOp;
///
/// let insert = MapOp::Insert("a", 1);
/// assert_eq!(format!("{insert:?}"), r#"Insert("a", 1)"#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MapOp<K, V> {
    /// Returns the value at the key.
    Get(K),
    /// Replaces the value at the key; returns the one before.
    Insert(K, V),
    /// Removes the value at the key; returns it.
    Remove(K),
}

impl<K, V> Model for Map<K, V>
where
    K: Debug + Eq + Hash,
    V: Clone + Debug + Eq + Hash,
{
    type Op = MapOp<K, V>;
    type Ret = Option<V>;
    /// The value at one key.
    type State = Option<V>;

    fn init() -> Option<V> {
        None
    }

    fn step(
        state: &Option<V>,
        op: &MapOp<K, V>,
    ) -> impl IntoIterator<Item = (Option<V>, Option<V>)> {
        let after = match op {
            MapOp::Get(_) => state.clone(),
            MapOp::Insert(_, value) => Some(value.clone()),
            MapOp::Remove(_) => None,
        };
        [(state.clone(), after)]
    }

    fn partition(op: &MapOp<K, V>) -> impl Eq + Hash {
        match op {
            MapOp::Get(key) | MapOp::Insert(key, _) | MapOp::Remove(key) => key,
        }
    }
}
