//! `flock`: the lock of a file. The system does not report when it is free, so the fiber tries again
//! after pauses.

use std::ffi::c_int;
use std::time::Duration;

use crate::descriptor::number_of;
use crate::kernel::{Outcome, answer_int, call};
use crate::region::may_park;
use crate::stats::Function;

/// The first pause, which is doubled each time, and the longest one.
const PAUSES: (Duration, Duration) =
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
    answer_int(acquire(|| kernel(operation | libc::LOCK_NB)))
}

fn acquire(attempt: impl Fn() -> Outcome) -> Outcome {
    let (mut pause, longest) = PAUSES;
    loop {
        match attempt() {
            Err(libc::EWOULDBLOCK) => {}
            done => return done,
        }
        Function::Flock.count_park();
        pirn::sleep(pause).map_err(number_of)?;
        pause = longest.min(2 * pause);
    }
}
