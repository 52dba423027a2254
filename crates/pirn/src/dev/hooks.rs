//! Functions for the crate `pirn-hooks`, by which calls of libc park the fiber that makes them.

pub use crate::net::Interest;
pub use crate::readiness::{Known, Number, NumberWait};

use std::panic::Location;
use std::time::Duration;

use crate::base::name::Name;
use crate::fiber::current;
use crate::runtime::set_hooks_linked;
use crate::sched::worker::enqueue::{self, parks_in_libc};
use crate::sys::{self, Process};

/// Returns whether a call of libc parks its caller: a fiber, on its own stack, not in the middle of
/// a poll, in code for which [`set_parking`] has decided so, or else on a runtime that was built
/// so.
#[inline]
#[must_use]
pub fn is_parking() -> bool {
    let local = current::local();
    let Some(fiber) = local.fiber() else {
        return false;
    };
    let header = fiber.header();
    let parks = header.flags.parks_in_libc();
    parks.unwrap_or_else(|| parks_in_libc(local))
        && !local.is_polling()
        && is_on_own_stack(header)
}

/// A signal handler may have a stack of its own.
fn is_on_own_stack(header: &crate::fiber::Header) -> bool {
    let here = 0_u8;
    // SAFETY: H2: the caller is the fiber itself, or a signal handler in place of it.
    let stack = unsafe { &*header.stack() };
    stack
        .as_ref()
        .is_some_and(|stack| stack.range().contains(&(&raw const here).addr()))
}

/// Sets whether calls of libc park the running fiber, or with `None` that its runtime decides.
/// Returns what was set before. Without effect on a plain thread, which returns `None`.
///
/// # Panics
/// If they are to park, and the runtime's fibers may migrate.
pub fn set_parking(parks: Option<bool>) -> Option<bool> {
    let local = current::local();
    assert!(
        !local.is_free() || parks != Some(true),
        "`pirn_hooks::within` on a runtime with fibers that migrate: code between two calls of libc \
         may rely on its thread; build the runtime without `free_migration`"
    );
    let flags = &local.fiber()?.header().flags;
    let before = flags.parks_in_libc();
    flags.set_parks_in_libc(parks);
    before
}

/// Records that the crate is linked. Called before `main`.
pub fn set_linked() {
    set_hooks_linked();
}

/// Returns false in a child of libc's `fork`, where no other fiber and no thread of the runtime
/// exists.
#[inline]
#[must_use]
pub fn is_own_process() -> bool {
    enqueue::process_of(current::local()).is_some_and(Process::is_this)
}

/// As [`is_own_process`], also in children by other means, such as `vfork`. A system call.
#[must_use]
pub fn is_surely_own_process() -> bool {
    enqueue::process_of(current::local()).is_some_and(Process::is_surely_this)
}

/// Counts an operation of the running fiber. Returns true if it has to yield now, since it has
/// completed many without waiting. If it cannot, [`delay_yield`] is due.
#[inline]
#[must_use]
pub fn is_spent() -> bool {
    let local = current::local();
    local.consume_budget() && local.must_yield()
}

/// Returns the spawn line of the running fiber; `None` where stalls are not reported.
#[must_use]
pub fn reported_line() -> Option<&'static Location<'static>> {
    let local = current::local();
    let fiber = local.fiber().filter(|_| enqueue::reports_stalls(local))?;
    Some(fiber.header().location())
}

/// Reports that the running fiber has blocked its worker by `call` for `took`, although calls of
/// libc park there.
pub fn report_block(call: &str, took: Duration) {
    let local = current::local();
    let (Some(pool), Some(fiber)) = (enqueue::pool_of(local), local.fiber()) else {
        return;
    };
    let header = fiber.header();
    let name = header
        .name()
        .map_or(String::new(), |name| format!(" '{:.128}'", Name(name)));
    sys::report(&format!(
        "pirn: fiber {}{name} (spawned at {}) has blocked a worker of '{}' for {} ms, by {call}, in \
         code where calls of libc park\n  call it in pirn::blocking, or use the files and sockets of \
         pirn; reported once for each function and spawn line\n",
        header.id(),
        header.location(),
        pool.name(),
        took.as_millis(),
    ));
}

/// Makes the next operation of the running fiber the one at which it has to yield.
pub fn delay_yield() {
    current::local().spend_with_next();
}
