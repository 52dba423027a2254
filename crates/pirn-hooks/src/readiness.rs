//! `poll` and `select`, with any number of descriptors.
//!
//! The system is asked first, without waiting. If no descriptor is ready, the fiber waits for the
//! only one, or for an epoll instance with all of them in it, and then asks again. So the result is
//! always the system's own.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_short};
use std::slice;
use std::time::{Duration, Instant};

use libc::{epoll_event, fd_set, nfds_t, pollfd, sigset_t, size_t, timespec, timeval};
use pirn::cancel;
use pirn::dev::hooks::{self, Interest};
use pirn::time::now;

use crate::descriptor::{Call, Ended, ending, errno_of, pause_for, record};
use crate::kernel::{
    self, Outcome, answer_int, call, duration_of, is_blocking, keep_errno,
};
use crate::locks::PAUSES;
use crate::operation::ShortWaits;
use crate::region::is_parking;
use crate::stats::Function;

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn poll(
    list: *mut pollfd,
    count: nfds_t,
    millis: c_int,
) -> c_int {
    let limit = u64::try_from(millis).ok().map(Duration::from_millis);
    // SAFETY: the caller's promise.
    answer_int(unsafe { poll_for(list, count, limit) })
}

/// As `poll`, with a check of the array's size.
///
/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn __poll_chk(
    list: *mut pollfd,
    count: nfds_t,
    millis: c_int,
    size: size_t,
) -> c_int {
    crate::sockets::check((count as usize).saturating_mul(size_of::<pollfd>()), size);
    // SAFETY: the caller's promise.
    unsafe { poll(list, count, millis) }
}

