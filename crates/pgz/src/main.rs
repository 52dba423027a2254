//! The `pgz` program. All of it is in the library: see `pgz::tool`.

use std::process::ExitCode;

fn main() -> ExitCode {
    pgz::tool::main()
}
