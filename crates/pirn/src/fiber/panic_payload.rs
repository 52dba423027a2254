//! The result of a panic: its payload, and the function that is notified if the panic is not taken.
//!
//! It is in the header's payload, as a result would be (H5). The joiner of the fiber takes the
//! panic; a scope takes the first of its children's. In every other case it is dropped by the owner
//! of the outcome, which notifies the witness first. That is the fiber itself if it was detached at
//! its end, else the owner of the last right to join it.

use std::any::Any;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use super::id::FiberId;
use crate::base::drop_guard::end_caught;

/// A panic's payload.
pub(crate) type Panic = Box<dyn Any + Send>;

/// The function that a runtime calls for panics that are not taken.
pub(crate) type Witness = Arc<dyn Fn(&PanicInfo<'_>) + Send + Sync>;

/// A panic as it is stored in a header.
pub(super) struct Unwound {
    panic: Panic,
    witness: Option<Witness>,
}

/// A panic that no joiner or scope has taken, for
/// [`Builder::on_panic`](crate::runtime::Builder::on_panic).
///
/// # Examples
/// ```
/// use pirn::runtime::PanicInfo;
///
/// fn line(panic: &PanicInfo<'_>) -> String {
///     format!("{}: {}", panic.spawned_at(), panic.message().unwrap_or("no message"))
/// }
///
/// let (tx, rx) = pirn::channel::bounded(1);
/// let builder = pirn::Runtime::builder().on_panic(move |panic| _ = tx.send(line(panic)));
/// let runtime = builder.build()?;
/// drop(runtime.spawn(|| panic!("unseen")));
/// assert!(rx.recv().unwrap().ends_with(": unseen"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct PanicInfo<'a> {
    fiber: FiberId,
    name: Option<&'a str>,
    spawned_at: &'static Location<'static>,
    payload: &'a (dyn Any + Send),
}

impl Unwound {
    /// Creates the record of `panic`, with the function that is notified if it is not taken.
    pub(super) fn new(panic: Panic, witness: Option<Witness>) -> Unwound {
        Unwound { panic, witness }
    }

    pub(super) fn into_panic(self) -> Panic {
        self.panic
    }

    /// Notifies the witness that the panic of the fiber with this identity is not taken. UNWIND:
    /// catches a panic of the witness.
    pub(super) fn report(
        self,
        fiber: u64,
        name: Option<&str>,
        spawned_at: &'static Location<'static>,
    ) {
        if let Some(witness) = &self.witness {
            let info = PanicInfo {
                fiber: FiberId::of_number(fiber),
                name,
                spawned_at,
                payload: &*self.panic,
            };
            end_caught(|| witness(&info));
        }
    }
}

impl PanicInfo<'_> {
    /// Returns the identity of the fiber that has panicked.
    ///
    /// # Examples
    /// ```
    /// let (tx, rx) = pirn::channel::bounded(1);
    /// let builder = pirn::Runtime::builder().on_panic(move |panic| _ = tx.send(panic.fiber()));
    /// let runtime = builder.build()?;
    /// let fiber = runtime.spawn(|| panic!("unseen"));
    /// let id = fiber.fiber().id();
    /// drop(fiber);
    /// assert_eq!(rx.recv(), Ok(id));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn fiber(&self) -> FiberId {
        self.fiber
    }

    /// Returns the fiber's name, if it has one.
    ///
    /// # Examples
    /// ```
    /// use pirn::spawn::Builder;
    ///
    /// let (tx, rx) = pirn::channel::bounded(1);
    /// let runtime = pirn::Runtime::builder()
    ///     .on_panic(move |panic| _ = tx.send(panic.name().map(str::to_owned)))
    ///     .build()?;
    /// let clerk = Builder::new().name("clerk");
    /// runtime.enter(|| drop(clerk.spawn(|| panic!("unseen"))));
    /// assert_eq!(rx.recv(), Ok(Some("clerk".to_owned())));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name
    }

    /// Returns the line of code that spawned the fiber.
    ///
    /// # Examples
    /// ```
    /// let (tx, rx) = pirn::channel::bounded(1);
    /// let runtime = pirn::Runtime::builder()
    ///     .on_panic(move |panic| _ = tx.send(panic.spawned_at().file()))
    ///     .build()?;
    /// drop(runtime.spawn(|| panic!("unseen")));
    /// assert_eq!(rx.recv(), Ok(file!()));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn spawned_at(&self) -> &'static Location<'static> {
        self.spawned_at
    }

    /// Returns the value with which the panic was raised.
    ///
    /// # Examples
    /// ```
    /// let (tx, rx) = pirn::channel::bounded(1);
    /// let runtime = pirn::Runtime::builder()
    ///     .on_panic(move |panic| _ = tx.send(panic.payload().downcast_ref::<u32>().copied()))
    ///     .build()?;
    /// drop(runtime.spawn(|| std::panic::panic_any(7_u32)));
    /// assert_eq!(rx.recv(), Ok(Some(7)));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn payload(&self) -> &(dyn Any + Send) {
        self.payload
    }

    /// Returns the panic's message, if it was raised with one; `None` for other payloads.
    ///
    /// # Examples
    /// ```
    /// let (tx, rx) = pirn::channel::bounded(1);
    /// let runtime = pirn::Runtime::builder()
    ///     .on_panic(move |panic| _ = tx.send(panic.message().map(str::to_owned)))
    ///     .build()?;
    /// drop(runtime.spawn(|| panic!("unseen")));
    /// assert_eq!(rx.recv(), Ok(Some("unseen".to_owned())));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn message(&self) -> Option<&str> {
        text_of(self.payload)
    }
}

/// Returns the message of a panic that was raised with one.
pub(super) fn text_of(payload: &(dyn Any + Send)) -> Option<&str> {
    match payload.downcast_ref::<&'static str>() {
        Some(text) => Some(text),
        None => payload.downcast_ref::<String>().map(String::as_str),
    }
}

impl fmt::Debug for PanicInfo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PanicInfo")
            .field("fiber", &self.fiber)
            .field("name", &self.name)
            .field("message", &self.message())
            .finish_non_exhaustive()
    }
}
