//! Descriptions of fibers for reports, as data and as text.
//!
//! Does not own: how the data is gathered (`observe::report`), or when a report is due.

pub(crate) mod cycle;
#[expect(unsafe_code, reason = "reads the headers of fibers that do not run")]
pub(crate) mod fiber_info;
mod fiber_text;
pub(crate) mod frames;
pub(crate) mod summary;

#[cfg(all(test, not(pirn_modelled)))]
mod tests;
