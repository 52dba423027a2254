//! The `pirn-top` program, which is implemented in the library: see `pirn_top::tool`.

use std::process::ExitCode;

fn main() -> ExitCode {
    pirn_top::tool::main()
}
