//! [`scope`]: fibers that may borrow from the stack frame that spawns them.
//!
//! Invariants:
//! * SC1. `scope` does not return or unwind before every child has been counted off at its end. So
//!   the data that children borrow from `'env`, and the scope itself, outlive them.

// Owns: the lifetimes, and when a scope may end. Does not own: the count of its children
// (`children`), or spawning in it (`scoped`).

use std::any::Any;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::Arc;

use super::children::Children;
use super::scoped::Scope;
use crate::base::choice::Operation;
use crate::base::drop_guard::drop_caught;
use crate::fiber::FiberPtr;
use crate::fiber::cancel_scope::CancelScope;
use crate::fiber::current;
use crate::runtime::Handle;
use crate::sched::pool::shared::Pool;
use crate::sched::worker::enqueue;
use crate::wait::polling::{self, refuse_in_poll};
use crate::wait::{Reason, Spec, consume_budget, deadline};

/// Runs `f` with a scope in which it may spawn fibers that borrow local variables, waits for all of
/// them, and returns the result of `f`.
///
/// It is [`std::thread::scope`] with fibers. The scope ends when all of its fibers have ended, in
/// every case: also when `f` panics or the caller is interrupted.
///
/// `f` and the fibers run under a token of the scope, a child of the caller's: cancelling the
/// caller cancels them. A panic of `f`, or of a fiber that can no longer be joined, cancels that
/// token, so that the others end early. The token no longer applies to the caller after the scope.
///
/// `f` runs in the caller, on its thread. The order in which the fibers start is not guaranteed.
/// Usually a worker starts the newest of those that it has spawned, and then the oldest ones first;
/// if more than 256 wait, newer ones may come earlier. To give fibers their turns in the order of
/// their spawns, use [`Scope::spawn_on`] with a
/// [limited](crate::dispatcher::Dispatcher::limited) dispatcher.
///
/// # Panics
/// * With the payload of the first child that panicked and was not joined; else with the panic of
///   `f`.
/// * If there is no runtime and the default one cannot be created.
/// * In that runtime's [`on_thread_start`](crate::runtime::Builder::on_thread_start) hook.
/// * Inside the [poll](crate::future#inside-a-poll) of a future on a fiber.
///
/// # Cancellation
/// Waiting for the children is not an interruption point: it ends with the last of them. Parks a
/// fiber, blocks a plain thread.
///
/// # Examples
/// ```
/// let mut parts = [1, 2, 3, 4];
/// pirn::scope(|s| {
///     for part in &mut parts {
///         s.spawn(move || *part *= 10);
///     }
/// });
/// assert_eq!(parts, [10, 20, 30, 40]);
/// ```
#[doc(alias = "WaitGroup")]
#[doc(alias = "in_place_scope")]
#[doc(alias = "scope_fifo")]
#[track_caller]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let scope = prepare(Arc::clone(Handle::current().pool()), true);
    conduct(&scope, || f(&scope))
}

/// Runs `f` with a scope, as [`scope`] does, for fibers that do not depend on each other, such as
/// those of a server. A panic of one stays in its handle, cancels nothing and is not raised again.
/// If the handle was dropped, the panic is dropped too.
///
/// # Panics
/// With the panic of `f`; else as [`scope`], except that it raises no panic of a child.
///
/// # Cancellation
/// As [`scope`].
///
/// # Examples
/// ```
/// pirn::scope::supervise(|s| {
///     let fails = s.spawn(|| -> u32 { panic!("on purpose") });
///     let works = s.spawn(|| 7);
///     assert!(fails.join().is_err());
///     assert_eq!(works.join().unwrap(), 7);
/// });
/// ```
#[doc(alias = "supervisorScope")]
#[track_caller]
pub fn supervise<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let scope = prepare(Arc::clone(Handle::current().pool()), false);
    conduct(&scope, || f(&scope))
}

/// Returns a scope in `pool` for the caller. If `raises` is set, the scope raises panics that are
/// not joined.
#[track_caller]
pub(super) fn prepare<'scope, 'env>(
    pool: Arc<Pool>,
    raises: bool,
) -> Scope<'scope, 'env> {
    pool.refuse_in_start_hook();
    // SC1: a scope must not begin where it could not wait for its children.
    refuse_in_poll();
    let local = current::local();
    let fiber = current::identity(local);
    let root = enqueue::pool_of(local).map(|pool| pool.root());
    let region = CancelScope::tokened(fiber, root);
    // Read again: a callback of a token that `tokened` has created may have waited.
    let timed = pool.shares_clock(current::local());
    Scope::new(pool, Children::new(region, raises, timed))
}

