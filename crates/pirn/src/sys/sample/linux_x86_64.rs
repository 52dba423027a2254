//! Linux on x86-64: a handler of `SIGURG` copies registers and frames where the asker finds them.
//!
//! That signal is ignored by default, so one that comes late or twice does no harm, and few
//! programs use it. Where one does, no thread is asked. The handler restarts the system call
//! that it interrupts, as far as the system can (`signal(7)`); sleeps and waits with a time limit
//! end with `EINTR` all the same, as with any signal.
//!
//! | state | entered by | next |
//! |---|---|---|
//! | FREE | the asker, which has read the answer or gives up | ASKED |
//! | ASKED | the asker, before the signal | TAKEN, or FREE |
//! | TAKEN | the handler, on the thread that is asked | DONE |
//! | DONE | the handler | FREE |
//!
//! # Invariants
//! * SM1. The answer is written by the thread that has changed ASKED to TAKEN, until DONE, and read
//!   by the asker after DONE; there is one asker at a time, under a lock.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr;
// Not from `shim`: a signal handler uses them.
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::{EndOfStack, Sample};
use crate::shim::{self, StaticLock};
use crate::sys::calls;
use crate::sys::parker::Parker;

const FREE: u32 = 0;
const ASKED: u32 = 1;
const TAKEN: u32 = 2;
const DONE: u32 = 3;

/// Words of a stack that are copied at most: 64 KiB of frames.
const WORDS: usize = 8192;

/// The time limit for the answer. Arbitrary: many times what a thread needs that runs, or waits in
/// a call that a signal interrupts.
const BOUND: Duration = Duration::from_millis(20);

/// Between two looks for the answer.
const PAUSE: Duration = Duration::from_micros(50);

static ASKER: StaticLock<()> = StaticLock::new(());
static STATE: AtomicU32 = AtomicU32::new(FREE);
/// The thread that is asked. Written before ASKED.
static THREAD: AtomicU32 = AtomicU32::new(0);
static ANSWER: Cell = Cell(UnsafeCell::new(Answer::EMPTY));

struct Cell(UnsafeCell<Answer>);

// SAFETY: SM1.
unsafe impl Sync for Cell {}

struct Answer {
    /// How to find the end of the thread's stack. Written before ASKED.
    end_of_stack: Option<EndOfStack>,
    call: Option<u64>,
    ip: usize,
    sp: usize,
    fp: usize,
    bx: usize,
    end: usize,
    len: usize,
    words: [usize; WORDS],
}

impl Answer {
    const EMPTY: Answer = Answer {
        end_of_stack: None,
        call: None,
        ip: 0,
        sp: 0,
        fp: 0,
        bx: 0,
        end: 0,
        len: 0,
        words: [0; WORDS],
    };
}

/// Samples the thread of this process with that number. `None` if it does not answer in time, or
/// if the program has a handler of its own for the signal.
///
/// # Blocking
/// For [`BOUND`] at most.
pub(crate) fn sample(thread: u32, end: EndOfStack) -> Option<Sample> {
    let _asker = ASKER.lock();
    if STATE.load(Ordering::Acquire) == DONE {
        // A late answer to an earlier request.
        STATE.store(FREE, Ordering::Relaxed);
    }
    if STATE.load(Ordering::Acquire) != FREE || !install() {
        return None;
    }
    // SAFETY: SM1: FREE, under the lock.
    let answer = unsafe { &mut *ANSWER.0.get() };
    THREAD.store(thread, Ordering::Relaxed);
    answer.end_of_stack = Some(end);
    // ORDERING: Release: pairs with the exchange of the handler.
    STATE.store(ASKED, Ordering::Release);
    let own = std::process::id();
    // SAFETY: a system call with numbers; a thread that has ended is an error.
    unsafe { libc::syscall(libc::SYS_tgkill, own, thread, libc::SIGURG) };
    let (pause, until) = (Parker::new(), shim::now() + BOUND);
    // ORDERING: Acquire: pairs with the Release of the handler.
    while STATE.load(Ordering::Acquire) != DONE {
        if shim::now() > until {
            // A handler that has begun finishes by itself.
            let _ =
                STATE.compare_exchange(ASKED, FREE, Ordering::Relaxed, Ordering::Relaxed);
            return None;
        }
        pause.park_until(shim::now() + PAUSE);
    }
    // SAFETY: SM1: DONE.
    let answer = unsafe { &*ANSWER.0.get() };
    let sample = Sample {
        call: answer.call,
        ip: answer.ip,
        sp: answer.sp,
        fp: answer.fp,
        bx: answer.bx,
        end: answer.end,
        words: answer.words[..answer.len].to_vec(),
    };
    STATE.store(FREE, Ordering::Relaxed);
    Some(sample)
}

