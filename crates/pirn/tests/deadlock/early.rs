//! Runs a program on the process's first thread, before `main` and so without a test harness.

use crate::programs::PROGRAMS;

/// The variable that names the program.
pub(crate) const PROGRAM: &str = "PIRN_TEST_PROGRAM";

// The C library calls the functions listed here once, before `main`, with the process set up; this
// one takes none of the arguments.
#[used]
#[unsafe(link_section = ".init_array")]
static EARLY: extern "C" fn() = early;

extern "C" fn early() {
    let Ok(name) = std::env::var(PROGRAM) else {
        return;
    };
    let program = PROGRAMS.iter().find(|program| program.name == name);
    (program.expect("a program of that name").run)();
    std::process::exit(0);
}
