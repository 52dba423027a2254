//! crossbeam-channel's tests on pirn's channels, used by threads. The modules are made by
//! `build/main.rs` out of the files of the package.

include!(concat!(env!("OUT_DIR"), "/threads.rs"));
