//! Something done with every item.
//!
//! Owns: [`for_each`] and [`try_for_each`].

use super::spread::{Cuts, spread};
use super::until::{Until, in_order, told};
use super::{Scope, Split, scope};
use crate::Interrupt;

/// Calls `f` with every item of `items`, on as many workers as are free.
///
/// ```
/// use pirn::par;
///
/// let mut positions = vec![0.0; 1_000];
/// let speeds = vec![1.5; 1_000];
/// par::for_each((&mut positions[..], &speeds[..]), |(x, v)| *x += 0.5 * v);
/// assert_eq!(positions[999], 0.75);
/// ```
///
/// # Complexity
/// The work of a loop and little more: a join for each 4,096 items, or for each 32nd part
/// of fewer; more only where items take long. See [the module](super) for what adapts
/// itself.
///
/// # Panics
/// With the panic of an `f`, when all other work has ended. Which items have been seen
/// then is open. Or at once, if there are more items than a `usize` counts, as in
/// `0..=u64::MAX`; so do all functions here.
///
/// # Cancellation
/// Not an interruption point, but `f` may have some. See [`try_for_each`].
///
/// # Blocking
/// Returns when all is done. On a plain thread, the work is done by the fibers of the
/// runtime that [`run`](crate::run()) would use, and the thread waits.
#[track_caller]
pub fn for_each<S: Split>(items: S, f: impl Fn(S::Item) + Sync) {
    let items = items.parts();
    let cuts = Cuts::of(&items);
    scope(|scope| each_of(scope, items, &cuts, &f));
}

/// Calls `f` with the items of `items` until one fails, and returns the error: of those
/// that were found, the first by position. Nobody begins a further piece of items then; a
/// piece is at most 4,096 items, or where these are fewer than two
/// [grains](Split::grain), less than that.
///
/// ```
/// use pirn::{Interrupt, par};
///
/// let texts = ["1", "2", "x", "4"];
/// let result = par::try_for_each(&texts[..], |text| match text.parse::<u32>() {
///     Ok(_) => Ok(()),
///     Err(_) => Err(std::io::Error::other(*text)),
/// });
/// assert_eq!(result.unwrap_err().to_string(), "x");
/// ```
///
/// # Errors
/// What `f` returned; or the [`Interrupt`] that the calling code is under, as an `E`: an
/// [`io::Error`](std::io::Error) (of another error, by `.map_err(io::Error::other)`), an
/// `Interrupt` itself, or an enum with a `From<Interrupt>`.
///
/// # Panics
/// Like [`for_each`].
///
/// # Cancellation
/// An interruption point: interrupts are looked for before each piece of items; without
/// one, all items are done. What has been begun ends first. So
/// [`JoinHandle::cancel`](crate::JoinHandle::cancel) of the calling fiber ends it, and a
/// [`timeout`](crate::timeout) around it; except in virtual time
/// ([`runtime::test`](crate::runtime::test)), where no deadline passes while it computes.
///
/// # Blocking
/// Like [`for_each`].
#[track_caller]
pub fn try_for_each<S: Split, E: From<Interrupt> + Send>(
    items: S,
    f: impl Fn(S::Item) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let items = items.parts();
    let cuts = Cuts::of(&items);
    let until = Until::of(&cuts);
    told(until.scope(|scope| {
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

/// [`for_each`] of a run whose cuts are known.
pub(super) fn each_of<S: Split>(
    scope: &mut Scope<'_>,
    items: S,
    cuts: &Cuts,
    f: &(impl Fn(S::Item) + Sync),
) {
    spread(scope, items, cuts, &|piece| piece.each(f), &|(), ()| ());
}
