//! A task that registers its waker with a site.

use std::ptr;
use std::sync::LazyLock;
use std::task::{RawWaker, RawWakerVTable, Waker};

use super::events::READABLE;
use crate::readiness::Interest;
use crate::readiness::site::Site;

/// An event that comes while the task's waker is being cloned cannot call it: the task tries again.
#[test]
fn an_event_amid_the_cloning_of_a_waker_is_seen() {
    static SITE: LazyLock<Site> = LazyLock::new(Site::new);
    static TABLE: RawWakerVTable =
        RawWakerVTable::new(clone_amid_an_event, ignore, ignore, ignore);
    fn clone_amid_an_event(_: *const ()) -> RawWaker {
        SITE.notify(0, READABLE);
        RawWaker::new(ptr::null(), &TABLE)
    }
    fn ignore(_: *const ()) {}

    SITE.clear(SITE.look(), Interest::Readable);
    // SAFETY: the functions of the table do nothing with its data.
    let waker = unsafe { Waker::new(ptr::null(), &TABLE) };
    let may_come = |site: &Site| !site.look().is_ready(Interest::Readable);
    assert!(!SITE.call(Interest::Readable, &waker, may_come));
    assert!(!SITE.is_awaited(), "it tries again");
}
