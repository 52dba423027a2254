//! Calls of the C library, each as a safe function.
//!
//! Owns: the calls that are sound for all arguments of their types. The length that is passed is
//! that of the slice, a reference is valid, and the system has written a result before it is read.
//! So the modules that make these calls are safe code. Does not own: the meaning of a result, or
//! calls with a contract that no type expresses: handlers of signals, and memory that the system
//! writes to after the call.
//!
//! A descriptor that a call reads, writes or changes is borrowed. A plain number of a descriptor is
//! only registered or polled: if the number is stale, the result is an error or a spurious event.
//!
//! Calls that a worker makes to sleep and to wake are inlined: each is the call of the C library
//! and nothing else.

mod check;
mod descriptor;
#[cfg(all(target_os = "linux", not(any(pirn_modelled, pirn_polling))))]
mod epoll;
mod exit;
#[cfg(all(target_os = "linux", not(pirn_modelled)))]
mod fork;
#[cfg(all(target_os = "linux", not(any(pirn_modelled, pirn_condvar))))]
mod futex;
mod memory;
#[cfg(all(unix, not(pirn_modelled)))]
mod process;
#[cfg(target_os = "linux")]
mod thread;

#[cfg(target_os = "linux")]
pub(super) use descriptor::preadv2;
#[cfg(not(pirn_modelled))]
pub(super) use descriptor::set_status_flags;
pub(super) use descriptor::{poll, status_flags, write, write_some};
#[cfg(all(target_os = "linux", not(any(pirn_modelled, pirn_polling))))]
pub(super) use epoll::{epoll_create, epoll_ctl, epoll_pwait2, epoll_wait, eventfd};
pub(crate) use exit::at_exit;
#[cfg(all(target_os = "linux", not(pirn_modelled)))]
pub(crate) use fork::Process;
#[cfg(all(target_os = "linux", not(any(pirn_modelled, pirn_condvar))))]
pub(super) use futex::{futex_wait, futex_wake};
pub(crate) use memory::advise_huge;
#[cfg(all(target_os = "linux", not(pirn_modelled)))]
pub(super) use process::pidfd_open;
#[cfg(all(unix, not(pirn_modelled)))]
pub(super) use process::{geteuid, peer_user, waitid};
#[cfg(all(target_os = "linux", not(pirn_modelled)))]
pub(super) use thread::{clock_gettime, gettid, thread_clock};
#[cfg(target_os = "linux")]
pub(super) use thread::{sched_getaffinity, sched_setaffinity};
