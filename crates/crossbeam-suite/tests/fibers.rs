//! crossbeam-channel's tests on pirn's channels, used by fibers. `build/main.rs` generates the
//! modules from the files of the package.

include!(concat!(env!("OUT_DIR"), "/fibers.rs"));
