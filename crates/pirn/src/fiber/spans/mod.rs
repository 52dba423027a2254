//! Spans of the crate `tracing` that follow their fiber; none without the feature `tracing`.

#[cfg(feature = "tracing")]
#[expect(unsafe_code, reason = "spans lie in the frames of the code in them")]
mod in_span;
#[cfg(not(feature = "tracing"))]
mod none;
#[cfg(feature = "tracing")]
mod record;

#[cfg(feature = "tracing")]
pub use in_span::in_span;
#[cfg(not(feature = "tracing"))]
pub(crate) use none::Spans;
#[cfg(feature = "tracing")]
pub(crate) use record::Spans;
