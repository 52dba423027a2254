//! What the backends of the switch have in common: how a fiber starts, and where a suspended
//! context stands.

/// What a prepared context calls first. It must never return or unwind; it ends in `exit`.
pub(crate) type Entry = unsafe extern "C" fn(arg: *mut ()) -> !;

/// Where a suspended context stands, for an unwinder.
#[allow(dead_code, reason = "corosensei does not say where a context stands")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Address at which it goes on.
    pub(crate) ip: usize,
    /// Stack pointer there.
    pub(crate) sp: usize,
    /// Frame pointer there; 0 ends the chain.
    pub(crate) fp: usize,
}
