//! One thread sleeps until another hands it a token.
//!
//! Owns: the token and its protocol ([`Parker`], the same on every platform), and the switch that
//! selects how a thread sleeps: a futex on Linux, a mutex and a condition variable elsewhere, under
//! the model checkers, and with `--cfg pirn_condvar`. Does not own: the reason for a sleep.

#[cfg(all(target_os = "linux", not(any(pirn_modelled, pirn_condvar))))]
#[path = "futex.rs"]
mod thread_sleep;

#[cfg(not(all(target_os = "linux", not(any(pirn_modelled, pirn_condvar)))))]
#[path = "condvar.rs"]
mod thread_sleep;

mod token;

pub(crate) use token::Parker;
