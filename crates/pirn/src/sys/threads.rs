//! The number of threads of the process, as the system counts them.

/// Returns the number of threads of this process; `None` where the system does not say.
pub(crate) fn threads() -> Option<usize> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let tasks = std::fs::read_dir("/proc/self/task").ok()?;
    Some(tasks.count())
}
