//! The common part of the backends of the switch: how a fiber starts, and the frame of a suspended
//! context.

/// The function that a prepared context calls first. It must never return or unwind; it ends in
/// `exit`.
pub(crate) type Entry = unsafe extern "C" fn(arg: *mut ()) -> !;

/// The position of a suspended context, for an unwinder.
#[allow(dead_code, reason = "corosensei does not say where a context stands")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Address at which it resumes.
    pub(crate) ip: usize,
    /// Stack pointer there.
    pub(crate) sp: usize,
    /// Frame pointer there; 0 ends the chain.
    pub(crate) fp: usize,
}
