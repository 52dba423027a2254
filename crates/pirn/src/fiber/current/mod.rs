//! The thread that the caller runs on: its record, its fiber, and the caller's identity.

mod budget;
#[expect(unsafe_code, reason = "the thread-local, read anew at each call")]
mod here;
mod identity;
#[expect(unsafe_code, reason = "the list of jobs of a worker")]
mod record;

pub(super) use here::unwound;
pub(crate) use here::{as_thread, is_unwinding, local};
pub(crate) use identity::{
    BlockInPlace, IN_START_HOOK, identity, known, now, number, refuse_in_start_hook,
};
pub(crate) use record::{AfterSwitch, Local, Polling};
