//! `flock` and `fcntl`: the locks of a file. The system does not report when one is free, so the
//! fiber tries again after pauses.

use std::ffi::{c_int, c_ulong};
use std::time::Duration;

use crate::descriptor::{Call, pause_for};
use crate::kernel::{Outcome, answer_int, call};
use crate::region::may_park;
use crate::stats::Function;

/// The first pause, which is doubled each time, and the longest one.
pub(crate) const PAUSES: (Duration, Duration) =
    (Duration::from_millis(1), Duration::from_millis(32));

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn flock(fd: c_int, operation: c_int) -> c_int {
    let kernel = |operation: c_int| call!(SYS_flock, fd, operation);
    if operation & (libc::LOCK_NB | libc::LOCK_UN) != 0 || !may_park() {
        return answer_int(kernel(operation));
    }
    Function::Flock.count_call();
    let attempt = || kernel(operation | libc::LOCK_NB);
    answer_int(acquire((Function::Flock, fd), attempt, || {
        kernel(operation)
    }))
}

/// In C the last argument depends on the command. On the platforms of this crate it is passed as a
/// word is.
///
/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn fcntl(
    fd: c_int,
    command: c_int,
    argument: c_ulong,
) -> c_int {
    let kernel = |command: c_int| call!(SYS_fcntl, fd, command, argument);
    let attempt = match command {
        libc::F_SETLKW => libc::F_SETLK,
        libc::F_OFD_SETLKW => libc::F_OFD_SETLK,
        libc::F_GETOWN => return answer_int(owner(fd)),
        _ => return answer_int(kernel(command)),
    };
    if !may_park() {
        return answer_int(kernel(command));
    }
    Function::Fcntl.count_call();
    let function = (Function::Fcntl, fd);
    answer_int(acquire(function, || kernel(attempt), || kernel(command)))
}

/// As [`fcntl`], for programs with files of 64 bits.
///
/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn fcntl64(
    fd: c_int,
    command: c_int,
    argument: c_ulong,
) -> c_int {
    // SAFETY: as libc's.
    unsafe { fcntl(fd, command, argument) }
}

/// Returns the process that gets the signals of a descriptor, or the negative number of a group.
/// The system returns it where it returns errors, too, so it is asked in another way.
fn owner(fd: c_int) -> Outcome {
    const F_GETOWN_EX: c_int = 16;
    const GROUP: c_int = 2;
    // The kind, and the number.
    let mut owner = [0, 0];
    call!(SYS_fcntl, fd, F_GETOWN_EX, owner.as_mut_ptr())?;
    let [kind, number]: [c_int; 2] = owner;
    Ok(match kind {
        GROUP => -number as isize,
        _ => number as isize,
    })
}

fn acquire(
    (function, fd): (Function, c_int),
    attempt: impl Fn() -> Outcome,
    plain: impl Fn() -> Outcome,
) -> Outcome {
    let (mut pause, longest) = PAUSES;
    let mut call = Call::default();
    loop {
        call.check(fd)?;
        match attempt() {
            Err(libc::EAGAIN) => {}
            // A conflict on some file systems, else a lock that is forbidden: only the call that
            // may wait knows which.
            Err(libc::EACCES) => {
                let _block = function.blocks();
                return plain();
            }
            done => return done,
        }
        function.count_park();
        pause_for(pause)?;
        pause = longest.min(2 * pause);
    }
}
