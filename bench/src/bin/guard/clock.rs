//! A clock that does not depend on how fast this process runs, for counting.
//!
//! A scheduler adapts to time: how often it looks at shared queues, when it wakes another
//! worker. Under callgrind, time passes as the host pleases, and with it the count of
//! instructions moved by some thousandths. So a child that is being counted sees a time of
//! its own: every look at the clock of a thread finds the same step gone by.
//!
//! The symbol takes the place of libc's in this program alone; `compare` is not touched.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, Ordering};
use std::{mem, ptr};

use libc::{clockid_t, timespec};

/// Between two looks. With a look every few dozen fibers, about what they need in truth.
const STEP: i64 = 5_000;

/// When the steady time began, in nanoseconds; 0 while time is real.
static BEGAN: AtomicI64 = AtomicI64::new(0);

thread_local! {
    static LOOKS: Cell<i64> = const { Cell::new(0) };
}

/// From now on, every thread of this process counts its own time from here.
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
