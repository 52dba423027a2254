//! The processors of a child.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Some of the processors that this process may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Processors {
    /// This number from the beginning.
    First(usize),
    /// This number from the end: the first one serves most interrupts.
    Last(usize),
}

/// Restricts `command` to these processors.
pub fn pin(command: &mut Command, processors: Processors) {
    let mask = mask(processors);
    let pin = move || {
        // SAFETY: pid 0 is the calling process, the mask is alive and of the given size.
        let failed = unsafe { libc::sched_setaffinity(0, size_of_val(&mask), &mask) };
        if failed == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    };
    // SAFETY: between fork and exec `pin` makes one system call on its own copy of the mask
    // and takes no lock.
    unsafe { command.pre_exec(pin) };
}

fn mask(processors: Processors) -> libc::cpu_set_t {
    // SAFETY: a set of processors is a plain array of bits; all zeros is the empty one.
    let mut allowed: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: pid 0 is the calling thread, the set is alive and of the given size.
    unsafe { libc::sched_getaffinity(0, size_of_val(&allowed), &mut allowed) };
    // SAFETY: as above.
    let mut chosen: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    let total = libc::CPU_SETSIZE as usize;
    // SAFETY: every index is below the size of the set.
    let is_allowed = |cpu: &usize| unsafe { libc::CPU_ISSET(*cpu, &allowed) };
    let allowed: Vec<usize> = (0..total).filter(is_allowed).collect();
    let taken = match processors {
        Processors::First(count) => &allowed[..count.min(allowed.len())],
        Processors::Last(count) => &allowed[allowed.len().saturating_sub(count)..],
    };
    for cpu in taken {
        // SAFETY: as above.
        unsafe { libc::CPU_SET(*cpu, &mut chosen) };
    }
    chosen
}
