//! pirn: stackful fibers for Rust.

mod shim;
