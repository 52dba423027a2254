//! The server of the peer `pirn-std`: sockets of `std` on fibers. `pirn-hooks` makes their calls park
//! the fiber. It is a program of its own, because the crate slows down the calls of every peer in a
//! process.
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
