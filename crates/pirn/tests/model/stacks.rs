//! Stacks that run out and come back.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use pirn::{spawn, yield_now};

use crate::rig::{explore, thread};

/// More fibers than stacks, from fibers and from outside: all run.
#[test]
fn fewer_stacks_than_fibers() {
    explore(|world| {
        let runtime = world.builder().max_stacks(2).build().expect("a runtime");
        let ran = Arc::new(AtomicU32::new(0));
        let body = |ran: &Arc<AtomicU32>| {
            let ran = Arc::clone(ran);
            move || {
                yield_now();
                ran.fetch_add(1, Ordering::Relaxed);
            }
        };
        let outside = {
            let (handle, body) = (runtime.handle(), body(&ran));
            thread(move || drop(handle.spawn(body)))
        };
        let spawner = {
            let bodies = [0, 1, 2].map(|_| body(&ran));
            runtime.spawn(move || bodies.map(|body| drop(spawn(body))))
        };
        spawner.join().expect("it spawns");
        outside.join().expect("it spawns");
        drop(runtime);
        assert_eq!(ran.load(Ordering::Relaxed), 4);
    });
}
