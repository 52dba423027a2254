//! The events of a poller.

/// The readiness of a source, as far as it is known.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    /// The token with which the source was added.
    pub(crate) token: u64,
    pub(crate) readable: bool,
    pub(crate) writable: bool,
    /// No more data will come: reading never has to wait again.
    pub(crate) read_closed: bool,
    /// Some of the data is urgent: a read stops before it.
    pub(crate) urgent: bool,
    /// No more data will be accepted: writing never has to wait again.
    pub(crate) write_closed: bool,
}
