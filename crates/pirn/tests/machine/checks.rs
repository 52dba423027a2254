//! With the feature `diagnostics`: a damaged stack is detected at the next switch, and its fiber
//! named.

use std::ptr;

use pirn::Runtime;
use pirn::dev::running_stack;
use pirn::spawn::Builder;

use crate::util::{apart, on_every_shape};

/// A fiber that has overwritten the low end of its stack is named at its next switch: when it
/// yields, waits, or ends.
// Proves: P12 (checked).
#[test]
fn a_damaged_stack_is_found() {
    let leaves: [fn(); 3] = [
        pirn::yield_now,
        || pirn::sleep(std::time::Duration::from_millis(1)).unwrap(),
        || (),
    ];
    for way in ["0", "1", "2"] {
        let name = "checks::a_damaged_stack_is_found";
        let ended = apart(name, &[("PIRN_TEST_WAY", way)], || {
            let way = std::env::var("PIRN_TEST_WAY").unwrap();
            let leave = leaves[way.parse::<usize>().unwrap()];
            let runtime = Runtime::builder().workers(1).build().unwrap();
            let body = move || {
                let stack = running_stack().unwrap();
                let lowest = ptr::with_exposed_provenance_mut::<u8>(stack.start + 5);
                // SAFETY: the lowest bytes of this fiber's own stack, where no frame is.
                unsafe { lowest.write_volatile(1) };
                leave();
            };
            let named = Builder::new().name("clumsy");
            runtime.run(|| named.spawn(body).unwrap().join().unwrap());
        });
        let Some(ended) = ended else { return };
        assert!(!ended.status.success());
        let said = &ended.stderr;
        assert!(said.contains("'clumsy' (spawned at "), "{said}");
        assert!(said.contains("its canary is gone"), "{said}");
    }
}

/// An intact fiber is not named: through yields, waits, deep frames and stacks that one fiber after
/// another uses.
// Proves: P11 (checked), P12 (checked).
#[test]
fn sound_stacks_pass() {
    fn deep(n: usize) -> usize {
        let room = std::hint::black_box([n as u8; 512]);
        if n == 0 {
            0
        } else {
            usize::from(room[7] > 0) + deep(n - 1)
        }
    }
    on_every_shape(|runtime| {
        runtime.scope(|s| {
            for n in 0..200 {
                s.spawn(move || {
                    pirn::yield_now();
                    deep(n % 100);
                    pirn::sleep(std::time::Duration::from_micros(100)).unwrap();
                });
            }
        });
    });
}
