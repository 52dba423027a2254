//! Floors of one thread alone.

use std::hint::black_box;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use corosensei::{Coroutine, CoroutineResult};

pub(super) fn plain_call() -> f64 {
    #[inline(never)]
    fn callee(value: u64) -> u64 {
        black_box(value)
    }
    per_step(4_000_000, || {
        black_box(callee(1));
    })
}

pub(super) fn read_modify_write() -> f64 {
    let counter = AtomicU64::new(0);
    per_step(2_000_000, || {
        counter.fetch_add(1, Ordering::Relaxed);
    })
}

pub(super) fn clock_read() -> f64 {
    per_step(500_000, || {
        black_box(Instant::now());
    })
}

pub(super) fn switch_pair() -> f64 {
    let mut coroutine = Coroutine::new(|yielder, mut go_on: bool| {
        while go_on {
            go_on = yielder.suspend(());
        }
    });
    let nanos = per_step(2_000_000, || {
        black_box(coroutine.resume(true));
    });
    assert!(matches!(
        coroutine.resume(false),
        CoroutineResult::Return(())
    ));
    nanos
}

pub(super) fn page_fault() -> f64 {
    const PAGE: usize = 4096;
    const PAGES: usize = 16_384;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: asks for fresh memory at any address; touches no existing mapping.
    let base =
        unsafe { libc::mmap(ptr::null_mut(), PAGES * PAGE, protection, flags, -1, 0) };
    assert_ne!(base, libc::MAP_FAILED, "no memory for the page faults");
    // SAFETY: the range is the mapping made above.
    unsafe { libc::madvise(base, PAGES * PAGE, libc::MADV_NOHUGEPAGE) };
    let mut page = base.cast::<u8>();
    let nanos = per_step(PAGES as u64, || {
        // SAFETY: `page` stays inside the writable mapping: it advances once a step, and
        // there are as many steps as pages.
        unsafe { page.write_volatile(1) };
        page = page.wrapping_add(PAGE);
    });
    // SAFETY: the mapping made above, which nothing refers to any more.
    unsafe { libc::munmap(base, PAGES * PAGE) };
    nanos
}

fn per_step(steps: u64, mut step: impl FnMut()) -> f64 {
    let started = Instant::now();
    for _ in 0..steps {
        step();
    }
    started.elapsed().as_nanos() as f64 / steps as f64
}
