//! The high-water mark of stacks, and the advice on their size.

use std::hint::black_box;

use pirn::Runtime;
use pirn::diag::FiberInfo;
use pirn::spawn::{Builder, park_interruptible};

use crate::util::{SCHEDULERS, eventually};

/// Touches `N` bytes and no more than a few pages below them, in builds of any kind.
#[inline(never)]
fn touch<const N: usize>() {
    // A variable: the array alone would be a constant of the program.
    let bytes = [1_u8; N];
    black_box(&bytes);
}

/// The deepest use of the stacks is found while the fiber runs and when it has ended, and a size
/// that leaves little room is to be raised. A fiber with a size of its own does not count.
// Proves: P4.
#[test]
fn the_deepest_use_is_reported() {
    const KIB: usize = 1 << 10;
    for scheduler in SCHEDULERS {
        let builder = Runtime::builder().workers(2).scheduler(scheduler);
        let runtime = builder.stack_size(512 * KIB).build().unwrap();
        runtime.spawn(|| ()).join().unwrap();
        let shallow = runtime.stack_use();
        assert_eq!(shallow.size, 512 * KIB);
        assert!(shallow.stacks > 0 && shallow.touched > 0, "{shallow:?}");
        assert!(shallow.touched < 128 * KIB, "{shallow:?}");
        assert_eq!(shallow.suggested_size(), None, "{shallow}");

        let large = Builder::new().stack_size(4 << 20);
        let large = runtime.enter(|| large.spawn(touch::<{ 3 << 20 }>).unwrap());
        large.join().unwrap();
        assert!(runtime.stack_use().touched < 128 * KIB);

        let fiber = runtime.spawn(|| {
            touch::<{ 200 * KIB }>();
            let _ = park_interruptible();
        });
        let mut touched = 0;
        eventually("it has parked", || {
            let fibers = runtime.fibers();
            let parked = |info: &&FiberInfo| info.reason.is_some();
            touched = fibers.iter().find(parked).map_or(0, |it| it.stack_touched);
            touched > 0
        });
        let deep = 200 * KIB..=328 * KIB;
        assert!(deep.contains(&touched), "{touched} bytes of its stack");
        assert!(deep.contains(&runtime.stack_use().touched));
        fiber.fiber().unpark();
        fiber.join().unwrap();
        let deeper = runtime.stack_use();
        assert!(deep.contains(&deeper.touched), "{deeper:?}");
        assert_eq!(deeper.suggested_size(), None, "{deeper}");

        runtime.spawn(touch::<{ 390 * KIB }>).join().unwrap();
        let deepest = runtime.stack_use();
        assert!(deepest.touched >= 390 * KIB, "{deepest:?}");
        assert_eq!(deepest.suggested_size(), Some(1 << 20));
        let mut dump = Vec::new();
        runtime.dump(&mut dump).unwrap();
        let dump = String::from_utf8_lossy(&dump);
        let line = format!("  stacks: {deepest}");
        assert!(dump.lines().any(|it| it == line), "no `{line}` in {dump}");
        assert!(line.ends_with("; set stack_size to 1048576"), "{line}");
    }
}

/// A thousand stacks that are hardly used may be smaller, until one of them is used.
// Proves: P4.
#[test]
fn many_shallow_stacks_may_be_smaller() {
    const FIBERS: usize = 1_000;
    const MIB: usize = 1 << 20;
    let builder = Runtime::builder().workers(1).stack_size(MIB);
    let runtime = builder.build().unwrap();
    let fibers: Vec<_> = (0..FIBERS)
        .map(|_| runtime.spawn(park_interruptible))
        .collect();
    let parked = || runtime.metrics().total.fiber_parks >= FIBERS as u64;
    eventually("all of them have parked", parked);
    let stacks = runtime.stack_use();
    assert!(stacks.stacks >= FIBERS, "{stacks:?}");
    let smaller = stacks.suggested_size().expect("a smaller size");
    assert!(smaller < MIB && smaller >= 4 * stacks.touched, "{stacks}");
    let advice = format!("; a stack_size of {smaller} would do");
    assert!(stacks.to_string().ends_with(&advice), "{stacks}");
    runtime.spawn(touch::<{ 600 << 10 }>).join().unwrap();
    let stacks = runtime.stack_use();
    assert!(stacks.touched >= 600 << 10, "{stacks}");
    assert_eq!(stacks.suggested_size(), None, "{stacks}");
    for fiber in fibers {
        fiber.fiber().unpark();
        fiber.join().unwrap().unwrap();
    }
}
