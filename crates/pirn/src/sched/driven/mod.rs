//! Pools without threads, which the caller drives.

#[expect(unsafe_code, reason = "tells the thread whose jobs its joins note")]
pub(crate) mod by_hand;
pub(super) mod thread_end;
