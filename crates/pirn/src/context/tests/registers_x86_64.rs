//! The switch of this library on x86-64: registers, control words, and the frame of a suspended
//! context.

use std::arch::naked_asm;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::ride::{Ride, Sides, pool};
use crate::context::Context;

/// Sets the callee-saved registers from `seed`, and both floating-point control words, and calls
/// `f(arg)`. Returns how many of these eight values `f` has changed; restores those of the caller.
#[unsafe(naked)]
unsafe extern "C" fn count_changed(
    seed: u64,
    mxcsr: u32,
    x87: u16,
    f: unsafe extern "C" fn(*mut ()),
    arg: *mut (),
) -> u64 {
    naked_asm!(
        "push rbx",
        "push rbp",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "sub rsp, 40",
        "stmxcsr [rsp]",
        "fnstcw [rsp + 4]",
        "mov [rsp + 8], esi",
        "mov [rsp + 12], dx",
        "mov [rsp + 16], rdi",
        "ldmxcsr [rsp + 8]",
        "fldcw [rsp + 12]",
        "lea rbx, [rdi + 1]",
        "lea rbp, [rdi + 2]",
        "lea r12, [rdi + 3]",
        "lea r13, [rdi + 4]",
        "lea r14, [rdi + 5]",
        "lea r15, [rdi + 6]",
        "mov rdi, r8",
        "call rcx",
        "mov rdi, [rsp + 16]",
        "xor eax, eax",
        "xor ecx, ecx",
        "sub rbx, 1",
        "cmp rbx, rdi",
        "setne cl",
        "add eax, ecx",
        "sub rbp, 2",
        "cmp rbp, rdi",
        "setne cl",
        "add eax, ecx",
        "sub r12, 3",
        "cmp r12, rdi",
        "setne cl",
        "add eax, ecx",
        "sub r13, 4",
        "cmp r13, rdi",
        "setne cl",
        "add eax, ecx",
        "sub r14, 5",
        "cmp r14, rdi",
        "setne cl",
        "add eax, ecx",
        "sub r15, 6",
        "cmp r15, rdi",
        "setne cl",
        "add eax, ecx",
        // Bits 0 to 5 of MXCSR are flags of exceptions, which the ABI does not preserve.
        "stmxcsr [rsp + 24]",
        "mov edx, [rsp + 24]",
        "xor edx, [rsp + 8]",
        "test edx, 0xffc0",
        "setne cl",
        "add eax, ecx",
        "fnstcw [rsp + 24]",
        "mov dx, [rsp + 24]",
        "cmp dx, [rsp + 12]",
        "setne cl",
        "add eax, ecx",
        "ldmxcsr [rsp]",
        "fldcw [rsp + 4]",
        "add rsp, 40",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbp",
        "pop rbx",
        "ret",
    )
}

/// Calls `f(arg)` with values in all registers that depend on `round` and `side`.
fn changed(round: u64, side: u64, f: unsafe extern "C" fn(*mut ()), arg: *mut ()) -> u64 {
    let seed = (round << 8 | side).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    // All exceptions masked; the rounding modes of the two sides differ, and change.
    let rounding = ((round + side) % 4) as u16;
    let mxcsr = 0x1f80 | u32::from(rounding) << 13;
    let x87 = 0x037f & !(3 << 8) | (side as u16 * 2) << 8 | rounding << 10;
    // SAFETY: `f` may be called with `arg`, and integer code does not mind the rounding.
    unsafe { count_changed(seed, mxcsr, x87, f, arg) }
}

unsafe extern "C" fn pause(sides: *mut ()) {
    // SAFETY: the test passes the sides of the fiber that runs.
    unsafe { &*sides.cast::<Sides>() }.pause();
}

unsafe extern "C" fn resume(ride: *mut ()) {
    // SAFETY: the test passes its ride.
    unsafe { &mut *ride.cast::<Ride>() }.resume();
}

// Proves: M9.
#[test]
fn each_side_keeps_its_registers_and_control_words() {
    const ROUNDS: u64 = 1_000_000;
    let pool = pool(1);
    let on_fiber = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&on_fiber);
    let mut ride = Ride::new(pool.take().unwrap(), move |sides| {
        let arg = std::ptr::from_ref(sides).cast_mut().cast();
        for round in 0..ROUNDS {
            count.fetch_add(changed(round, 0, pause, arg), Ordering::Relaxed);
        }
    });
    let mut on_thread = 0;
    for round in 0..ROUNDS {
        on_thread += changed(round, 1, resume, (&raw mut ride).cast());
    }
    assert!(!ride.resume());
    assert_eq!((on_fiber.load(Ordering::Relaxed), on_thread), (0, 0));
    pool.give(ride.finish());
}

#[test]
fn the_check_itself_sees_a_change() {
    unsafe extern "C" fn nothing(_: *mut ()) {}
    #[unsafe(naked)]
    unsafe extern "C" fn spoil(_: *mut ()) {
        naked_asm!(
            "not rbx",
            "not r15",
            "push 0x3f80",
            "ldmxcsr [rsp]",
            "mov dword ptr [rsp], 0x37e",
            "fldcw [rsp]",
            "pop rax",
            "ret",
        )
    }
    assert_eq!(changed(1, 0, nothing, std::ptr::null_mut()), 0);
    assert_eq!(changed(1, 1, spoil, std::ptr::null_mut()), 4);
}

#[test]
fn a_suspended_context_says_where_it_stands() {
    let pool = pool(1);
    let mut ride = Ride::new(pool.take().unwrap(), |sides| sides.pause());
    let range = ride.stack().range();
    // SAFETY: here and below: only this thread resumes it, and it is suspended or has been left.
    let frame = |context: &Context| unsafe { context.frame() };
    let prepared = frame(ride.context()).expect("a prepared context");
    assert!(range.contains(&prepared.sp) && prepared.sp.is_multiple_of(16));
    assert_eq!(prepared.fp, 0, "the chain of frames ends here");
    assert!(ride.resume());
    let paused = frame(ride.context()).expect("a suspended context");
    assert!(range.contains(&paused.sp) && paused.sp < prepared.sp);
    assert_ne!(paused.ip, prepared.ip);
    assert!(!ride.resume());
    assert_eq!(frame(ride.context()), None, "it has been left");
    pool.give(ride.finish());
}
