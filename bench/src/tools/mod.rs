//! Third-party programs for the comparison.
//!
//! Everything is fetched and built below the target directory, nothing is installed on the
//! system. An unavailable program is reported with the reason, and its column stays empty.

mod boost;
mod go;
mod hooked;

pub(crate) use crate::base::step;
pub use crate::base::target_directory;
pub use boost::boost;
pub use go::{go, versions};
pub use hooked::hooked;
