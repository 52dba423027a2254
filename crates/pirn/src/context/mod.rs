//! Stacks and the switch between them: the only module that changes a stack pointer.
//!
//! Owns: the saved context of a fiber, the switch, the stacks with their guards, the pool and the
//! worker's cache of stacks, the report of a stack overflow, and the notices to the sanitizers.
//! Does not own: the order in which fibers run (`sched`), or fibers themselves (`fiber`).
//!
//! A worker's side starts as [`Context::empty`]; a fiber's side is prepared on a stack. A switch
//! saves one context and resumes another; the last switch away from a stack is [`exit`]. A stack is
//! returned only after the switch away from it has ended, on the stack switched to.
//!
//! Two backends have the same interface: our own switch on x86-64, and corosensei on other targets
//! and with the feature `corosensei`.
//!
//! This module selects the backend; `os` and `sanitizer` select their own implementations.

#[cfg(all(target_arch = "x86_64", unix, not(feature = "corosensei")))]
#[path = "call_on_stack_x86_64.rs"]
#[expect(unsafe_code, reason = "a call that changes stacks")]
mod call_on_stack;
#[cfg(not(all(target_arch = "x86_64", unix, not(feature = "corosensei"))))]
#[path = "call_on_stack_none.rs"]
mod call_on_stack;
mod frame;
#[expect(unsafe_code, reason = "system calls on memory and signals")]
mod os;
mod overflow;
#[cfg(target_arch = "x86_64")]
#[path = "pointer_x86_64.rs"]
#[expect(unsafe_code, reason = "reads a register")]
mod pointer;
#[cfg(not(target_arch = "x86_64"))]
#[path = "pointer_any.rs"]
mod pointer;
#[expect(unsafe_code, reason = "calls into the sanitizers' runtime")]
mod sanitizer;

mod stacks;
#[cfg(all(target_arch = "x86_64", unix, not(feature = "corosensei")))]
#[path = "switch_x86_64.rs"]
#[expect(unsafe_code, reason = "assembly that changes stacks")]
mod switch;
#[cfg(not(all(target_arch = "x86_64", unix, not(feature = "corosensei"))))]
#[path = "switch_corosensei.rs"]
#[expect(unsafe_code, reason = "a coroutine on a stack of ours")]
mod switch;

#[cfg(target_arch = "x86_64")]
#[path = "valgrind_x86_64.rs"]
#[expect(unsafe_code, reason = "an instruction sequence that valgrind knows")]
mod valgrind;
#[cfg(not(target_arch = "x86_64"))]
#[path = "valgrind_none.rs"]
mod valgrind;

#[cfg(all(target_arch = "x86_64", unix, not(feature = "corosensei")))]
#[path = "visit_x86_64.rs"]
#[expect(unsafe_code, reason = "runs on the stack of a suspended context")]
mod visit;
#[cfg(not(all(target_arch = "x86_64", unix, not(feature = "corosensei"))))]
#[path = "visit_none.rs"]
#[expect(unsafe_code, reason = "the contract of its twin")]
mod visit;

pub(crate) use call_on_stack::{CALLS_ON_STACK, call_on_stack};
pub(crate) use os::check_shadow_stack;
pub(crate) use overflow::{SignalWriter, install_overflow_handler};
pub(crate) use pointer::stack_pointer;
#[cfg(all(pirn_tsan, not(pirn_asan)))]
pub(crate) use sanitizer::order_no_switches;
pub(crate) use sanitizer::{INHERITS, hand_on, take_over};
pub(crate) use stacks::{
    HighWater, OutOfStacks, Stack, StackCache, StackConfig, StackPool, stack_at,
};
pub(crate) use switch::{Context, DIRECT, exit, switch};
pub(crate) use visit::{Stand, visit, visit_copy};

#[cfg(all(test, not(pirn_modelled)))]
#[expect(unsafe_code, reason = "drives contexts by hand")]
mod tests;
