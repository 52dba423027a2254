//! The functions that wait for the end of a child process.
//!
//! The fiber waits for a pidfd of the child, and then calls the function as it is. A call for any
//! child of several, or for a stopped one, blocks the thread, and is counted.

use std::ffi::c_int;
use std::ptr;

use libc::{id_t, idtype_t, pid_t, siginfo_t};
use pirn::cancel;
use pirn::dev::hooks::Interest;

use crate::descriptor::{Ended, end, number_of, record};
use crate::kernel::{Outcome, answer_int, call, is_ready};
use crate::region::is_parking;
use crate::stats::Function;

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn waitpid(
    child: pid_t,
    status: *mut c_int,
    options: c_int,
) -> pid_t {
    let kernel = || {
        call!(
            SYS_wait4,
            child,
            status,
            options,
            ptr::null_mut::<libc::rusage>()
        )
    };
    if options & libc::WNOHANG != 0 || !is_parking() {
        return answer_int(kernel());
    }
    let function = Function::Waitpid;
    function.count_call();
    let stops = options & (libc::WUNTRACED | libc::WCONTINUED) != 0;
    answer_int(after_end(
        function,
        (child > 0 && !stops).then_some(child),
        kernel,
    ))
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
    let kernel = || {
        call!(
            SYS_waitid,
            kind,
            id,
            info,
            options,
            ptr::null_mut::<libc::rusage>()
        )
    };
    if options & libc::WNOHANG != 0 || !is_parking() {
        return answer_int(kernel());
    }
    let function = Function::Waitid;
    function.count_call();
    let stops = options & (libc::WSTOPPED | libc::WCONTINUED) != 0;
    let child = pid_t::try_from(id).ok().filter(|_| !stops);
    if kind == libc::P_PIDFD {
        let waited = child.map_or(Err(Ended::Unwatchable), |fd| wait(function, fd));
        return answer_int(then_call(function, waited, kernel));
    }
    let child = child.filter(|_| kind == libc::P_PID);
    answer_int(after_end(function, child, kernel))
}

/// Calls `kernel` when the child has ended. If it is not one child, or none of this process, the
/// kernel decides.
fn after_end(
    function: Function,
    child: Option<pid_t>,
    kernel: impl FnOnce() -> Outcome,
) -> Outcome {
    cancel::check().map_err(number_of)?;
    let Some(child) = child else {
        return then_call(function, Err(Ended::Unwatchable), kernel);
    };
    let Ok(pidfd) = call!(SYS_pidfd_open, child, 0) else {
        return then_call(function, Err(Ended::Unwatchable), kernel);
    };
    let waited = wait(function, pidfd as c_int);
    end(pidfd as c_int);
    // Failure: there is nothing to lose in it.
    let _ = call!(SYS_close, pidfd as c_int);
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
            function.count_blocked();
            kernel()
        }
    }
}

/// Parks until the process of the descriptor has ended.
fn wait(function: Function, pidfd: c_int) -> Result<(), Ended> {
    loop {
        let record = record(pidfd).ok_or(Ended::Unwatchable)?;
        let seen = record.look();
        if is_ready(pidfd, libc::POLLIN) {
            return Ok(());
        }
        function.count_park();
        record.wait(seen, Interest::Readable, None)?;
    }
}
