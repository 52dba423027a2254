//! Threads of a pool like that for I/O: created on demand, ended when idle.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::dispatcher::Dispatcher;
use crate::runtime::Builder;
use crate::shim;

/// Polls until `condition` holds, for a minute at most.
fn eventually(what: &str, condition: impl Fn() -> bool) {
    let limit = shim::now() + Duration::from_secs(60);
    while !condition() {
        assert!(shim::now() < limit, "not in time: {what}");
        shim::thread::yield_now();
    }
}

/// Threads start and end all the time, just when fibers are submitted; each fiber runs once.
// Proves: L2.
#[test]
fn threads_that_leave_lose_nothing() {
    for keep in [0, 50, 1_000] {
        let (started, stopped) =
            (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (starts, stops) = (Arc::clone(&started), Arc::clone(&stopped));
        let pool = Builder::new()
            .name("pirn-brief")
            .workers(4)
            .one_fiber_each(Duration::from_micros(keep))
            .on_thread_start(move || _ = starts.fetch_add(1, Ordering::SeqCst))
            .on_thread_stop(move || _ = stops.fetch_add(1, Ordering::SeqCst))
            .pool()
            .expect("a pool");
        let brief = Dispatcher::lent(Arc::clone(&pool));
        for n in 0..500 {
            if n % 10 == 0 {
                let all =
                    || started.load(Ordering::SeqCst) == stopped.load(Ordering::SeqCst);
                eventually("all threads have left", all);
            }
            let fibers: Vec<_> = (0..n % 7).map(|i| brief.spawn(move || i)).collect();
            assert_eq!(brief.run(|| n), n);
            for (i, fiber) in fibers.into_iter().enumerate() {
                assert_eq!(fiber.join().expect("it runs"), i);
            }
        }
        assert!(started.load(Ordering::SeqCst) >= 50);
        pool.drain();
        assert_eq!(
            started.load(Ordering::SeqCst),
            stopped.load(Ordering::SeqCst)
        );
    }
}
