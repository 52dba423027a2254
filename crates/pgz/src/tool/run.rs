//! The program from start to exit code.

use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

use super::args::{Parsed, parse};
use super::options::Voice;
use super::streams::{end_if_unread, print};
use super::{Options, Tool};
use crate::files::cleanup;
use crate::pipeline::plain;

/// Runs the program with the process's arguments.
pub fn main() -> ExitCode {
    match parse(std::env::args_os()) {
        Parsed::Run(options) => run(*options),
        Parsed::Print { called, text } => match print(text.as_bytes()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                end_if_unread(&error, Voice::Plain);
                refuse(&called, "stdout", plain(&error))
            }
        },
        Parsed::Usage { called, text } => {
            let _ = write!(io::stderr(), "{called}: {text}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: Options) -> ExitCode {
    let called = options.called.clone();
    if let Err(error) = cleanup::on_signals() {
        return refuse(&called, "signals", error);
    }
    let mut operands = options.operands.clone();
    if operands.is_empty() {
        operands.push(OsString::from("-"));
    }
    let mut tool = match Tool::new(options) {
        Ok(tool) => tool,
        Err(error) => return refuse(&called, "runtime", error),
    };
    for remark in std::mem::take(&mut tool.options.remarks) {
        tool.report.remark(remark);
    }
    for operand in &operands {
        tool.operand(operand);
    }
    tool.finish()
}

/// Prints the reason for an early exit.
fn refuse(called: &str, what: &str, why: impl Display) -> ExitCode {
    let _ = writeln!(io::stderr(), "{called}: {what}: {why}");
    ExitCode::FAILURE
}
