//! The switch on x86-64, System V calling convention.
//!
//! A suspended context is one address: the top of the words that the switch pushed.
//!
//! ```text
//!  suspended                      prepared, never run
//!  |   frames of the caller |     | 0                     |  end of the frame chain
//!  | resume address         |     | arg                   |
//!  | rbp                    |     | address of first_frame|
//!  | rbx                    |     | 0 (rbp)               |
//!  | x87 control | MXCSR    |     | entry (rbx)           |
//!  +------------------------+ sp  | defaults              |
//!                                 +-----------------------+ sp
//! ```
//!
//! Inline assembly is used, not a function (naked or not) that is called. The processor predicts
//! returns by a stack of its own, which a call in each switch puts out of step. Per resume and
//! suspend, without the control words, on Zen 4: inline 2.7 ns, a naked function that jumps 8, one
//! that returns 18. With three calls between the fiber's own code and the switch: inline 6 to 8, a
//! jump 27 to 32, a return 20 to 26. For the same reason a worker's loop should reach the switch
//! without returning from a call between one switch and the next: two such calls cost 35 ns in
//! place of 8. The compiler saves only those of r12 to r15 that are in use; rbx and rbp cannot be
//! named as clobbered and are pushed.
//!
//! The control words of SSE and x87 belong to the callee, so each context has its own. They are
//! stored and loaded every time: 10 ns in place of 2.7 back to back, 11 in place of 7.6 with the
//! three calls. `stmxcsr` alone takes 4 ns, so comparing first and loading only differences gains
//! nothing (13 ns).
//!
//! # Invariants
//! * SX1. While a context is suspended, `sp` points to words as in the picture, and no other code
//!   runs on that stack but a visit, below `sp` (VS1 of `visit`). While it runs, `sp` is stale.

use std::arch::{asm, naked_asm};
use std::mem::offset_of;
use std::ptr;

use super::frame::{Entry, Frame};
use super::sanitizer::{self, Side};
use super::stacks::Stack;

/// A thread of execution that is not running: a fiber's or a worker's own.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Context {
    /// Null until the context is prepared or has been left (SX1).
    sp: *mut Word,
    pub(super) side: Side,
}

// SAFETY: SX1: any thread may resume a suspended context; the code that lets it migrate answers for
// the contents of its frames.
unsafe impl Send for Context {}

type Word = usize;

/// Words of a saved context, from `sp` upwards.
const CONTROL: usize = 0;
const RBX: usize = 1;
const RBP: usize = 2;
const IP: usize = 3;
const SAVED: usize = 4;

/// The values at the start of a process: all exceptions masked, round to nearest, extended
/// precision.
const DEFAULT_CONTROL: Word = 0x037f_0000_1f80;

/// A fiber may switch to another fiber directly.
pub(crate) const DIRECT: bool = true;

impl Context {
    /// Returns an empty context: a worker's own side, which the first switch away fills, or a fiber
    /// that has yet to be prepared.
    pub(crate) const fn empty() -> Context {
        Context {
            sp: ptr::null_mut(),
            side: Side::new(),
        }
    }

    /// Returns the sanitizer's data of a context.
    #[inline(always)]
    pub(super) fn side_of(context: *mut Context) -> *mut Side {
        context.wrapping_byte_add(offset_of!(Context, side)).cast()
    }

    /// Makes the first switch to this context call `entry(arg)` on `stack`.
    ///
    /// # Safety
    /// 1. `stack` stays taken, and is used by nothing else, until the switch away by `exit`
    ///    has ended.
    /// 2. The context stays where it is until then.
    /// 3. `entry` may be called with `arg`, once, on any thread that switches here first.
    #[inline]
    pub(crate) unsafe fn prepare(&mut self, stack: &Stack, entry: Entry, arg: *mut ()) {
        let (entry, arg) = sanitizer::prepare(&mut self.side, stack, entry, arg);
        let top = stack.base().cast::<Word>();
        // SAFETY: 1: the top of an unused stack; far more than 8 words are there.
        let sp = unsafe { top.sub(SAVED + 2) };
        let mut words = [0; SAVED + 2];
        words[CONTROL] = DEFAULT_CONTROL;
        words[RBX] = entry as *const () as Word;
        // Past the first byte, so that an unwinder, which looks one byte back, finds it.
        words[IP] = first_frame as *const () as Word + 1;
        words[SAVED] = arg.expose_provenance();
        // SAFETY: as above.
        unsafe { sp.cast().write(words) };
        self.sp = sp.as_ptr();
    }

    /// Returns a context that resumes at `ip` with the callee's registers of this one, and with its
    /// words `gap` bytes below this one's.
    ///
    /// # Safety
    /// 1. This one is suspended and stays so as long as the result is used.
    /// 2. So much more of its stack is free.
    pub(super) unsafe fn visiting(&self, gap: usize, ip: usize) -> Context {
        // SAFETY: SX1, 1.
        let mut words = unsafe { self.sp.cast::<[Word; SAVED]>().read() };
        words[IP] = ip;
        // SAFETY: 2.
        let sp = unsafe { self.sp.byte_sub(gap + size_of_val(&words)) };
        // SAFETY: 2.
        unsafe { sp.cast::<[Word; SAVED]>().write(words) };
        Context {
            sp,
            side: Side::new(),
        }
    }

