//! Unusual calls, and what they leave behind, as on a plain thread with glibc.

use std::cell::Cell;
use std::env;
use std::ffi::{CString, c_int, c_uint};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::process;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use pirn::spawn;
use pirn_hooks::within;

use crate::fixture::on_one_worker;
use crate::raw;
use crate::same::{connected, number, same};

fn errno() -> *mut c_int {
    // SAFETY: the function has no contract.
    unsafe { libc::__errno_location() }
}

/// Returns `errno` after a call that begins with 0 there.
fn errno_after(call: impl FnOnce()) -> c_int {
    // SAFETY: the thread's own number.
    unsafe { *errno() = 0 };
    call();
    // SAFETY: the thread's own number.
    unsafe { *errno() }
}

/// OpenSSL takes the end of a connection for data that come later, if `errno` is `EAGAIN` then.
#[test]
fn a_call_that_succeeds_leaves_errno() {
    on_one_worker(|| {
        // Runs while this fiber is parked.
        let meanwhile = |act: Box<dyn FnOnce() + Send>| {
            drop(spawn(move || {
                within(act);
                raw::read_number(-1, &mut [0]).unwrap_err();
            }));
        };
        let (pipe, to) = io::pipe().unwrap();
        meanwhile(Box::new(move || drop(to)));
        let read = errno_after(|| assert_eq!(raw::read(&pipe, &mut [0]).unwrap(), 0));
        let (one, other) = UnixStream::pair().unwrap();
        meanwhile(Box::new(move || drop(other)));
        let received =
            errno_after(|| assert_eq!(raw::recv(&one, &mut [0], 0).unwrap(), 0));
        let (idle, _kept) = io::pipe().unwrap();
        meanwhile(Box::new(|| ()));
        let polled = errno_after(|| {
            let wanted = [(idle.as_raw_fd(), libc::POLLIN)];
            assert_eq!(raw::poll(&wanted, 5).unwrap().0, 0);
        });
        meanwhile(Box::new(|| ()));
        let slept = errno_after(|| assert_eq!(raw::usleep(1_000), 0));
        assert_eq!([read, received, polled, slept], [0; 4]);
    });
}

/// The system has no calls that do not wait for such pipes, but they do not wait anyway.
#[test]
fn a_named_pipe_that_does_not_block_is_read_and_written() {
    let found = same(|| {
        let path = env::temp_dir().join(format!("pirn-hooks-fifo-{}", process::id()));
        let name = CString::new(path.as_os_str().as_bytes()).unwrap();
        // SAFETY: a string of C.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        let open = |options: &mut OpenOptions| {
            options.custom_flags(libc::O_NONBLOCK).open(&path).unwrap()
        };
        let reader = open(File::options().read(true));
        let unwritten = raw::read(&reader, &mut [0]);
        let writer = open(File::options().write(true));
        let written = raw::write(&writer, &[7; 10_000]);
        fs::remove_file(&path).unwrap();
        [unwritten, written].map(number)
    });
    assert_eq!(found, [Ok(0), Ok(10_000)]);
}

thread_local! {
    /// How often `SIGPIPE` has come to this thread.
    static BROKEN: Cell<u32> = const { Cell::new(0) };
}

extern "C" fn count_broken(_: c_int) {
    BROKEN.set(BROKEN.get() + 1);
}

/// Also if some bytes were written before.
#[test]
fn a_write_that_loses_its_reader_raises_the_signal() {
    const MUCH: usize = 1 << 20;
    let found = same(|| {
        let handler = count_broken as *const () as libc::sighandler_t;
        // SAFETY: the handler only counts.
        unsafe { libc::signal(libc::SIGPIPE, handler) };
        let (mut from, to) = io::pipe().unwrap();
        let reader = thread::spawn(move || {
            from.read_exact(&mut vec![0; 50_000]).unwrap();
            // Meanwhile the pipe is filled again.
            thread::sleep(Duration::from_millis(20));
        });
        let written = raw::write(&to, &vec![0; MUCH]).unwrap();
        let signals = BROKEN.get();
        reader.join().unwrap();
        // SAFETY: no handler.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
        ((50_000..MUCH).contains(&written), signals)
    });
    assert_eq!(found, (true, 1));
}

