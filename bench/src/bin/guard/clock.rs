//! A clock that does not depend on the speed of this process, for counting.
//!
//! A scheduler adapts to time: how often it checks shared queues, when it wakes another worker.
//! Under callgrind, the speed depends on the host, and changed the count of instructions by some
//! thousandths. So a counted child has a time of its own: every reading of a thread's clock
//! advances it by the same step.
//!
//! The symbol replaces libc's in this program only; `compare` is not affected.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, Ordering};
use std::{mem, ptr};

use libc::{clockid_t, timespec};

/// The step of one reading. With a reading every few dozen fibers, about their real time.
const STEP: i64 = 5_000;

/// When the steady time began, in nanoseconds; 0 while time is real.
static BEGAN: AtomicI64 = AtomicI64::new(0);

thread_local! {
    static LOOKS: Cell<i64> = const { Cell::new(0) };
}

/// Starts the steady time: every thread of this process counts its own time from here.
pub(crate) fn hold_steady() {
    let mut now = timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    real(libc::CLOCK_MONOTONIC, &mut now);
    BEGAN.store(now.tv_sec * 1_000_000_000 + now.tv_nsec, Ordering::Relaxed);
}

// SAFETY: has the type and the meaning of the function of this name in libc, which is the
// only other one: callers get a monotonic time either way.
#[unsafe(no_mangle)]
extern "C" fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int {
    let began = BEGAN.load(Ordering::Relaxed);
    if began == 0 || clock != libc::CLOCK_MONOTONIC {
        return real(clock, time);
    }
    let looks = LOOKS.get() + 1;
    LOOKS.set(looks);
    let nanos = began + looks * STEP;
    let now = timespec {
        tv_sec: nanos / 1_000_000_000,
        tv_nsec: nanos % 1_000_000_000,
    };
    // SAFETY: the caller passes a place for the time, as libc asks.
    unsafe { ptr::write(time, now) };
    0
}

/// libc's own function of this name, which is behind this program's.
fn real(clock: clockid_t, time: *mut timespec) -> c_int {
    static FOUND: OnceLock<ClockGettime> = OnceLock::new();
    let next = FOUND.get_or_init(|| {
        // SAFETY: looks up a name that ends in a zero byte.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, c"clock_gettime".as_ptr()) };
        assert!(!found.is_null(), "libc has this function");
        // SAFETY: the function of that name in libc has this type.
        unsafe { mem::transmute::<*mut c_void, ClockGettime>(found) }
    });
    // SAFETY: `time` is a place for the time.
    unsafe { next(clock, time) }
}

type ClockGettime = unsafe extern "C" fn(clockid_t, *mut timespec) -> c_int;