/// Installs the handler, once; false if the program has another one.
fn install() -> bool {
    let mut now = none();
    // SAFETY: the call only reads the disposition.
    let asked = unsafe { libc::sigaction(libc::SIGURG, ptr::null(), &raw mut now) };
    let own = handler as *const () as usize;
    if asked != 0 || (now.sa_sigaction != libc::SIG_DFL && now.sa_sigaction != own) {
        return false;
    }
    if now.sa_sigaction == own {
        return true;
    }
    let mut action = none();
    action.sa_sigaction = own;
    // Stacks of fibers may be small.
    action.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK | libc::SA_SIGINFO;
    // SAFETY: the handler does what a handler may, and has the signature for SA_SIGINFO.
    unsafe { libc::sigaction(libc::SIGURG, &raw const action, ptr::null_mut()) == 0 }
}

fn none() -> libc::sigaction {
    // SAFETY: all zeros is a valid value, and means the default.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

extern "C" fn handler(
    _signal: libc::c_int,
    _info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    if STATE.load(Ordering::Acquire) != ASKED {
        return;
    }
    // ORDERING: Acquire: pairs with the Release of the asker.
    if calls::gettid() != THREAD.load(Ordering::Relaxed)
        || STATE
            .compare_exchange(ASKED, TAKEN, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
    {
        return;
    }
    // SAFETY: SM1: TAKEN.
    let answer = unsafe { &mut *ANSWER.0.get() };
    // SAFETY: the system passes the context that was interrupted.
    let registers = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let register = |name: libc::c_int| registers[name as usize] as usize;
    answer.ip = register(libc::REG_RIP);
    answer.sp = register(libc::REG_RSP);
    answer.fp = register(libc::REG_RBP);
    answer.bx = register(libc::REG_RBX);
    // SAFETY: the address of an instruction that was about to run, or follows a system call.
    answer.call = unsafe { call_at(answer.ip, register(libc::REG_RAX)) };
    let end = answer.end_of_stack.and_then(|end| end(answer.sp));
    answer.end = end.unwrap_or(answer.sp);
    let words = (answer.end - answer.sp) / size_of::<usize>();
    answer.len = words.min(WORDS);
    for (at, word) in answer.words[..answer.len].iter_mut().enumerate() {
        let from = ptr::with_exposed_provenance::<usize>(answer.sp).wrapping_add(at);
        // SAFETY: between the stack pointer and the end of the stack, so mapped; the thread
        // of that stack runs this.
        *word = unsafe { from.read_volatile() };
    }
    // ORDERING: Release: pairs with the Acquire of the asker.
    STATE.store(DONE, Ordering::Release);
}

/// Returns the number of the system call of a thread that resumes at `ip`, with `rax` in that
/// register.
///
/// If the call is to be restarted, the thread resumes at the instruction that makes it, with the
/// call's number in rax. If the call was interrupted, the thread resumes after that instruction;
/// the number may be in the instruction before.
///
/// # Safety
/// `ip` is in the text of a function.
unsafe fn call_at(ip: usize, rax: usize) -> Option<u64> {
    const SYSCALL: [u8; 2] = [0x0f, 0x05];
    let at = |address: usize| ptr::with_exposed_provenance::<[u8; 2]>(address);
    // SAFETY: the caller's promise.
    if unsafe { at(ip).read_unaligned() } == SYSCALL {
        return Some(rax as u64);
    }
    let interrupted = (rax as isize) == -(libc::EINTR as isize);
    // SAFETY: the caller's promise: an instruction came before.
    if !interrupted || unsafe { at(ip - 2).read_unaligned() } != SYSCALL {
        return None;
    }
    // `mov eax, NUMBER`
    let before = ptr::with_exposed_provenance::<[u8; 5]>(ip - 7);
    // SAFETY: as above; functions that make system calls do more than that first.
    let [0xb8, number @ ..] = (unsafe { before.read_unaligned() }) else {
        return None;
    };
    Some(u32::from_le_bytes(number).into())
}
