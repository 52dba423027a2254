//! One thread sleeps until another hands it a token.
//!
//! Owns: the token and its protocol ([`Parker`], the same on every platform), and the door
//! that picks how a thread really sleeps: a futex on Linux, a mutex and a condition variable
//! elsewhere, under the model checkers, and wherever `--cfg pirn_condvar` asks for it.
//! Does not own: why a thread sleeps.

#[cfg(all(target_os = "linux", not(any(loom, shuttle, pirn_condvar))))]
#[path = "futex.rs"]
#[expect(unsafe_code, reason = "the futex system call")]
mod bed;

#[cfg(not(all(target_os = "linux", not(any(loom, shuttle, pirn_condvar)))))]
#[path = "condvar.rs"]
mod bed;

mod token;

pub(crate) use token::Parker;
