//! Calling a function on every item.
//!
//! Owns: [`for_each`] and [`try_for_each`].

use super::divide::{Cuts, spread};
use super::try_state::{Until, in_order, into_result};
use super::{Scope, Split, scope};
use crate::Interrupt;

/// Calls `f` with every item of `items`, on as many workers as are free.
///
/// # Complexity
/// The cost of a loop and little more: a join for each 4,096 items, or for each 32nd part
/// of fewer; more only where items take long. See [the module](super) for how the
/// division adapts.
///
/// # Panics
/// With the panic of an `f`, when all other work has ended. Which items have been
/// processed by then is unspecified. Or at once, if there are more items than a `usize`
/// counts, as in `0..=u64::MAX`; this holds for all functions here.
///
/// # Cancellation
/// Not an interruption point, but `f` may contain some. See [`try_for_each`].
///
/// # Blocking
/// Returns when all items are done. For a plain thread, fibers of the runtime that
/// [`run`](crate::run()) would use do the work, and the thread waits.
///
/// # Examples
/// ```
/// use pirn::par;
///
/// let mut positions = vec![0.0; 1_000];
/// let speeds = vec![1.5; 1_000];
/// par::for_each((&mut positions[..], &speeds[..]), |(x, v)| *x += 0.5 * v);
/// assert_eq!(positions[999], 0.75);
/// ```
#[doc(alias = "par_iter")]
#[doc(alias = "par_iter_mut")]
#[doc(alias = "into_par_iter")]
#[track_caller]
pub fn for_each<S: Split>(items: S, f: impl Fn(S::Item) + Sync) {
    let items = items.parts();
    let cuts = Cuts::of(&items);
    scope(|scope| each_of(scope, items, &cuts, &f));
}

/// Calls `f` with the items of `items` until one fails, and returns the error.
///
/// If several errors were found, it is the first by position. No worker begins a further
/// piece of items then. A piece has at most 4,096 items, or fewer than two
/// [grains](Split::grain) if that is more.
///
/// # Errors
/// The error of `f`; or the [`Interrupt`] of the calling code, as an `E`. `E` is an
/// [`io::Error`](std::io::Error) (from another error by `.map_err(io::Error::other)`), an
/// `Interrupt` itself, or an enum with a `From<Interrupt>`.
///
/// # Panics
/// Like [`for_each`].
///
/// # Cancellation
/// An interruption point: interrupts are checked before each piece of items. Pieces that
/// have begun end first. So [`JoinHandle::cancel`](crate::JoinHandle::cancel) of the
/// calling fiber ends it, and so does a [`timeout`](crate::timeout) around it; except in
/// virtual time ([`runtime::test`](crate::runtime::test)), where no deadline passes
/// during a computation. Without an interrupt all items are processed.
///
/// # Blocking
/// Like [`for_each`].
///
/// # Examples
/// ```
/// use pirn::par;
///
/// let texts = ["1", "2", "x", "4"];
/// let result = par::try_for_each(&texts[..], |text| match text.parse::<u32>() {
///     Ok(_) => Ok(()),
///     Err(_) => Err(std::io::Error::other(*text)),
/// });
/// assert_eq!(result.unwrap_err().to_string(), "x");
/// ```
#[track_caller]
pub fn try_for_each<S: Split, E: From<Interrupt> + Send>(
    items: S,
    f: impl Fn(S::Item) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let items = items.parts();
    let cuts = Cuts::of(&items);
    let until = Until::of(&cuts);
    into_result(until.scope(|scope| {
        let both = |left, right| in_order(left, right, |(), ()| ());
        spread(
            scope,
            items,
            &cuts,
            &|piece| until.attempt(|| piece.items().try_for_each(&f)),
            &both,
        )
    }))
}

/// [`for_each`] of a run with known cuts.
pub(super) fn each_of<S: Split>(
    scope: &mut Scope<'_>,
    items: S,
    cuts: &Cuts,
    f: &(impl Fn(S::Item) + Sync),
) {
    spread(scope, items, cuts, &|piece| piece.each(f), &|(), ()| ());
}
