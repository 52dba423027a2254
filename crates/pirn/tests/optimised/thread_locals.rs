//! Thread-locals on both sides of a suspension point belong to the same thread, under any
//! optimisation. To be built with fat LTO and one codegen unit (profile `fat`), which is where
//! compilers merge two apparent reads of one address.
//!
//! The controls suspend a function on one thread and resume it on another, which pirn never does,
//! and find the stale address: a suite that cannot detect the fault would find none.
//!
//! In this build the frames of waiting fibers are read too, since the compiler keeps values in
//! registers and leaves out frame pointers.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pirn::Runtime;

thread_local! {
    /// Set once by each worker to a number of its own.
    static NUMBER: Cell<usize> = const { Cell::new(0) };
    /// Initialized at first use, as most thread-locals are.
    static LAZY: Cell<usize> = Cell::new(NUMBER.get());
    /// The address of this thread's random generator.
    static GENERATOR: Cell<usize> = const { Cell::new(0) };
}

/// Opaque to the optimiser.
#[inline(never)]
fn opaque<T>(value: &T) -> usize {
    std::hint::black_box(std::ptr::from_ref(value).addr())
}

/// The address behind a handle to the thread's random generator.
#[expect(
    unsafe_code,
    reason = "a handle is one pointer, and the pointer is what tells"
)]
fn identity(generator: &rand::rngs::ThreadRng) -> usize {
    const { assert!(size_of::<rand::rngs::ThreadRng>() == size_of::<usize>()) };
    // SAFETY: of the same size, checked above, and read only.
    unsafe { std::mem::transmute_copy(generator) }
}

/// Reads every kind of thread-local before and after a yield, in one function. Returns how many did
/// not belong to the reading thread.
#[inline(never)]
fn look_around_a_yield(round: usize) -> usize {
    use rand::RngCore as _;

    let mut generator = rand::rng();
    let before = (
        NUMBER.get(),
        NUMBER.with(opaque),
        LAZY.with(opaque),
        identity(&generator),
        std::thread::current().id(),
    );
    if round == 0 {
        pirn::spawn(|| ()).join().expect("it does not panic");
    } else {
        pirn::yield_now();
    }
    generator.next_u32();
    let after = (
        NUMBER.get(),
        NUMBER.with(opaque),
        LAZY.with(opaque),
        identity(&rand::rng()),
        std::thread::current().id(),
    );
    // The value at the address must equal the thread's own value.
    let known = GENERATOR.get();
    GENERATOR.set(after.3);
    usize::from(before != after)
        + usize::from(LAZY.get() != NUMBER.get())
        + usize::from(known != 0 && known != after.3)
}

/// Hazard 1, 3. A million suspensions of fibers of which a hundred were started by another worker:
/// each thread-local has the same value before and after.
// Proves: F17.
#[test]
fn thread_locals_stay_on_their_thread() {
    // No more than fit the spawner's own queue, from which others steal.
    const FIBERS: usize = 200;
    const ROUNDS: usize = 250;
    static WORKERS: AtomicUsize = AtomicUsize::new(0);
    let runtime = Runtime::builder()
        .workers(2)
        .on_thread_start(|| NUMBER.set(WORKERS.fetch_add(1, Ordering::Relaxed) + 1))
        .build()
        .expect("a runtime starts");
    let wrong = Arc::new(AtomicUsize::new(0));
    let mut suspensions = 0;
    loop {
        runtime.run(|| {
            let all: Vec<_> = (0..FIBERS)
                .map(|_| {
                    let wrong = Arc::clone(&wrong);
                    pirn::spawn(move || {
                        let found = (0..ROUNDS).map(look_around_a_yield).sum::<usize>();
                        wrong.fetch_add(found, Ordering::Relaxed);
                    })
                })
                .collect();
            all.into_iter()
                .for_each(|fiber| fiber.join().expect("it does not panic"));
        });
        suspensions += FIBERS * ROUNDS;
        let total = runtime.metrics().total;
        let elsewhere = total.stolen + total.placed_elsewhere;
        // On a busy machine thieves may need longer to steal.
        if suspensions >= 1_000_000 && elsewhere >= 100 {
            break;
        }
        assert!(
            suspensions < 20_000_000,
            "{} of {} started elsewhere",
            elsewhere,
            total.started
        );
    }
    assert_eq!(wrong.load(Ordering::Relaxed), 0, "of {suspensions}");
}

