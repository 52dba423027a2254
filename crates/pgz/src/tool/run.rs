//! The program from start to exit code.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use super::args::{Parsed, parse};
use super::{Options, Tool};
use crate::files::cleanup;

/// Runs the program with the process's arguments.
pub fn main() -> ExitCode {
    match parse(std::env::args_os()) {
        Parsed::Run(options) => run(*options),
        Parsed::Print(text) => match io::stdout().write_all(text.as_bytes()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        },
        Parsed::Usage(text) => {
            let _ = write!(io::stderr(), "pgz: {text}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: Options) -> ExitCode {
    if let Err(error) = cleanup::on_signals() {
        let _ = writeln!(io::stderr(), "pgz: signals: {error}");
        return ExitCode::FAILURE;
    }
    let mut operands = options.operands.clone();
    if operands.is_empty() {
        operands.push(OsString::from("-"));
    }
    let mut tool = match Tool::new(options) {
        Ok(tool) => tool,
        Err(error) => {
            let _ = writeln!(io::stderr(), "pgz: runtime: {error}");
            return ExitCode::FAILURE;
        }
    };
    for operand in &operands {
        tool.operand(operand);
    }
    tool.finish()
}
