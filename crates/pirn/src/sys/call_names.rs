//! Names of system calls that block, for reports.

use std::borrow::Cow;

/// Returns the name of the system call with this number.
pub(crate) fn call_name(number: u64) -> Cow<'static, str> {
    let known = NAMES.iter().find(|(known, _)| *known == number);
    known.map_or_else(
        || Cow::Owned(format!("system call {number}")),
        |(_, name)| Cow::Borrowed(*name),
    )
}

/// Returns whether the system call of this number waits for a word of memory, as locks do.
pub(crate) fn is_futex(number: u64) -> bool {
    call_name(number) == "futex"
}

#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
const NAMES: &[(u64, &str)] = &[];

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
const NAMES: &[(u64, &str)] = &[
    (libc::SYS_read as u64, "read"),
    (libc::SYS_write as u64, "write"),
    (libc::SYS_readv as u64, "readv"),
    (libc::SYS_writev as u64, "writev"),
    (libc::SYS_pread64 as u64, "pread64"),
    (libc::SYS_pwrite64 as u64, "pwrite64"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open as u64, "open"),
    (libc::SYS_openat as u64, "openat"),
    (libc::SYS_ioctl as u64, "ioctl"),
    (libc::SYS_fcntl as u64, "fcntl"),
    (libc::SYS_flock as u64, "flock"),
    (libc::SYS_fsync as u64, "fsync"),
    (libc::SYS_fdatasync as u64, "fdatasync"),
    (libc::SYS_msync as u64, "msync"),
    (libc::SYS_sendfile as u64, "sendfile"),
    (libc::SYS_copy_file_range as u64, "copy_file_range"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_poll as u64, "poll"),
    (libc::SYS_ppoll as u64, "ppoll"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_select as u64, "select"),
    (libc::SYS_pselect6 as u64, "pselect6"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_epoll_wait as u64, "epoll_wait"),
    (libc::SYS_epoll_pwait as u64, "epoll_pwait"),
    (libc::SYS_io_uring_enter as u64, "io_uring_enter"),
    (libc::SYS_accept as u64, "accept"),
    (libc::SYS_accept4 as u64, "accept4"),
    (libc::SYS_connect as u64, "connect"),
    (libc::SYS_sendto as u64, "sendto"),
    (libc::SYS_sendmsg as u64, "sendmsg"),
    (libc::SYS_recvfrom as u64, "recvfrom"),
    (libc::SYS_recvmsg as u64, "recvmsg"),
    (libc::SYS_nanosleep as u64, "nanosleep"),
    (libc::SYS_clock_nanosleep as u64, "clock_nanosleep"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_pause as u64, "pause"),
    (libc::SYS_rt_sigtimedwait as u64, "rt_sigtimedwait"),
    (libc::SYS_rt_sigsuspend as u64, "rt_sigsuspend"),
    (libc::SYS_wait4 as u64, "wait4"),
    (libc::SYS_waitid as u64, "waitid"),
    (libc::SYS_semop as u64, "semop"),
    (libc::SYS_msgrcv as u64, "msgrcv"),
    (libc::SYS_futex as u64, "futex"),
];
