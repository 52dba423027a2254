//! The `pirn-top` program, which is implemented in the library: see `pirn_top::tool`.

use std::process::ExitCode;

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "a function that the loader calls")]
mod early;

fn main() -> ExitCode {
    pirn_top::tool::main()
}
