//! Cancellation and deadlines: the regions of a fiber's code, and the tokens in force there.

mod create;
pub(crate) mod deadline;
#[expect(
    unsafe_code,
    reason = "points to regions in the frames that they hold for"
)]
pub(crate) mod scope;
#[expect(unsafe_code, reason = "registered fibers are pointers to headers")]
pub(crate) mod token;
mod token_cancel;
#[expect(
    unsafe_code,
    reason = "a fiber and its header, a registration and its token"
)]
pub(crate) mod token_registration;
