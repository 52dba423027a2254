//! Parts that bodies of kernels share.

use std::cell::Cell;
use std::time::Duration;

use pirn::channel;

use crate::go::Chan;
use crate::kernel;

/// Checks a kernel that is fixed if its argument is true: see [`kernel`].
///
/// # Panics
/// If a bug is not found, or the fixed version fails.
pub(crate) fn pair(body: impl Fn(bool) + Copy + Send + Sync + 'static) {
    kernel(move || body(false), move || body(true));
}

/// Returns true or false at random, by the seed of the run.
pub(crate) fn coin() -> bool {
    let (ready, both) = channel::bounded(1);
    assert!(ready.send(()).is_ok(), "there is room");
    pirn::select! {
        recv(both) -> _ => true,
        recv(both) -> _ => false,
    }
}

/// Returns true if the channel, to which nothing is sent, is closed.
pub(crate) fn is_closed(chan: &Chan<()>) -> bool {
    pirn_sim::point();
    chan.rx.is_closed()
}

/// The turns of a loop that polls.
///
/// A few of them come at any time. Before each later one, all other fibers go on until they wait:
/// a schedule that prefers the fiber that runs, or two that poll each other, has no end otherwise.
pub(crate) struct Turns(Cell<u32>);

impl Turns {
    const AT_ANY_TIME: u32 = 8;

    pub(crate) fn new() -> Turns {
        Turns(Cell::new(0))
    }

    /// Ends a turn.
    pub(crate) fn end(&self) {
        self.0.set(self.0.get() + 1);
        if self.0.get() < Turns::AT_ANY_TIME {
            pirn::yield_now();
        } else {
            assert_eq!(pirn::sleep(Duration::from_nanos(1)), Ok(()));
        }
    }
}
