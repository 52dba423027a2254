//! What a poller tells.

/// What has become possible, as far as is known.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    /// What the source was added with.
    pub(crate) token: u64,
    pub(crate) readable: bool,
    pub(crate) writable: bool,
    /// Nothing more will come: reading never has to wait again.
    pub(crate) read_closed: bool,
    /// Some of what is there to read is urgent: a read stops before it.
    pub(crate) urgent: bool,
    /// Nothing more will be taken: writing never has to wait again.
    pub(crate) write_closed: bool,
}
