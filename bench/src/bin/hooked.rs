//! The server of `compare` on the sockets of `std`. It links `pirn-hooks`, so that their calls park
//! fibers; in a program of its own, since the crate makes the calls of all peers dearer.
//!
//! `hooked serve pirn-std …` is `compare child serve …`.

use std::env;
use std::process::ExitCode;

use pirn_bench::net;
use pirn_hooks as _;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(2).collect();
    match net::serve_child(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("hooked: {message}");
            ExitCode::FAILURE
        }
    }
}
