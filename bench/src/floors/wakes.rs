//! Floors between two threads.

use std::hint::spin_loop;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::child::{Latency, Stamp, spin_for};
use crate::harness::Summary;

const WAKES: usize = 100;

/// The median over parts of the run: where the two threads share one processor for a
/// while, a round trip takes a time slice.
pub(super) fn cache_line() -> f64 {
    const PARTS: usize = 50;
    const TRIPS: u32 = 1_000;
    const LONGEST: Duration = Duration::from_millis(200);
    const NONE: u32 = 0;
    const THERE: u32 = 1;
    const END: u32 = 2;
    let ball = AtomicU32::new(NONE);
    let wait_until = |is: fn(u32) -> bool| {
        loop {
            let seen = ball.load(Ordering::Acquire);
            if is(seen) {
                return seen;
            }
            spin_loop();
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            while wait_until(|seen| seen != NONE) != END {
                ball.store(NONE, Ordering::Release);
            }
        });
        let part = || {
            let started = Instant::now();
            for _ in 0..TRIPS {
                ball.store(THERE, Ordering::Release);
                wait_until(|seen| seen == NONE);
            }
            started.elapsed().as_nanos() as f64 / f64::from(TRIPS)
        };
        let until = Instant::now() + LONGEST;
        let mut parts = vec![part()];
        while parts.len() < PARTS && Instant::now() < until {
            parts.push(part());
        }
        ball.store(END, Ordering::Release);
        Summary::of(&parts)
            .expect("there is one part at least")
            .median
    })
}

pub(super) fn futex() -> f64 {
    static WORD: AtomicU32 = AtomicU32::new(0);
    let sleep = || {
        while WORD.swap(0, Ordering::Acquire) == 0 {
            futex_call(&WORD, libc::FUTEX_WAIT, 0);
        }
    };
    let wake = || {
        WORD.store(1, Ordering::Release);
        futex_call(&WORD, libc::FUTEX_WAKE, 1);
    };
    wake_latency(&sleep, &wake)
}

fn futex_call(word: &AtomicU32, operation: i32, value: u32) {
    let operation = operation | libc::FUTEX_PRIVATE_FLAG;
    let no_limit = ptr::null::<libc::timespec>();
    // SAFETY: the word is alive for the call, the time limit is null, and the kernel writes
    // to neither.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, value, no_limit) };
}

pub(super) fn eventfd() -> f64 {
    // SAFETY: makes a new descriptor and touches no memory.
    let event = unsafe { libc::eventfd(0, libc::EFD_NONBLOCK) };
    // SAFETY: as above.
    let poller = unsafe { libc::epoll_create1(0) };
    assert!(event >= 0 && poller >= 0, "no descriptors left");
    let edge = (libc::EPOLLIN | libc::EPOLLET) as u32;
    let mut interest = libc::epoll_event {
        events: edge,
        u64: 0,
    };
    // SAFETY: both descriptors are open, `interest` is alive for the call.
    unsafe { libc::epoll_ctl(poller, libc::EPOLL_CTL_ADD, event, &mut interest) };
    let sleep = || {
        let mut ready = libc::epoll_event { events: 0, u64: 0 };
        // SAFETY: space for one event, which is the count passed to the call.
        unsafe { libc::epoll_wait(poller, &mut ready, 1, -1) };
    };
    let wake = || {
        let one = 1u64;
        // SAFETY: reads the eight bytes of `one`.
        unsafe { libc::write(event, ptr::from_ref(&one).cast(), 8) };
    };
    wake_latency(&sleep, &wake)
}

/// Returns the median time from the start of `wake` on this thread to the end of `sleep` on
/// another, which has slept for a while.
fn wake_latency(sleep: &(dyn Fn() + Sync), wake: &(dyn Fn() + Sync)) -> f64 {
    let stamp = Stamp::new();
    let stop = AtomicBool::new(false);
    let mut seen: Vec<u64> = thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Acquire) {
                sleep();
                stamp.mark();
            }
        });
        let once = |last: bool| {
            stamp.clear();
            spin_for(Duration::from_micros(300));
            stop.store(last, Ordering::Release);
            let from = Latency::now();
            wake();
            stamp.spin(from, 10_000_000)
        };
        (0..WAKES).map(|index| once(index + 1 == WAKES)).collect()
    });
    seen.sort_unstable();
    seen[seen.len() / 2] as f64
}
