//! The `pgz` program, which is implemented in the library: see `pgz::tool`.

use std::process::ExitCode;

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "a function that the loader calls")]
mod early;

fn main() -> ExitCode {
    pgz::tool::main()
}
