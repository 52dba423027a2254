//! Planted bugs on fibers, which the sanitizer of this build must report. Ignored by an ordinary
//! run of the tests, since the report ends the process.

/// Two fibers on two workers write one value without any order between them.
#[test]
#[ignore = "ends with a report"]
#[cfg(pirn_tsan)]
#[expect(unsafe_code, reason = "the planted race")]
fn seeded_race_between_two_fibers() {
    use std::sync::atomic::{AtomicUsize, Ordering};

    struct Shared(std::cell::UnsafeCell<u64>);
    // SAFETY: none: this is the bug.
    unsafe impl Sync for Shared {}

    let runtime = crate::executor_kind::runtime(2);
    let shared = Shared(std::cell::UnsafeCell::new(0));
    let arrived = AtomicUsize::new(0);
    let (shared, arrived) = (&shared, &arrived);
    runtime.scope(|s| {
        for _ in 0..2 {
            s.spawn(move || {
                // Both are running, on a worker each, without an order between the two.
                arrived.fetch_add(1, Ordering::Relaxed);
                while arrived.load(Ordering::Relaxed) < 2 {
                    std::hint::spin_loop();
                }
                for _ in 0..1_000 {
                    // SAFETY: none: this is the bug.
                    unsafe { *shared.0.get() += 1 };
                }
            });
        }
    });
}

/// Two futures, polled beside two fibers, write one value without any order between them.
#[test]
#[ignore = "ends with a report"]
#[cfg(pirn_tsan)]
#[expect(unsafe_code, reason = "the planted race")]
fn seeded_race_between_two_polls() {
    use std::sync::atomic::{AtomicUsize, Ordering};

    struct Shared(std::cell::UnsafeCell<u64>);
    // SAFETY: none: this is the bug.
    unsafe impl Sync for Shared {}

    let runtime = crate::executor_kind::runtime(2);
    let shared = Shared(std::cell::UnsafeCell::new(0));
    let arrived = AtomicUsize::new(0);
    let (shared, arrived) = (&shared, &arrived);
    let poll = async || {
        arrived.fetch_add(1, Ordering::Relaxed);
        while arrived.load(Ordering::Relaxed) < 2 {
            std::hint::spin_loop();
        }
        for _ in 0..1_000 {
            // SAFETY: none: this is the bug.
            unsafe { *shared.0.get() += 1 };
        }
    };
    runtime.scope(|s| {
        for _ in 0..2 {
            s.spawn(|| pirn::future::wait(poll()).unwrap());
        }
    });
}

/// A fiber leaks an allocation.
#[test]
#[ignore = "ends with a report"]
#[cfg(pirn_asan)]
fn seeded_leak_on_a_fiber() {
    let runtime = crate::executor_kind::runtime(1);
    let leak = runtime.spawn(|| {
        std::hint::black_box(Box::leak(vec![7_u8; 1_000].into_boxed_slice()).len())
    });
    assert_eq!(leak.join().unwrap(), 1_000);
}

/// A fiber reads memory that another has freed.
#[test]
#[ignore = "ends with a report"]
#[cfg(pirn_asan)]
#[expect(unsafe_code, reason = "the planted use after free")]
fn seeded_use_after_free_between_fibers() {
    let runtime = crate::executor_kind::runtime(1);
    let (tx, rx) = pirn::channel::bounded::<usize>(0);
    let reader = runtime.spawn(move || {
        let address = rx.recv().unwrap();
        // SAFETY: none: this is the bug.
        unsafe { std::ptr::with_exposed_provenance::<u64>(address).read_volatile() }
    });
    runtime.run(move || {
        let value = Box::new(9_u64);
        let address = std::ptr::from_ref(&*value).expose_provenance();
        drop(value);
        tx.send(address).unwrap();
    });
    assert_ne!(reader.join().unwrap(), 9);
}

/// Two fibers of one worker initialize one `thread_local!`. `std` drops the value of the second one
/// when the initializer of the first one ends, though the second fiber has a reference to it. All
/// of this is safe code; the crate's documentation warns of it.
#[test]
#[ignore = "ends with a report"]
#[cfg(pirn_asan)]
fn seeded_use_of_a_thread_local_that_waits() {
    use std::cell::Cell;

    std::thread_local! {
        static ENTERED: Cell<usize> = const { Cell::new(0) };
        /// Its initializer waits, the first time.
        static VALUE: Box<u64> = {
            let before = ENTERED.replace(ENTERED.get() + 1);
            while before == 0 && ENTERED.get() < 2 {
                pirn::yield_now();
            }
            Box::new(9)
        };
    }
    let user = || {
        VALUE.with(|value| {
            let inner: &u64 = value;
            (0..10).for_each(|_| pirn::yield_now());
            std::hint::black_box(*inner)
        })
    };
    let one_thread = pirn::Runtime::builder().workers(1).max_threads(1);
    one_thread.build().unwrap().scope(|s| {
        let both = [s.spawn(user), s.spawn(user)];
        assert_eq!(both.map(|fiber| fiber.join().unwrap()), [9, 9]);
    });
}

/// A fiber writes past the end of an array on its stack.
#[test]
#[ignore = "ends with a report"]
#[cfg(pirn_asan)]
#[expect(unsafe_code, reason = "the planted overrun")]
fn seeded_overrun_on_a_fiber_stack() {
    let runtime = crate::executor_kind::runtime(1);
    let overrun = runtime.spawn(|| {
        let mut array = std::hint::black_box([0_u8; 16]);
        let end = std::hint::black_box(16);
        // SAFETY: none: this is the bug.
        unsafe { array.as_mut_ptr().add(end).write_volatile(1) };
        std::hint::black_box(array)[3]
    });
    assert_eq!(overrun.join().unwrap(), 0);
}

/// A future that is polled beside its fiber leaks an allocation.
#[test]
#[ignore = "ends with a report"]
#[cfg(pirn_asan)]
fn seeded_leak_in_a_poll() {
    let runtime = crate::executor_kind::runtime(1);
    let poll = async {
        std::hint::black_box(Box::leak(vec![7_u8; 1_000].into_boxed_slice()).len())
    };
    let leak = runtime.spawn(|| pirn::future::wait(poll).unwrap());
    assert_eq!(leak.join().unwrap(), 1_000);
}
