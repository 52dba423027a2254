//! With the feature `diagnostics`: a damaged stack, and a fiber that runs off its stack, are
//! detected at the next switch, and the fiber is named.

#[cfg(target_arch = "x86_64")]
use std::ops::Range;
use std::ptr;

use pirn::Runtime;
#[cfg(target_arch = "x86_64")]
use pirn::channel::Receiver;
use pirn::channel::bounded;
use pirn::dev::running_stack;
use pirn::spawn::Builder;

use crate::util::{apart, on_every_shape};

/// A runtime with one worker, where fibers settle or, if `free`, may migrate.
fn one_worker(free: bool) -> Runtime {
    let mut builder = Runtime::builder().workers(1);
    if free {
        // SAFETY: the fibers of these tests keep nothing of a thread over a wait.
        builder = unsafe { builder.free_migration() };
    }
    builder.build().unwrap()
}

/// A fiber that has overwritten the low end of its stack is named at its next switch: when it
/// yields, waits, or ends, with and without migration.
// Proves: P11 (checked), P12 (checked).
#[test]
fn a_damaged_stack_is_found() {
    let leaves: [fn(); 3] = [
        pirn::yield_now,
        || pirn::sleep(std::time::Duration::from_millis(1)).unwrap(),
        || (),
    ];
    for way in ["0", "1", "2", "3", "4", "5"] {
        let name = "checks::a_damaged_stack_is_found";
        let ended = apart(name, &[("PIRN_TEST_WAY", way)], || {
            let way = std::env::var("PIRN_TEST_WAY").unwrap();
            let way = way.parse::<usize>().unwrap();
            let leave = leaves[way % 3];
            let runtime = one_worker(way >= 3);
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

/// If another fiber has damaged the stack of a suspended one, that one is named before it resumes.
// Proves: P12 (checked).
#[test]
fn a_suspended_fiber_with_a_damaged_stack_does_not_resume() {
    let name = "checks::a_suspended_fiber_with_a_damaged_stack_does_not_resume";
    let ended = apart(name, &[], || {
        let runtime = Runtime::builder().workers(1).build().unwrap();
        let (tx, rx) = bounded(1);
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
/// The memory below `top` is unused and suffices for `f`, which does not unwind.
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

/// Returns the stacks of eight new fibers. They wait until the channel closes, with frames at the
/// high ends of their stacks.
#[cfg(target_arch = "x86_64")]
fn eight_more(closed: &Receiver<()>) -> Vec<Range<usize>> {
    let (tx, rx) = bounded(1);
    let one = |_| {
        let (tx, closed) = (tx.clone(), closed.clone());
        drop(pirn::spawn(move || {
            tx.send(running_stack().unwrap()).unwrap();
            assert!(closed.recv().is_err());
        }));
        rx.recv().unwrap()
    };
    (0..8).map(one).collect()
}

/// A fiber that runs on other memory than its stack is named when it yields or waits, whichever side
/// of the stack that memory is on: far away, or the nearest stack of another fiber.
// Proves: P12 (checked).
#[cfg(target_arch = "x86_64")]
#[test]
fn a_fiber_off_its_stack_is_found() {
    const SIZE: usize = 64 << 10;
    /// In the data of the program, below all memory that is mapped later.
    static mut LOW: [u128; SIZE / 16] = [0; SIZE / 16];
    extern "C" fn yields() {
        pirn::yield_now();
    }
    extern "C" fn waits() {
        pirn::sleep(std::time::Duration::from_millis(1)).unwrap();
    }
    let leaves: [extern "C" fn(); 2] = [yields, waits];
    for way in 0..16_usize {
        let name = "checks::a_fiber_off_its_stack_is_found";
        let text = way.to_string();
        let ended = apart(name, &[("PIRN_TEST_WAY", &text)], || {
            let way = std::env::var("PIRN_TEST_WAY").unwrap();
            let way: usize = way.parse().unwrap();
            // Each way to leave, in each of four memories.
            let (leave, memory) = (leaves[way % 2], way / 2 % 4);
            // Mapped before the stack of the fiber, so above it on most systems.
            let mut high = vec![0_u128; 256 * SIZE / 16];
            let high = high.as_mut_ptr().addr();
            let (gate, closed) = bounded::<()>(0);
            let body = move |older: Vec<Range<usize>>, closed: &Receiver<()>| {
                let own = running_stack().unwrap();
                let others = [older, eight_more(closed)].concat();
                let below = others.iter().filter(|other| other.end <= own.start);
                let above = others.iter().filter(|other| other.start >= own.end);
                let top = match memory {
                    0 => (&raw mut LOW).addr() + SIZE,
                    1 => high + SIZE,
                    2 => below.map(|other| other.end - SIZE).max().unwrap(),
                    _ => above.map(|other| other.start + SIZE).min().unwrap(),
                };
                eprintln!("at {top:#x}, beside {own:#x?}");
                // SAFETY: memory that nothing else uses: a waiting fiber uses less than `SIZE` at
                // the high end of its stack.
                unsafe { call_below(top, leave) };
            };
            one_worker(way >= 8).run(move || {
                let older = eight_more(&closed);
                let named = Builder::new().name("astray");
                let fiber = named.spawn(move || body(older, &closed));
                fiber.unwrap().join().unwrap();
                drop(gate);
            });
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
