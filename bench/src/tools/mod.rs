//! Programs of others that the comparison needs, and the corpus for the gzip programs.
//!
//! Everything is fetched and built below the target directory, nothing is installed on the
//! system. What cannot be had is reported with its reason and its column stays empty.

mod boost;
mod corpus;
mod go;
pub mod pgz;
mod serial;
mod step;
mod target;

pub use boost::boost;
pub use go::go;
pub use serial::gzip;
pub use target::target_directory;
