//! The functions that wait for the end of a child process.
//!
//! The fiber waits for a pidfd of the child, and then calls the function as it is. A call for any
//! child of several, or for a stopped one, blocks the thread, and is counted.

use std::ffi::c_int;
use std::mem;
use std::ptr;

use libc::{id_t, idtype_t, pid_t, siginfo_t};
use pirn::cancel;
use pirn::dev::hooks::Interest;

use crate::descriptor::{Call, Ended, ending, errno_of, record};
use crate::kernel::{Outcome, answer_int, call, is_blocking, is_ready};
use crate::region::may_park;
use crate::stats::Function;

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn waitpid(
    child: pid_t,
    status: *mut c_int,
    options: c_int,
) -> pid_t {
    let kernel = |options: c_int| {
        let usage = ptr::null_mut::<libc::rusage>();
        call!(SYS_wait4, child, status, options, usage)
    };
    if options & libc::WNOHANG != 0 || !may_park() {
        return answer_int(kernel(options));
    }
    let function = Function::Waitpid;
    function.count_call();
    // The kernel decides whether there is such a child, and whether it has ended.
    let now = kernel(options | libc::WNOHANG);
    if now != Ok(0) {
        return answer_int(now);
    }
    let stops = options & (libc::WUNTRACED | libc::WCONTINUED) != 0;
    let child = (child > 0 && !stops).then_some(child);
    answer_int(after_end(function, child, || kernel(options)))
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn waitid(
    kind: idtype_t,
    id: id_t,
    info: *mut siginfo_t,
    options: c_int,
) -> c_int {
    let kernel = |info: *mut siginfo_t, options: c_int| {
        let usage = ptr::null_mut::<libc::rusage>();
        call!(SYS_waitid, kind, id, info, options, usage)
    };
    if options & libc::WNOHANG != 0 || !may_park() {
        return answer_int(kernel(info, options));
    }
    let function = Function::Waitid;
    function.count_call();
    // SAFETY: plain data of C.
    let mut seen: siginfo_t = unsafe { mem::zeroed() };
    let now = kernel(&raw mut seen, options | libc::WNOHANG | libc::WNOWAIT);
    // SAFETY: zero, or written by the call.
    let found = unsafe { seen.si_pid() };
    let child = pid_t::try_from(id).ok();
    let stops = options & (libc::WSTOPPED | libc::WCONTINUED) != 0;
    let waited = match (now, kind) {
        (Ok(_), _) if found != 0 => Ok(()),
        (Err(_), _) => Ok(()),
        (_, libc::P_PIDFD) if !stops => match child {
            Some(fd) if is_blocking(fd) => wait(function, fd),
            _ => Ok(()),
        },
        _ => {
            let child = child.filter(|_| kind == libc::P_PID && !stops);
            return answer_int(after_end(function, child, || kernel(info, options)));
        }
    };
    answer_int(then_call(function, waited, || kernel(info, options)))
}

/// Calls `kernel` when the child has ended, or now if it is not one child.
fn after_end(
    function: Function,
    child: Option<pid_t>,
    kernel: impl FnOnce() -> Outcome,
) -> Outcome {
    let pidfd = child.and_then(|child| call!(SYS_pidfd_open, child, 0).ok());
    let Some(pidfd) = pidfd.map(|pidfd| pidfd as c_int) else {
        return then_call(function, Err(Ended::Unwatchable), kernel);
    };
    let waited = wait(function, pidfd);
    // Failure: there is nothing to lose in it.
    let _ = ending(pidfd, || call!(SYS_close, pidfd));
    then_call(function, waited, kernel)
}

fn then_call(
    function: Function,
    waited: Result<(), Ended>,
    kernel: impl FnOnce() -> Outcome,
) -> Outcome {
    match waited {
        Ok(()) => kernel(),
        Err(Ended::Failed(error)) => Err(error),
        Err(Ended::TimedOut | Ended::Unwatchable) => {
            let block = function.blocks_unless_cancelled();
            block.and_then(|_block| kernel())
        }
    }
}

/// Parks until the process of the descriptor has ended.
fn wait(function: Function, pidfd: c_int) -> Result<(), Ended> {
    cancel::check().map_err(|interrupt| Ended::Failed(errno_of(interrupt)))?;
    let record = record(pidfd).ok_or(Ended::Unwatchable)?;
    let mut call = Call::default();
    loop {
        let seen = call.look(pidfd).map_err(Ended::Failed)?;
        if is_ready(pidfd, libc::POLLIN) {
            return Ok(());
        }
        let seen = seen.ok_or(Ended::Unwatchable)?;
        record.wait((pidfd, function), (seen, Interest::Readable), None)?;
    }
}
