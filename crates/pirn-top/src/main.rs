//! The `pirn-top` program. All of it is in the library: see `pirn_top::tool`.

use std::process::ExitCode;

fn main() -> ExitCode {
    pirn_top::tool::main()
}
