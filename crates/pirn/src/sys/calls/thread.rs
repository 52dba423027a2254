//! Linux: calls about threads.

use std::io;
use std::mem;
#[cfg(not(pirn_modelled))]
use std::mem::MaybeUninit;

use super::check::check;

/// The number of processors that a set has bits for.
const PROCESSORS: usize = 8 * size_of::<libc::cpu_set_t>();

/// Returns the processors that the calling thread may use.
///
/// # Errors
/// The error of the system, for example that it has more processors than a set has bits.
pub(in crate::sys) fn sched_getaffinity() -> io::Result<Vec<usize>> {
    let mut set = no_processors();
    // SAFETY: the set is valid and of this size; 0 is the calling thread.
    check(unsafe { libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) })?;
    // SAFETY: the set has a bit for the number.
    let is_allowed = |cpu: &usize| unsafe { libc::CPU_ISSET(*cpu, &set) };
    Ok((0..PROCESSORS).filter(is_allowed).collect())
}

/// Restricts the calling thread to these processors.
///
/// # Errors
/// The error of the system; `InvalidInput` if a set has no bit for a number.
pub(in crate::sys) fn sched_setaffinity(processors: &[usize]) -> io::Result<()> {
    let mut set = no_processors();
    for &processor in processors {
        if processor >= PROCESSORS {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // SAFETY: the set has a bit for the number.
        unsafe { libc::CPU_SET(processor, &mut set) };
    }
    // SAFETY: the set is valid and of this size; the call only reads it.
    check(unsafe { libc::sched_setaffinity(0, size_of_val(&set), &raw const set) })
        .map(drop)
}

fn no_processors() -> libc::cpu_set_t {
    // SAFETY: all-zero bytes are an empty set.
    unsafe { mem::zeroed() }
}

/// Returns the system's number of the calling thread.
#[cfg(not(pirn_modelled))]
pub(in crate::sys) fn gettid() -> u32 {
    // SAFETY: a system call without arguments.
    unsafe { libc::gettid() }.cast_unsigned()
}

/// Returns the clock that counts the processor time of the calling thread; `None` if there is none.
#[cfg(not(pirn_modelled))]
pub(in crate::sys) fn thread_clock() -> Option<libc::clockid_t> {
    let mut clock = MaybeUninit::uninit();
    // SAFETY: returns the calling thread.
    let own = unsafe { libc::pthread_self() };
    // SAFETY: the handle is of a live thread, and the pointer is valid.
    let failed = unsafe { libc::pthread_getcpuclockid(own, clock.as_mut_ptr()) };
    // SAFETY: written by the call above.
    (failed == 0).then(|| unsafe { clock.assume_init() })
}

/// Returns the time of a clock.
///
/// # Errors
/// The error of the system, for example that the thread of the clock has ended.
#[cfg(not(pirn_modelled))]
pub(in crate::sys) fn clock_gettime(
    clock: libc::clockid_t,
) -> io::Result<libc::timespec> {
    let mut time = MaybeUninit::uninit();
    // SAFETY: the pointer is valid.
    check(unsafe { libc::clock_gettime(clock, time.as_mut_ptr()) })?;
    // SAFETY: written by the call above.
    Ok(unsafe { time.assume_init() })
}
