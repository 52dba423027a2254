//! With the feature `diagnostics`: a damaged stack is detected at the next switch, and its fiber
//! named.

use std::ptr;

use pirn::Runtime;
use pirn::dev::running_stack;
use pirn::spawn::Builder;

use crate::util::{apart, on_every_shape};

/// A fiber that has overwritten the low end of its stack is named at its next switch: when it
/// yields, waits, or ends.
// Proves: P11 (checked), P12 (checked).
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

/// If one fiber damages the stack of another, suspended one, that is named before it resumes.
// Proves: P12 (checked).
#[test]
fn a_suspended_fiber_with_a_damaged_stack_does_not_resume() {
    let name = "checks::a_suspended_fiber_with_a_damaged_stack_does_not_resume";
    let ended = apart(name, &[], || {
        let runtime = Runtime::builder().workers(1).build().unwrap();
        let (tx, rx) = pirn::channel::bounded(1);
        let victim = move || {
            tx.send(running_stack().unwrap().start).unwrap();
            pirn::park();
            eprintln!("it has resumed");
        };
        let named = Builder::new().name("victim");
        runtime.run(|| {
            let victim = named.spawn(victim).unwrap();
            let start = rx.recv().unwrap();
            // Until it has parked.
            pirn::yield_now();
            let lowest = ptr::with_exposed_provenance_mut::<u8>(start + 5);
            // SAFETY: the lowest bytes of the stack of a suspended fiber, where no frame is.
            unsafe { lowest.write_volatile(1) };
            victim.fiber().unpark();
            victim.join().unwrap();
        });
    });
    let Some(ended) = ended else { return };
    assert!(!ended.status.success());
    let said = &ended.stderr;
    assert!(said.contains("'victim' (spawned at "), "{said}");
    assert!(said.contains("its canary is gone"), "{said}");
    assert!(!said.contains("it has resumed"), "{said}");
}

/// Calls `f` on the memory below `top`, in place of the caller's stack.
///
/// # Safety
/// `f` may use all memory that it needs there, and does not return by a panic.
#[cfg(target_arch = "x86_64")]
unsafe fn call_below(top: usize, f: extern "C" fn()) {
    // SAFETY: the stack pointer is restored; `f` keeps to the conventions of C.
    unsafe {
        std::arch::asm!(
            "mov r12, rsp",
            "mov rsp, {top}",
            "call {f}",
            "mov rsp, r12",
            top = in(reg) top,
            f = in(reg) f,
            out("r12") _,
            clobber_abi("C"),
        );
    }
}

/// A fiber that runs on other memory than its stack is named at its next switch, whichever side of
/// the stack that memory is on.
// Proves: P12 (checked).
#[cfg(target_arch = "x86_64")]
#[test]
fn a_fiber_off_its_stack_is_found() {
    const SIZE: usize = 256 << 10;
    /// In the data of the program, below all memory that is mapped later.
    static mut LOW: [u128; SIZE / 16] = [0; SIZE / 16];
    extern "C" fn leave() {
        pirn::yield_now();
    }
    for way in ["0", "1"] {
        let name = "checks::a_fiber_off_its_stack_is_found";
        let ended = apart(name, &[("PIRN_TEST_WAY", way)], || {
            // Mapped before the stack of the fiber, so above it on most systems.
            let mut high = vec![0_u128; 64 * SIZE / 16];
            let base = match std::env::var("PIRN_TEST_WAY").as_deref() {
                Ok("0") => (&raw mut LOW).addr(),
                _ => high.as_mut_ptr().addr(),
            };
            let runtime = Runtime::builder().workers(1).build().unwrap();
            let body = move || {
                let stack = running_stack().unwrap();
                eprintln!("below: {}", base < stack.start);
                // SAFETY: memory that nothing else uses.
                unsafe { call_below(base + SIZE, leave) };
            };
            let named = Builder::new().name("astray");
            runtime.run(|| named.spawn(body).unwrap().join().unwrap());
        });
        let Some(ended) = ended else { return };
        let said = &ended.stderr;
        assert!(!ended.status.success(), "{said}");
        assert!(said.contains("'astray' (spawned at "), "{said}");
        assert!(said.contains("runs outside of its stack"), "{said}");
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