/// Makes the system report the arrival of what is sent, by messages in the queue of errors.
fn report_arrivals(socket: &TcpStream) {
    const SO_TIMESTAMPING: c_int = 37;
    let what: c_uint = libc::SOF_TIMESTAMPING_TX_ACK
        | libc::SOF_TIMESTAMPING_SOFTWARE
        | libc::SOF_TIMESTAMPING_OPT_TSONLY;
    let (at, size) = ((&raw const what).cast(), size_of_val(&what) as u32);
    let fd = socket.as_raw_fd();
    // SAFETY: an option to read.
    let set =
        unsafe { libc::setsockopt(fd, libc::SOL_SOCKET, SO_TIMESTAMPING, at, size) };
    assert_eq!(set, 0);
}

/// `poll` reports messages in the queue of errors as it does an error.
#[test]
fn a_blocking_send_with_time_stamps_sends_everything() {
    const SIZE: usize = 4 << 20;
    let found = same(|| {
        let (one, mut other) = connected();
        raw::set_buffers(&one, 64 << 10);
        raw::set_buffers(&other, 64 << 10);
        report_arrivals(&one);
        let reader =
            thread::spawn(move || io::copy(&mut other, &mut io::sink()).unwrap());
        let sent = raw::send(&one, &vec![0; SIZE], 0).unwrap();
        drop(one);
        (sent, reader.join().unwrap())
    });
    assert_eq!(found, (SIZE, SIZE as u64));
}

/// The first call begins a connection, and the second one waits for the same.
#[test]
fn a_late_connect_says_whether_it_has_begun() {
    let found = same(|| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let there = listener.local_addr().unwrap();
        // A queue for two connections: then the system drops the requests for more.
        raw::set_queue(&listener, 1);
        let _queued = [(); 2].map(|()| TcpStream::connect(there).unwrap());
        // They come into the queue a moment after that.
        thread::sleep(Duration::from_millis(50));
        let late = TcpStream::from(raw::tcp_socket());
        late.set_write_timeout(Some(Duration::from_millis(20)))
            .unwrap();
        [raw::connect(&late, there), raw::connect(&late, there)].map(number)
    });
    assert_eq!(found, [Err(libc::EINPROGRESS), Err(libc::EALREADY)]);
}

fn outcome(returned: isize) -> Result<usize, i32> {
    number(usize::try_from(returned).map_err(|_| io::Error::last_os_error()))
}

#[test]
fn sends_without_an_array_of_parts_or_messages_fail() {
    let found = same(|| {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(socket.local_addr().unwrap()).unwrap();
        // SAFETY: plain data of C.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        message.msg_iovlen = 1;
        // SAFETY: the system refuses the missing array.
        let sent = unsafe { libc::sendmsg(socket.as_raw_fd(), &raw const message, 0) };
        let sent = outcome(sent);
        // SAFETY: an array without elements.
        let none = unsafe { libc::sendmmsg(-1, ptr::dangling_mut(), 0, 0) };
        [sent, outcome(none as isize)]
    });
    assert_eq!(found, [Err(libc::EFAULT), Err(libc::EBADF)]);
}

/// glibc has another error for this clock than the system.
#[test]
fn a_sleep_by_the_time_of_the_thread_is_refused() {
    let found = same(|| {
        let wanted = libc::timespec {
            tv_sec: 0,
            tv_nsec: 1,
        };
        let (clock, none) = (libc::CLOCK_THREAD_CPUTIME_ID, ptr::null_mut());
        // SAFETY: a time to read, and none to write.
        unsafe { libc::clock_nanosleep(clock, 0, &raw const wanted, none) }
    });
    assert_eq!(found, libc::EINVAL);
}

extern "C" fn nothing(_: c_int) {}

/// A loop that sleeps for what is left ends, however often signals come.
#[test]
fn sleep_returns_the_whole_seconds_that_are_left() {
    let handler = nothing as *const () as libc::sighandler_t;
    // SAFETY: the handler does nothing.
    unsafe { libc::signal(libc::SIGWINCH, handler) };
    // SAFETY: no arguments.
    let sleeper = unsafe { libc::pthread_self() };
    let over = AtomicBool::new(false);
    let left = thread::scope(|threads| {
        threads.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(10));
                // SAFETY: the sleeper outlives this scope, and a handler is installed.
                assert_eq!(unsafe { libc::pthread_kill(sleeper, libc::SIGWINCH) }, 0);
            }
        });
        let left = raw::sleep(100);
        over.store(true, Ordering::Relaxed);
        left
    });
    // SAFETY: no handler.
    unsafe { libc::signal(libc::SIGWINCH, libc::SIG_DFL) };
    assert!((50..100).contains(&left), "{left}");
}
