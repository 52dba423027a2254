//! The functions that resolve names: a thread of `pirn::blocking` calls libc's own.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem;
use std::sync::OnceLock;

use libc::{addrinfo, sockaddr, socklen_t};

use crate::kernel;
use crate::region::may_park;
use crate::stats::Function;

type Getaddrinfo = unsafe extern "C" fn(
    *const c_char,
    *const c_char,
    *const addrinfo,
    *mut *mut addrinfo,
) -> c_int;

type Getnameinfo = unsafe extern "C" fn(
    *const sockaddr,
    socklen_t,
    *mut c_char,
    socklen_t,
    *mut c_char,
    socklen_t,
    c_int,
) -> c_int;

/// Returns the address of libc's function.
///
/// # Panics
/// If there is none: the program is linked without glibc's shared library.
fn next(name: &CStr, known: &OnceLock<usize>) -> usize {
    *known.get_or_init(|| {
        // SAFETY: a valid name.
        let found: *mut c_void = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
        assert!(
            !found.is_null(),
            "pirn-hooks: no shared library has {}; link glibc dynamically",
            name.to_string_lossy()
        );
        found.expose_provenance()
    })
}

/// Pointers of a caller that waits until they are not used any more.
struct Lent<T>(T);

// SAFETY: the caller's frame, and what it points to, outlive the call, and the caller does nothing
// meanwhile.
unsafe impl<T> Send for Lent<T> {}

impl<T> Lent<T> {
    fn get(self) -> T {
        self.0
    }
}

/// Calls `f` on another thread, and sets this thread's `errno` to the one of that thread.
fn with_errno(f: impl FnOnce() -> c_int + Send) -> c_int {
    let on_thread = || {
        let done = f();
        (done, kernel::error())
    };
    let (done, error) = kernel::keep_errno(|| pirn::blocking(on_thread));
    if done == libc::EAI_SYSTEM {
        kernel::set_error(error);
    }
    done
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn getaddrinfo(
    node: *const c_char,
    service: *const c_char,
    hints: *const addrinfo,
    found: *mut *mut addrinfo,
) -> c_int {
    static NEXT: OnceLock<usize> = OnceLock::new();
    let next = next(c"getaddrinfo", &NEXT);
    // SAFETY: a function of this type.
    let next: Getaddrinfo = unsafe { mem::transmute(next) };
    if !may_park() {
        // SAFETY: the caller's promise.
        return unsafe { next(node, service, hints, found) };
    }
    Function::Getaddrinfo.count_call();
    Function::Getaddrinfo.count_park();
    let lent = Lent((node, service, hints, found));
    with_errno(move || {
        let (node, service, hints, found) = lent.get();
        // SAFETY: the caller's promise.
        unsafe { next(node, service, hints, found) }
    })
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn getnameinfo(
    address: *const sockaddr,
    size: socklen_t,
    host: *mut c_char,
    host_size: socklen_t,
    service: *mut c_char,
    service_size: socklen_t,
    flags: c_int,
) -> c_int {
    static NEXT: OnceLock<usize> = OnceLock::new();
    let next = next(c"getnameinfo", &NEXT);
    // SAFETY: a function of this type.
    let next: Getnameinfo = unsafe { mem::transmute(next) };
    if !may_park() {
        // SAFETY: the caller's promise.
        return unsafe {
            next(address, size, host, host_size, service, service_size, flags)
        };
    }
    Function::Getnameinfo.count_call();
    Function::Getnameinfo.count_park();
    let lent = Lent((address, host, service));
    with_errno(move || {
        let (address, host, service) = lent.get();
        // SAFETY: the caller's promise.
        unsafe { next(address, size, host, host_size, service, service_size, flags) }
    })
}