    /// Returns a context that resumes at `ip` with these registers, and writes its words below
    /// `sp`, the stack pointer there.
    ///
    /// # Safety
    /// 1. Enough memory below `sp` is the caller's.
    pub(super) unsafe fn imitation(
        sp: *mut Word,
        ip: Word,
        fp: Word,
        bx: Word,
    ) -> Context {
        let mut words = [DEFAULT_CONTROL; SAVED];
        words[RBX] = bx;
        words[RBP] = fp;
        words[IP] = ip;
        // SAFETY: 1.
        let sp = unsafe { sp.sub(SAVED) };
        // SAFETY: 1.
        unsafe { sp.cast::<[Word; SAVED]>().write(words) };
        Context {
            sp,
            side: Side::new(),
        }
    }

    /// Returns where the context resumes; `None` if it was never prepared or left.
    ///
    /// # Safety
    /// The context is suspended and stays so meanwhile, or was never prepared, or was left.
    pub(crate) unsafe fn frame(&self) -> Option<Frame> {
        if self.sp.is_null() {
            return None;
        }
        // SAFETY: SX1.
        let words = unsafe { self.sp.cast::<[Word; SAVED]>().read() };
        let sp = self.sp.addr() + SAVED * size_of::<Word>();
        Some(Frame {
            ip: words[IP],
            sp,
            fp: words[RBP],
        })
    }
}

/// Suspends the running context into `save` and resumes `to`. Returns when some thread switches to
/// `save`.
///
/// # Safety
/// 1. Both point to contexts that stay where they are while they are suspended. Meanwhile no
///    other code writes them, and only a party that keeps them from being resumed reads them.
/// 2. `to` is prepared or suspended, and only the caller may resume it; `save` is not `to`.
/// 3. What the caller keeps over the call may be used on the thread that switches back.
#[inline(always)]
pub(crate) unsafe fn switch(save: *mut Context, to: *mut Context) {
    // SAFETY: 1.
    unsafe { sanitizer::leave(Context::side_of(save), Context::side_of(to)) };
    // SAFETY: SX1, 1, 2. All registers but rsp, rbx, rbp and the control words are declared as
    // changed, as are the flags and memory; those are pushed here and restored by the switch
    // back. Without `nostack` there is no red zone, and rsp is aligned for the hook's call.
    unsafe {
        asm!(
            "lea rax, [rip + 2f]",
            "push rax",
            "push rbp",
            "push rbx",
            "sub rsp, 8",
            "stmxcsr [rsp]",
            "fnstcw [rsp + 4]",
            sanitizer::hook!(),
            "mov [r12], rsp",
            "mov rsp, [r13]",
            "ldmxcsr [rsp]",
            "fldcw [rsp + 4]",
            "add rsp, 8",
            "pop rbx",
            "pop rbp",
            "pop rax",
            "jmp rax",
            "2:",
            inout("r12") save => _,
            inout("r13") to => _,
            out("r14") _,
            out("r15") _,
            clobber_abi("sysv64"),
        );
    }
    // SAFETY: 1.
    unsafe { sanitizer::arrive(Context::side_of(save)) };
}

/// Leaves the running context for good and resumes `to`; `save` may be prepared again. Nothing on
/// this stack is dropped.
///
/// # Safety
/// 1. As for [`switch`].
/// 2. The stack is given back only by code that runs on `to`.
#[inline(always)]
pub(crate) unsafe fn exit(save: *mut Context, to: *mut Context) -> ! {
    // SAFETY: 1.
    unsafe { sanitizer::leave_for_good(Context::side_of(save), Context::side_of(to)) };
    // SAFETY: 1: a left context is empty.
    unsafe { (*save).sp = ptr::null_mut() };
    // SAFETY: SX1, 1: resumes where `to` was suspended, with the values saved there.
    unsafe {
        asm!(
            sanitizer::hook!(),
            "mov rsp, [r13]",
            "ldmxcsr [rsp]",
            "fldcw [rsp + 4]",
            "add rsp, 8",
            "pop rbx",
            "pop rbp",
            "pop rax",
            "jmp rax",
            in("r13") to,
            options(noreturn),
        );
    }
}

/// The outermost frame of every fiber: calls the entry, which never returns.
///
/// Unwinders end here: by the frame chain, since rbp is 0, and by the unwind table, which
/// says that there is no caller.
#[unsafe(naked)]
unsafe extern "C" fn first_frame() -> ! {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_undefined rip",
        // One byte, skipped.
        "nop",
        "mov rdi, [rsp]",
        "call rbx",
        // Keeps the return address inside this function.
        "ud2",
        ".cfi_endproc",
    )
}