/// As `ppoll`, with a check of the array's size.
///
/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn __ppoll_chk(
    list: *mut pollfd,
    count: nfds_t,
    limit: *const timespec,
    mask: *const sigset_t,
    size: size_t,
) -> c_int {
    crate::sockets::check((count as usize).saturating_mul(size_of::<pollfd>()), size);
    // SAFETY: the caller's promise.
    unsafe { ppoll(list, count, limit, mask) }
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn ppoll(
    list: *mut pollfd,
    count: nfds_t,
    limit: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: the caller's promise.
    let time = unsafe { limit.as_ref() }.map(|limit| duration_of(*limit));
    if !mask.is_null() || time == Some(None) {
        let block = is_parking().then(|| {
            Function::Poll.count_call();
            Function::Poll.blocks_unless_cancelled()
        });
        // The kernel writes the rest of the time, which libc does not.
        // SAFETY: the caller's promise.
        let mut limit = unsafe { limit.as_ref() }.copied();
        let limit = limit
            .as_mut()
            .map_or(std::ptr::null_mut(), std::ptr::from_mut);
        let poll = |_block| call!(SYS_ppoll, list, count, limit, mask, MASK);
        return answer_int(block.transpose().and_then(poll));
    }
    // SAFETY: the caller's promise.
    answer_int(unsafe { poll_for(list, count, time.flatten()) })
}

/// More descriptors than Linux gives a process by default.
const MOST: nfds_t = 1 << 20;

/// The size of a signal mask of the kernel, in bytes.
const MASK: usize = 8;

/// # Safety
/// `list` points to `count` elements.
unsafe fn poll_for(list: *mut pollfd, count: nfds_t, limit: Option<Duration>) -> Outcome {
    let parks = limit != Some(Duration::ZERO) && is_parking();
    let is_list = !list.is_null() && count <= MOST;
    if !parks || (!is_list && count > 0) {
        let limit = limit.map(kernel::timespec_of);
        let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        let mask = std::ptr::null::<sigset_t>();
        return call!(SYS_ppoll, list, count, limit, mask, MASK);
    }
    Function::Poll.count_call();
    let polled = match count {
        0 => &mut [],
        // SAFETY: the caller's promise.
        _ => unsafe { slice::from_raw_parts_mut(list, count as usize) },
    };
    let wanted = polled.iter().map(|one| (one.fd, one.events)).collect();
    let ready = wait_for_any(Function::Poll, limit, wanted, |limit| {
        kernel::poll(polled, limit)
    });
    match (ready, polled) {
        // The only one was closed meanwhile.
        (Err(libc::EBADF), [one]) => {
            one.revents = libc::POLLNVAL;
            Ok(1)
        }
        (ready, _) => ready,
    }
}

/// Blocks the thread, and counts that. A crate that waits so has a runtime of its own, with a
/// context in thread-locals, which another fiber of the thread must not enter.
///
/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn epoll_wait(
    epoll: c_int,
    events: *mut epoll_event,
    most: c_int,
    millis: c_int,
) -> c_int {
    // SAFETY: as libc's.
    unsafe { epoll_pwait(epoll, events, most, millis, std::ptr::null()) }
}

/// As `epoll_wait`.
///
/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn epoll_pwait(
    epoll: c_int,
    events: *mut epoll_event,
    most: c_int,
    millis: c_int,
    mask: *const sigset_t,
) -> c_int {
    let _block = (millis != 0 && is_parking()).then(|| {
        Function::EpollWait.count_call();
        Function::EpollWait.blocks()
    });
    answer_int(call!(
        SYS_epoll_pwait,
        epoll,
        events,
        most,
        millis,
        mask,
        MASK
    ))
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn select(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    except: *mut fd_set,
    limit: *mut timeval,
) -> c_int {
    // SAFETY: the caller's promise.
    let limit = unsafe { limit.as_mut() };
    let time = limit.as_ref().map(|limit| duration_of_timeval(limit));
    if time == Some(None) {
        return answer_int(Err(libc::EINVAL));
    }
    let begun = now();
    // SAFETY: the caller's promise.
    let selected = unsafe { select_for(count, [read, write, except], time.flatten()) };
    // Linux leaves the rest of the time.
    if let (Some(limit), Some(Some(time))) = (limit, time) {
        let left = time.saturating_sub(now() - begun);
        limit.tv_sec = left.as_secs() as i64;
        limit.tv_usec = i64::from(left.subsec_micros());
    }
    answer_int(selected)
}

fn duration_of_timeval(time: &timeval) -> Option<Duration> {
    let seconds = u64::try_from(time.tv_sec).ok()?;
    let micros = u64::try_from(time.tv_usec).ok()?;
    Duration::from_secs(seconds).checked_add(Duration::from_micros(micros))
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pselect(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    except: *mut fd_set,
    limit: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: the caller's promise.
    let time = unsafe { limit.as_ref() }.map(|limit| duration_of(*limit));
    if time == Some(None) {
        return answer_int(Err(libc::EINVAL));
    }
    if !mask.is_null() {
        let block = is_parking().then(|| {
            Function::Select.count_call();
            Function::Select.blocks_unless_cancelled()
        });
        let sets = [read, write, except];
        let select = |_block| select_in_kernel(count, sets, time.flatten(), mask);
        return answer_int(block.transpose().and_then(select));
    }
    // SAFETY: the caller's promise.
    answer_int(unsafe { select_for(count, [read, write, except], time.flatten()) })
}

/// The sets of descriptors to read from, to write to, and with urgent data; each may be null.
type Sets = [*mut fd_set; 3];

fn select_in_kernel(
    count: c_int,
    [read, write, except]: Sets,
    limit: Option<Duration>,
    mask: *const sigset_t,
) -> Outcome {
    let limit = limit.map(kernel::timespec_of);
    let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // The mask and its size, as the kernel takes them.
    let mask = [mask.addr(), MASK];
    call!(
        SYS_pselect6,
        count,
        read,
        write,
        except,
        limit,
        mask.as_ptr()
    )
}

/// # Safety
/// Each set is null, or an `fd_set` with at least `count` bits.
unsafe fn select_for(count: c_int, sets: Sets, limit: Option<Duration>) -> Outcome {
    let none = std::ptr::null();
    if count < 0 || limit == Some(Duration::ZERO) || !is_parking() {
        return select_in_kernel(count, sets, limit, none);
    }
    Function::Select.count_call();
    // Callers may pass a larger count than their sets have bits: the kernel reads no more of them
    // than descriptors may be open.
    if count > FD_SETSIZE {
        let block = Function::Select.blocks_unless_cancelled();
        return block.and_then(|_block| select_in_kernel(count, sets, limit, none));
    }
    // SAFETY: the caller's promise.
    let before = sets.map(|set| unsafe { read_set(set, count) });
    let mut wanted = BTreeMap::new();
    let events = [libc::POLLIN, libc::POLLOUT, libc::POLLPRI];
    for (set, events) in before.iter().zip(events) {
        for fd in set.iter().flat_map(|words| members(words, count)) {
            *wanted.entry(fd).or_insert(0) |= events;
        }
    }
    let wanted = wanted.into_iter().collect();
    wait_for_any(Function::Select, limit, wanted, |limit| {
        for (set, before) in sets.iter().zip(&before) {
            if let Some(before) = before {
                // SAFETY: the caller's promise.
                unsafe { write_set(*set, before) };
            }
        }
        select_in_kernel(count, sets, limit, none)
    })
}

/// The bits of a set by its type.
const FD_SETSIZE: c_int = libc::FD_SETSIZE as c_int;

/// The bits of one word of a set.
const BITS: usize = u64::BITS as usize;

/// Returns the words of a set that have `count` bits.
///
/// # Safety
/// The set is null, or has at least that many.
unsafe fn read_set(set: *const fd_set, count: c_int) -> Option<Vec<u64>> {
    if set.is_null() {
        return None;
    }
    let words = set.cast::<u64>();
    let word = |at| {
        // SAFETY: the caller's promise: the kernel, too, reads whole words.
        unsafe { words.wrapping_add(at).read_unaligned() }
    };
    Some((0..(count as usize).div_ceil(BITS)).map(word).collect())
}

/// # Safety
/// The set has at least as many words.
unsafe fn write_set(set: *mut fd_set, words: &[u64]) {
    // SAFETY: the caller's promise. Two sets of a call may be the same one.
    unsafe { set.cast::<u64>().copy_from(words.as_ptr(), words.len()) };
}

fn members(words: &[u64], count: c_int) -> impl Iterator<Item = c_int> {
    (0..count).filter(|fd| {
        let fd = *fd as usize;
        words[fd / BITS] >> (fd % BITS) & 1 == 1
    })
}

/// Asks the system by `ask`, with a time limit, until the answer is not 0, and parks in between.
fn wait_for_any(
    function: Function,
    limit: Option<Duration>,
    wanted: Vec<(c_int, c_short)>,
    mut ask: impl FnMut(Option<Duration>) -> Outcome,
) -> Outcome {
    cancel::check().map_err(errno_of)?;
    // Transfers on an `O_NONBLOCK` descriptor leave their yields to the next operation, such as
    // this one; a loop of both never waits while there is data.
    if hooks::is_spent() && hooks::is_surely_own_process() {
        keep_errno(pirn::yield_now);
    }
    let until = limit.and_then(|limit| now().checked_add(limit));
    // A signal ends an ask even if its time limit is zero.
    let mut ask = |limit| loop {
        match ask(limit) {
            Err(libc::EINTR) if limit == Some(Duration::ZERO) => {}
            answer => return answer,
        }
    };
    let first = ask(Some(Duration::ZERO))?;
    if first != 0 {
        return Ok(first);
    }
    if wanted.iter().all(|(fd, _)| *fd < 0) {
        if !hooks::is_surely_own_process() {
            let _block = function.blocks();
            return ask(limit);
        }
        function.count_park();
        pause_for(limit.unwrap_or(Duration::MAX))?;
        return ask(Some(Duration::ZERO));
    }
    // Sockets of pirn are `O_NONBLOCK`, and have a registration of their own.
    if let [(fd, events)] = wanted[..]
        && let Some(interest) = side(events)
        && is_blocking(fd)
    {
        let done = wait_for_one(function, (fd, interest), until, &mut ask);
        if let Ok(done) = done {
            return done;
        }
    }
    if let Some(any) = Any::new(wanted)
        && let Ok(done) =
            wait_for_one(function, (any.0, Interest::Readable), until, &mut ask)
    {
        return done;
    }
    ask_again_and_again(function, until, &mut ask)
}

/// Asks until the answer is not 0, and sleeps in between: for what cannot be watched. Linux has
/// room for 500 epoll instances that watch one object and are watched themselves, and a process
/// has room for so many descriptors. A child of `vfork` has no fibers, and blocks.
fn ask_again_and_again(
    function: Function,
    until: Option<Instant>,
    ask: &mut impl FnMut(Option<Duration>) -> Outcome,
) -> Outcome {
    let limit_of = |until: Instant| until.saturating_duration_since(now());
    if !hooks::is_surely_own_process() {
        let _block = function.blocks();
        return ask(until.map(limit_of));
    }
    let (mut pause, longest) = PAUSES;
    loop {
        let ready = ask(Some(Duration::ZERO))?;
        let left = until.map(limit_of);
        if ready != 0 || left == Some(Duration::ZERO) {
            return Ok(ready);
        }
        function.count_park();
        let next = left.map_or(pause, |left| left.min(pause));
        pause_for(next)?;
        pause = longest.min(2 * pause);
    }
}

/// Returns the side of a descriptor that has exactly these events.
fn side(events: c_short) -> Option<Interest> {
    const READS: c_short = libc::POLLIN | libc::POLLRDNORM;
    const WRITES: c_short = libc::POLLOUT | libc::POLLWRNORM;
    // These are always reported.
    match events & !(libc::POLLERR | libc::POLLHUP | libc::POLLNVAL) {
        0 => None,
        wanted if wanted & !READS == 0 => Some(Interest::Readable),
        wanted if wanted & !WRITES == 0 => Some(Interest::Writable),
        _ => None,
    }
}

/// The descriptor cannot be watched.
struct Unwatchable;

/// Asks until the answer is not 0, and waits for one side of a descriptor in between.
fn wait_for_one(
    function: Function,
    (fd, interest): (c_int, Interest),
    until: Option<Instant>,
    ask: &mut impl FnMut(Option<Duration>) -> Outcome,
) -> Result<Outcome, Unwatchable> {
    let record = record(fd).ok_or(Unwatchable)?;
    let (mut call, mut short_waits) = (Call::default(), ShortWaits::default());
    loop {
        let begun = now();
        let seen = match call.look(fd) {
            Ok(seen) => seen.ok_or(Unwatchable)?,
            Err(error) => return Ok(Err(error)),
        };
        let ready = ask(Some(Duration::ZERO));
        if ready != Ok(0) {
            return Ok(ready);
        }
        match record.wait((fd, function), (seen, interest), until) {
            // `select` does not count all that the system reports.
            Ok(()) => match short_waits.record(begun, until) {
                Ok(()) | Err(libc::EAGAIN) => {}
                Err(error) => return Ok(Err(error)),
            },
            Err(Ended::TimedOut) => return Ok(ask(Some(Duration::ZERO))),
            Err(Ended::Failed(error)) => return Ok(Err(error)),
            Err(Ended::Unwatchable) => return Err(Unwatchable),
        }
    }
}

/// An epoll instance that is readable while one of its descriptors is ready.
struct Any(c_int);

impl Any {
    /// `None` if the system has no instance to give, or cannot watch one of the descriptors.
    fn new(wanted: Vec<(c_int, c_short)>) -> Option<Any> {
        let mut merged: BTreeMap<c_int, c_short> = BTreeMap::new();
        for (fd, events) in wanted.into_iter().filter(|(fd, _)| *fd >= 0) {
            *merged.entry(fd).or_insert(0) |= events;
        }
        let epoll = call!(SYS_epoll_create1, libc::EPOLL_CLOEXEC).ok()?;
        let any = Any(epoll as c_int);
        merged
            .into_iter()
            .all(|(fd, events)| any.add(fd, events))
            .then_some(any)
    }

    fn add(&self, fd: c_int, events: c_short) -> bool {
        // The values of `EPOLLIN` and so on are those of `POLLIN` and so on.
        let event = epoll_event {
            events: u32::from(events.cast_unsigned()),
            u64: 0,
        };
        let add = libc::EPOLL_CTL_ADD;
        call!(SYS_epoll_ctl, self.0, add, fd, &raw const event).is_ok()
    }
}

impl Drop for Any {
    fn drop(&mut self) {
        // Failure: there is nothing to lose in it.
        let _ = ending(self.0, || call!(SYS_close, self.0));
    }
}
