//! A runtime with one worker.

use std::io::Read;

use pirn::JoinHandle;
use pirn::runtime::{Builder, Runtime};
use pirn_hooks::within;

/// Calls `f` within, on a fiber of a runtime with one worker.
pub(crate) fn on_one_worker<T: Send + 'static>(
    f: impl FnOnce() -> T + Send + 'static,
) -> T {
    one_worker().run(|| within(f))
}

pub(crate) fn one_worker() -> Runtime {
    Builder::new().workers(1).build().unwrap()
}

/// Reads everything on a fiber of its own.
pub(crate) fn read_all(mut from: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    pirn::spawn(move || {
        within(|| {
            let mut came = Vec::new();
            from.read_to_end(&mut came).unwrap();
            came
        })
    })
}

/// Returns how often the function has parked a fiber.
pub(crate) fn parks(name: &str) -> u64 {
    pirn_hooks::stats().of(name).unwrap().parked
}

/// Returns how often the function may have blocked a thread.
pub(crate) fn blocks(name: &str) -> u64 {
    pirn_hooks::stats().of(name).unwrap().blocked
}
