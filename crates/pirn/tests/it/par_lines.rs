//! Reports on work in parallel name the line that requested it.

use std::collections::BTreeSet;
use std::panic::Location;
use std::sync::Mutex;

use pirn::par;
use pirn::runtime::Handle;
use pirn::sync::Barrier;
use pirn::{Interrupt, Runtime};

/// Returns where the fibers of the current runtime were spawned.
fn told() -> BTreeSet<&'static Location<'static>> {
    let fibers = Handle::current().fibers();
    fibers.into_iter().map(|fiber| fiber.spawned_at).collect()
}

/// Halves that wait for each other are two fibers. Both, and the fiber that does the work for a
/// plain thread, are reported with the line of the call, not with one of the library.
// Proves: O9.
#[test]
fn work_is_reported_by_its_callers_line() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let seen = Mutex::new(BTreeSet::<&Location<'_>>::new());
    let both = Barrier::new(2);
    let meet = || {
        both.wait();
        seen.lock().unwrap().extend(told());
        both.wait();
    };
    let work: [&(dyn Fn() + Sync); 6] = [
        &|| {
            par::join(meet, meet);
        },
        &|| par::for_each(0..2, |_| meet()),
        &|| drop(par::map(0..2, |_| meet())),
        &|| {
            let _ = par::try_map(0..2, |_| {
                meet();
                Ok::<(), Interrupt>(())
            });
        },
        &|| par::map_reduce(0..2, || (), |_| meet(), |(), ()| ()),
        &|| {
            let _ = par::find_any(0..2, |_| {
                meet();
                false
            });
        },
    ];
    for work in work {
        runtime.handle().enter(work);
        runtime.run(work);
    }
    runtime.handle().enter(|| {
        let mut numbers = [1, 2, 3];
        par::sort_by(&mut numbers, |a, b| {
            seen.lock().unwrap().extend(told());
            a.cmp(b)
        });
        par::scan(&mut numbers, |a, b| {
            seen.lock().unwrap().extend(told());
            a + b
        });
    });
    let seen = seen.into_inner().unwrap();
    assert!(seen.len() >= 8, "{seen:?}");
    assert!(seen.iter().all(|at| at.file() == file!()), "{seen:?}");
}
