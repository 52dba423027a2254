//! Utilities for tests of reports: fibers with names, and their lines in reports.

use pirn::diag::{FiberInfo, State};
use pirn::spawn::FiberId;
use pirn::{JoinHandle, Runtime, spawn};

use crate::util::eventually;

/// Spawns a fiber of that name on the caller's runtime.
#[track_caller]
pub(crate) fn named<T: Send + 'static>(
    name: &str,
    f: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    let builder = spawn::Builder::new().name(name.to_owned());
    builder.spawn(f).expect("a fiber")
}

/// Returns the report on the fiber called `name`, once it waits.
pub(crate) fn waiting(runtime: &Runtime, name: &str) -> FiberInfo {
    let mut found = None;
    eventually("it waits", || {
        let parked = |fiber: &FiberInfo| {
            fiber.name.as_deref() == Some(name) && fiber.state == State::Parked
        };
        found = runtime.fibers().into_iter().find(parked);
        found.is_some()
    });
    found.expect("found")
}

/// Returns the identity of the calling thread, which has one from now on.
pub(crate) fn own_id() -> FiberId {
    spawn::current().id()
}
