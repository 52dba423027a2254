//! No other stack for the function: it runs on the caller's own.

use super::stacks::Stack;

/// False: functions cannot run on another stack.
pub(crate) const CALLS_ON_STACK: bool = false;

/// Calls `f` on the present stack.
#[inline(always)]
pub(crate) fn call_on_stack<T, F: FnOnce() -> T>(_stack: &mut Stack, f: F) -> T {
    f()
}