/// Runs a scope's body and returns when the scope is over (SC1).
#[track_caller]
pub(super) fn conduct<T>(scope: &Scope<'_, '_>, body: impl FnOnce() -> T) -> T {
    let fiber = current::identity(current::local());
    let end = Spec::of(Reason::Scope).at(Location::caller());
    let mut result = deadline::within(fiber, &scope.children.region, || {
        // UNWIND: the body's panic is kept until its children have ended (SC1).
        let result = catch_unwind(AssertUnwindSafe(body));
        end_body(scope, result.is_err(), &end);
        result
    });
    call_leaving(scope, fiber, &end, &mut |panic| match &result {
        // UNWIND: the first panic is raised after all calls. A child may wait for the value's end.
        Ok(_) => drop_caught(std::mem::replace(&mut result, Err(panic))),
        Err(_) => drop_caught(panic),
    });
    match (scope.take_panic(), result) {
        (None, Ok(value)) => value,
        (None, Err(panic)) => resume_unwind(panic),
        (Some(panic), rest) => {
            // UNWIND: a drop of the body's result must not unwind into the child's panic.
            drop_caught(rest);
            resume_unwind(panic)
        }
    }
}

/// Waits for the children, while the region is entered.
fn end_body(scope: &Scope<'_, '_>, has_panicked: bool, end: &Spec) {
    let children = &scope.children;
    if has_panicked {
        children.cancel();
    }
    match children.alive() {
        0 => consume_budget(Operation::Join, 0),
        _ => wait_for_all(children, end),
    }
    if !scope.leaving.is_empty() {
        // Created now, while the region is entered: then it is also removed from the owner's
        // header when the region is left (RG4).
        children.region.token();
    }
}

/// Makes the calls that were registered with `on_exit`, the last one first. Children that they
/// spawn are waited for, and may add calls. Each panic is given to `on_panic`.
fn call_leaving(
    scope: &Scope<'_, '_>,
    fiber: FiberPtr,
    end: &Spec,
    on_panic: &mut dyn FnMut(Box<dyn Any + Send>),
) {
    let children = &scope.children;
    loop {
        let calls = scope.leaving.take();
        if calls.is_empty() {
            return;
        }
        for call in calls.into_iter().rev() {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(call)) {
                on_panic(panic);
            }
        }
        deadline::within(fiber, &children.region, || {
            // It was hidden when the region was left.
            children.region.show_owner();
            wait_for_all(children, end);
        });
    }
}

fn wait_for_all(children: &Children, end: &Spec) {
    let wait = || {
        // SC1 rests on the count, not on the wake.
        while children.alive() > 0 {
            let _ = children.wait(end);
        }
    };
    // A scope may begin in a poll while another fiber of the thread unwinds (`polling`), which may
    // have ended since. The wait must not unwind.
    match current::local().is_polling() {
        false => wait(),
        true => polling::apart(wait),
    }
}

impl Handle {
    /// Runs a scope with fibers on this runtime, as [`scope`](crate::scope()) does. `f` itself runs
    /// in the caller.
    ///
    /// # Panics
    /// * With the payload of the first child that panicked and was not joined; else with the panic
    ///   of `f`.
    /// * In this runtime's [`on_thread_start`](crate::runtime::Builder::on_thread_start) hook.
    /// * Inside the [poll](crate::future#inside-a-poll) of a future on a fiber.
    ///
    /// # Cancellation
    /// As [`scope`](crate::scope()).
    ///
    /// # Examples
    /// ```
    /// let runtime = pirn::Runtime::builder().workers(1).build().unwrap();
    /// let mut parts = [1, 2, 3];
    /// runtime.handle().scope(|s| {
    ///     for part in &mut parts {
    ///         s.spawn(move || *part *= 10);
    ///     }
    /// });
    /// assert_eq!(parts, [10, 20, 30]);
    /// ```
    #[doc(alias = "in_place_scope")]
    #[track_caller]
    pub fn scope<'env, F, T>(&self, f: F) -> T
    where
        F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
    {
        let scope = prepare(Arc::clone(self.pool()), true);
        conduct(&scope, || f(&scope))
    }
}
