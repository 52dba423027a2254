//! crossbeam-channel's tests on pirn's channels, used by threads. `build/main.rs` generates the
//! modules from the files of the package.

include!(concat!(env!("OUT_DIR"), "/threads.rs"));
