//! Separate processes, for tests that end the process or need it for themselves: this test binary
//! again, with a variable that selects the test.

use std::process::{Command, Output};

use crate::base::tests::unmeasured::repeat;

/// Sanitizers have their own handlers of faults, and larger frames.
pub(super) const SANITIZED: bool = cfg!(any(pirn_asan, pirn_tsan));

const CASE: &str = "PIRN_TEST_CASE";

/// Runs the test at `path` (from `module_path!` and the name) in a new process, where [`case`] then
/// returns `case`.
pub(super) fn run(path: &str, case: &str) -> Output {
    let (_crate, test) = path.split_once("::").unwrap();
    Command::new(std::env::current_exe().unwrap())
        .args([
            test,
            "--exact",
            "--include-ignored",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(CASE, case)
        .output()
        .unwrap()
}

/// Returns the case that this process was started for.
pub(super) fn case() -> Option<String> {
    std::env::var(CASE).ok()
}

/// Runs `body` in a separate process, which must succeed. Called by the test at `path`, as its only
/// statement.
pub(super) fn alone(path: &str, body: impl FnOnce()) {
    if case().as_deref() == Some(path) {
        return body();
    }
    let output = run(path, path);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(
        output.status.success(),
        "{}\n{stdout}\n{stderr}",
        output.status
    );
    repeat(&stderr);
    assert!(stdout.contains("1 passed"), "{path} has not run:\n{stdout}");
}