/// A function that is suspended on one thread and resumed on another.
struct Migrating(corosensei::Coroutine<(), (), usize>);

/// Waits some frames below its caller, with values that it needs afterwards.
#[inline(never)]
fn three_frames_deep(rx: &pirn::channel::Receiver<u8>, depth: u64) -> u64 {
    let (a, b, c) = (opaque(&depth), opaque(&rx), opaque(rx));
    let below = match depth {
        0 => u64::from(rx.recv().is_err()),
        _ => three_frames_deep(rx, depth - 1),
    };
    assert_eq!((opaque(&depth), opaque(&rx), opaque(rx)), (a, b, c));
    below + depth
}

/// Optimised code has the frames of its waiting fibers in reports, and resumes unharmed, however
/// often they were taken.
// Proves: P4-frames.
#[test]
#[cfg(all(target_arch = "x86_64", not(feature = "corosensei")))]
fn waiting_fibers_have_frames() {
    let runtime = Runtime::builder()
        .workers(1)
        .build()
        .expect("a runtime starts");
    let (tx, rx) = pirn::channel::bounded(0);
    let fiber = runtime.spawn(move || three_frames_deep(&rx, 3));
    let mut found = 0;
    while found < 100 {
        for info in runtime.fibers() {
            if info.reason.is_some() {
                let text = info.backtrace.as_ref().expect("frames").to_string();
                assert_eq!(text.matches("three_frames_deep").count(), 4, "{text}");
                found += 1;
            }
        }
    }
    drop(tx);
    assert_eq!(fiber.join().expect("it does not panic"), 1 + 1 + 2 + 3);
}

#[expect(unsafe_code, reason = "the control does what is forbidden")]
// SAFETY: none: the broken rule is the one that the control must detect. Nothing that it holds over
// its suspension is used for anything but a comparison.
unsafe impl Send for Migrating {}

/// Runs `body`, which suspends itself once, on two threads; returns its result.
fn on_two_threads(body: fn(&corosensei::Yielder<(), ()>) -> usize) -> usize {
    NUMBER.set(1);
    let mut migrating =
        Migrating(corosensei::Coroutine::new(move |yielder, ()| body(yielder)));
    assert!(matches!(
        migrating.0.resume(()),
        corosensei::CoroutineResult::Yield(())
    ));
    let second = std::thread::spawn(move || {
        NUMBER.set(2);
        let mut migrating = migrating;
        match { &mut migrating }.0.resume(()) {
            corosensei::CoroutineResult::Return(found) => found,
            corosensei::CoroutineResult::Yield(()) => unreachable!("it yields once"),
        }
    });
    second.join().expect("it does not panic")
}

/// Reads through an accessor that is merely not inlined, as a first attempt would.
#[inline(never)]
fn naive() -> *const Cell<usize> {
    NUMBER.with(std::ptr::from_ref)
}

/// Reads as pirn's own accessor does: through an instruction that may change the address.
#[inline(never)]
#[expect(unsafe_code, reason = "an empty instruction")]
fn careful() -> *const Cell<usize> {
    let mut here: *const Cell<usize> = NUMBER.with(std::ptr::from_ref);
    // SAFETY: does nothing.
    unsafe {
        std::arch::asm!("/* {0} */", inout(reg) here, options(nostack, preserves_flags));
    }
    here
}

/// The control: a migrated function is caught holding another thread's thread-local, when it reads
/// in line, and through an accessor that the optimiser sees through.
// Proves: F17.
#[test]
#[cfg_attr(debug_assertions, ignore = "only an optimised build keeps the address")]
fn a_naive_access_is_caught() {
    let in_line = on_two_threads(|yielder| {
        let before = NUMBER.with(opaque);
        yielder.suspend(());
        usize::from(NUMBER.with(opaque) == before)
    });
    let through_naive = on_two_threads(|yielder| {
        let before = naive();
        yielder.suspend(());
        usize::from(naive() == before)
    });
    eprintln!("stale in line: {in_line}, through a naive accessor: {through_naive}");
    assert_eq!(
        in_line, 1,
        "the address was read anew: this suite would miss a migration"
    );
}

/// The other half of the control: the careful accessor returns the right address after the same
/// migration.
#[test]
fn the_careful_access_is_not_fooled() {
    let stale = on_two_threads(|yielder| {
        let before = careful();
        yielder.suspend(());
        usize::from(careful() == before)
    });
    assert_eq!(stale, 0);
}
