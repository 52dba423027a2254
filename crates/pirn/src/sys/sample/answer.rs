//! The sample of a thread: its registers and a part of its stack.

/// The sample of a thread.
#[derive(Debug, Clone)]
#[allow(dead_code, reason = "nothing is known of that on some systems")]
pub(crate) struct Sample {
    /// The system call that it was in; `None` if in none, or it is not known.
    pub(crate) call: Option<u64>,
    /// Address of the instruction, stack pointer, rbp and rbx.
    pub(crate) ip: usize,
    pub(crate) sp: usize,
    pub(crate) fp: usize,
    pub(crate) bx: usize,
    /// Where its stack ends; `sp` if that is not known.
    pub(crate) end: usize,
    /// The words from `sp` on, as many as there is room for.
    pub(crate) words: Vec<usize>,
}

/// Finds the end of the stack that an address is on, for a signal handler: takes no lock and
/// allocates nothing.
pub(crate) type EndOfStack = fn(address: usize) -> Option<usize>;
