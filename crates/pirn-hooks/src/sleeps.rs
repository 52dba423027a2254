//! The functions that sleep.
//!
//! An interrupt of the fiber ends a sleep early. It is reported as a complete one: `std` tries
//! again on `EINTR`, and panics on any other error.

use std::ffi::{c_int, c_uint};
use std::time::Duration;

use libc::{clockid_t, timespec, useconds_t};

use crate::kernel::{answer_int, call, duration_of, keep_errno, set_error};
use crate::region::may_park;
use crate::stats::Function;

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nanosleep(
    wanted: *const timespec,
    left: *mut timespec,
) -> c_int {
    // SAFETY: the caller's promise.
    match unsafe { duration_at(wanted) }.filter(|_| may_park()) {
        Some(duration) => {
            sleep_for(Function::Nanosleep, duration);
            0
        }
        None => answer_int(call!(SYS_nanosleep, wanted, left)),
    }
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn clock_nanosleep(
    clock: clockid_t,
    flags: c_int,
    wanted: *const timespec,
    left: *mut timespec,
) -> c_int {
    if clock == libc::CLOCK_THREAD_CPUTIME_ID {
        // By glibc; the system has another error for it.
        return libc::EINVAL;
    }
    let is_known = matches!(
        clock,
        libc::CLOCK_REALTIME | libc::CLOCK_MONOTONIC | libc::CLOCK_BOOTTIME
    );
    // SAFETY: the caller's promise.
    let duration = unsafe { duration_at(wanted) }.filter(|_| is_known && may_park());
    let Some(duration) = duration else {
        // Returns the error itself, and leaves `errno` alone.
        let slept = call!(SYS_clock_nanosleep, clock, flags, wanted, left);
        return slept.err().unwrap_or(0);
    };
    let duration = match flags & libc::TIMER_ABSTIME {
        0 => duration,
        _ => duration.saturating_sub(now(clock)),
    };
    sleep_for(Function::ClockNanosleep, duration);
    0
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn usleep(micros: useconds_t) -> c_int {
    let duration = Duration::from_micros(u64::from(micros));
    if may_park() {
        sleep_for(Function::Usleep, duration);
        return 0;
    }
    let wanted = crate::kernel::timespec_of(duration);
    let none = std::ptr::null_mut::<timespec>();
    answer_int(call!(SYS_nanosleep, &raw const wanted, none))
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sleep(seconds: c_uint) -> c_uint {
    let duration = Duration::from_secs(u64::from(seconds));
    if may_park() {
        return whole_seconds(sleep_for(Function::Sleep, duration));
    }
    let mut left = crate::kernel::timespec_of(duration);
    let wanted = left;
    match call!(SYS_nanosleep, &raw const wanted, &raw mut left) {
        Ok(_) => 0,
        Err(error) => {
            set_error(error);
            whole_seconds(duration_of(left).unwrap_or(duration))
        }
    }
}

/// Returns the whole seconds that are left of a sleep.
fn whole_seconds(left: Duration) -> c_uint {
    c_uint::try_from(left.as_secs()).unwrap_or(c_uint::MAX)
}

/// Returns the valid time at `wanted`.
///
/// # Safety
/// It is null, or readable.
unsafe fn duration_at(wanted: *const timespec) -> Option<Duration> {
    // SAFETY: the caller's promise.
    unsafe { wanted.as_ref() }.and_then(|wanted| duration_of(*wanted))
}

fn now(clock: clockid_t) -> Duration {
    let mut now = crate::kernel::timespec_of(Duration::ZERO);
    // SAFETY: one of the clocks that every system has.
    unsafe { libc::clock_gettime(clock, &raw mut now) };
    duration_of(now).unwrap_or_default()
}

/// Parks the fiber; returns the time that is left if it was interrupted.
fn sleep_for(function: Function, duration: Duration) -> Duration {
    function.count_call();
    function.count_park();
    let begun = pirn::time::now();
    match keep_errno(|| pirn::sleep(duration)) {
        Ok(()) => Duration::ZERO,
        Err(_) => duration.saturating_sub(pirn::time::now() - begun),
    }
}
