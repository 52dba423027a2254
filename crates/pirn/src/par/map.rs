//! Mapping every item, in order.
//!
//! Owns: [`map`] and [`try_map`], and mapping the rest of a block inside another
//! operation.

use std::convert::Infallible;

use super::divide::{Cuts, spread, spread_rest};
use super::output::{Filled, filled};
use super::try_state::{Until, in_order, into_result};
use super::{Scope, Split, scope};
use crate::Interrupt;

/// Maps every item of `items` by `f`; returns the results in the order of the items.
///
/// # Complexity
/// Like [`for_each`](super::for_each). Memory for all results is allocated before the
/// first is made, and they are written in place.
///
/// # Panics
/// With the panic of an `f`, when all other work has ended; the results are dropped. Or
/// if the results exceed the address space, like `Vec::with_capacity`.
///
/// # Cancellation
/// Not an interruption point, but `f` may contain some. See [`try_map`].
///
/// # Blocking
/// Like [`for_each`](super::for_each).
///
/// # Examples
/// ```
/// use pirn::par;
///
/// let words = ["three", "fibers", "ran"];
/// let lengths = par::map(&words[..], |word| word.len());
/// assert_eq!(lengths, [5, 6, 3]);
/// ```
#[doc(alias = "par_iter")]
#[doc(alias = "into_par_iter")]
#[track_caller]
pub fn map<S: Split, R: Send>(items: S, f: impl Fn(S::Item) -> R + Sync) -> Vec<R> {
    let items = items.parts();
    let cuts = Cuts::of(&items);
    scope(|scope| mapped(scope, items, &cuts, &f))
}

/// Maps every item of `items` by `f` until one fails; returns the results in the order of
/// the items, or the error.
///
/// If several errors were found, it is the first by position. Results made by then are
/// dropped, and no worker begins a further piece of items, as in
/// [`try_for_each`](super::try_for_each).
///
/// # Errors
/// The error of `f`; or the [`Interrupt`] of the calling code, as an `E`.
///
/// # Panics
/// Like [`map`], as is complexity: memory for all results is allocated first.
///
/// # Cancellation
/// An interruption point, like [`try_for_each`](super::try_for_each).
///
/// # Blocking
/// Like [`for_each`](super::for_each).
///
/// # Examples
/// ```
/// use pirn::{Interrupt, par};
///
/// #[derive(Debug, PartialEq)]
/// enum Bad {
///     Number(i32),
///     Interrupted(Interrupt),
/// }
///
/// impl From<Interrupt> for Bad {
///     fn from(interrupt: Interrupt) -> Bad {
///         Bad::Interrupted(interrupt)
///     }
/// }
///
/// let root = |n: &i32| match n {
///     0.. => Ok((*n as f64).sqrt()),
///     _ => Err(Bad::Number(*n)),
/// };
/// assert_eq!(par::try_map(&[4, 9][..], root), Ok(vec![2.0, 3.0]));
/// assert_eq!(par::try_map(&[4, -9][..], root), Err(Bad::Number(-9)));
/// ```
#[track_caller]
pub fn try_map<S: Split, R: Send, E: From<Interrupt> + Send>(
    items: S,
    f: impl Fn(S::Item) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let items = items.parts();
    let cuts = Cuts::of(&items);
    let until = Until::of(&cuts);
    into_result(until.scope(|scope| {
        filled(items, |items, slots| {
            spread(
                scope,
                (items, slots),
                &cuts,
                &|(piece, slots)| until.attempt(|| slots.try_fill(piece.items().map(&f))),
                &|left, right| in_order(left, right, Filled::followed_by),
            )
        })
    }))
}

/// [`map`] of a run with known cuts.
pub(super) fn mapped<S: Split, R: Send>(
    scope: &mut Scope<'_>,
    items: S,
    cuts: &Cuts,
    f: &(impl Fn(S::Item) -> R + Sync),
) -> Vec<R> {
    let Ok(results) = filled(items, |items, slots| {
        Ok::<_, Infallible>(spread(
            scope,
            (items, slots),
            cuts,
            &|(piece, slots)| slots.fill(piece.items().map(f)),
            &Filled::followed_by,
        ))
    });
    results
}

/// [`map`] of the rest of a block when a heartbeat is due.
pub(super) fn map_rest<S: Split, R: Send>(
    scope: &mut Scope<'_>,
    rest: S,
    cuts: &Cuts,
    pace: usize,
    f: &(impl Fn(S::Item) -> R + Sync),
) -> Vec<R> {
    let Ok(results) = filled(rest, |rest, slots| {
        Ok::<_, Infallible>(spread_rest(
            scope,
            (rest, slots),
            cuts,
            pace,
            &|(piece, slots)| slots.fill(piece.items().map(f)),
            &Filled::followed_by,
        ))
    });
    results
}
