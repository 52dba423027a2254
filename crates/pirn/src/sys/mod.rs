//! Interfaces of the operating system.
//!
//! Owns: putting a thread to sleep and waking it ([`parker`]); the system's view of a thread
//! ([`ThreadProbe`]); functions that are called at the exit, at the end of a thread, and on a
//! signal; the readiness of sockets ([`poller`]); reads of data that the system has in memory;
//! reads that the system makes by itself (`ring`); the end of a child process; sockets for
//! processes of the same user. Does not own: which threads sleep or are woken
//! (`sched::pool::idle`), or stacks (`context`).

#[cfg(all(unix, not(pirn_modelled)))]
mod accepted;
mod affinity;
mod cached;
mod call_names;
#[expect(unsafe_code, reason = "calls of the C library as safe functions")]
mod calls;
#[cfg(all(unix, not(pirn_modelled)))]
mod descriptor;
#[cfg(all(unix, not(pirn_modelled)))]
mod ended;
mod local;
pub(crate) mod parker;
pub(crate) mod poller;
mod probe;
#[cfg(all(
    feature = "io_uring",
    target_os = "linux",
    not(any(pirn_modelled, pirn_polling))
))]
#[expect(unsafe_code, reason = "reads by the system into borrowed buffers")]
pub(crate) mod ring;
pub(crate) mod sample;
#[expect(unsafe_code, reason = "a signal handler")]
mod signals;
mod stderr;
mod thread_end;
mod threads;

#[cfg(all(unix, not(pirn_modelled)))]
pub(crate) use accepted::{AcceptFailure, accept_failure};
pub(crate) use affinity::{allowed_processors, pin, unpinned, with_children_unpinned};
pub(crate) use cached::{Cached, Rest, may_be_cached, read_cached};
pub(crate) use call_names::{call_name, is_futex};
#[cfg(all(target_os = "linux", not(pirn_modelled)))]
pub(crate) use calls::Process;
pub(crate) use calls::{advise_huge, at_exit};
#[cfg(all(unix, not(pirn_modelled)))]
pub(crate) use descriptor::{is_read_closed, is_readable, is_writable, set_blocking};
#[cfg(all(unix, not(pirn_modelled)))]
pub(crate) use ended::ended;
pub(crate) use local::{Alarm, LocalClient, LocalListener};
pub(crate) use probe::{Activity, ThreadProbe};
pub(crate) use signals::{
    Disposition, SIGNALS, catch, is_caught, raise, restore, route, send_to_child,
    send_to_group_of,
};
pub(crate) use stderr::{report, report_whole};
pub(crate) use thread_end::at_thread_end;
pub(crate) use threads::threads;

#[cfg(test)]
mod tests;
