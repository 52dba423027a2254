//! What a panic leaves behind: its payload, and whom to tell if nobody takes it.
//!
//! It lies in the header's payload, as a result would (H5). Whoever joins the fiber takes the
//! panic; a scope takes the first of its children's. In every other case it is dropped, by
//! whoever owns the outcome then, who tells the witness first: the fiber itself if it was
//! detached by its end, else whoever drops the last right to join it.

use std::any::Any;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use super::header::Header;
use super::id::FiberId;
use crate::base::dropping::end_caught;

/// A panic's payload.
pub(crate) type Panic = Box<dyn Any + Send>;

/// Whom a runtime has told of panics that nobody takes.
pub(crate) type Witness = Arc<dyn Fn(&PanicInfo<'_>) + Send + Sync>;

/// A panic as it lies in a header.
pub(super) struct Unwound {
    panic: Panic,
    witness: Option<Witness>,
}

/// A panic that nobody has taken, for
/// [`Builder::on_panic`](crate::runtime::Builder::on_panic).
pub struct PanicInfo<'a> {
    header: &'a Header,
    payload: &'a (dyn Any + Send),
}

impl Unwound {
    /// The `panic` of the fiber with this header, which runs.
    pub(super) fn new(header: &Header, panic: Panic) -> Unwound {
        // One that no runtime has taken has no home.
        let witness = match header.is_fresh() {
            true => None,
            false => header.home().witness(),
        };
        Unwound { panic, witness }
    }

    pub(super) fn into_panic(self) -> Panic {
        self.panic
    }

    /// Nobody takes it: tells the witness. UNWIND: a panic there goes no further.
    pub(super) fn tell(self, header: &Header) {
        if let Some(witness) = &self.witness {
            let payload = &*self.panic;
            end_caught(|| witness(&PanicInfo { header, payload }));
        }
    }
}

impl PanicInfo<'_> {
    /// Which fiber has panicked.
    #[must_use]
    pub fn fiber(&self) -> FiberId {
        FiberId::from_number(self.header.id()).expect("generations start at one")
    }

    /// Its name, if it has one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.header.name()
    }

    /// Where it was spawned.
    #[must_use]
    pub fn spawned_at(&self) -> &'static Location<'static> {
        self.header.location()
    }

    /// What the panic was raised with.
    #[must_use]
    pub fn payload(&self) -> &(dyn Any + Send) {
        self.payload
    }

    /// The panic's message, if it was raised with one.
    #[must_use]
    pub fn message(&self) -> Option<&str> {
        text_of(self.payload)
    }
}

/// The message of a panic that was raised with one.
pub(super) fn text_of(payload: &(dyn Any + Send)) -> Option<&str> {
    match payload.downcast_ref::<&'static str>() {
        Some(text) => Some(text),
        None => payload.downcast_ref::<String>().map(String::as_str),
    }
}

impl fmt::Debug for PanicInfo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PanicInfo")
            .field("fiber", &self.fiber())
            .field("name", &self.name())
            .field("message", &self.message())
            .finish_non_exhaustive()
    }
}
