//! The state word: which party may run a fiber, and which waker has won the right to wake it.
//!
//! One `AtomicU64` decides every race between two threads over a fiber or its wait. Only this file
//! accesses the atomic; every transition is a method that says what the caller must do next.
//!
//! ```text
//!  63                                   20 19            8  7  6  5  4  3  2  1..0
//! +---------------------------------------+---------------+--+--+--+--+--+--+-----+
//! | epoch (44): names the current wait    | claim code 12 |C |R |T |AC|AR|AT|state|
//! +---------------------------------------+---------------+--+--+--+--+--+--+-----+
//!   C  CANCEL          asked of the fiber itself; sticky: every interruptible wait is refused
//!   R  REVOKED         a token in force is cancelled; the owner clears it when it leaves
//!                      the code that the token holds for (`fiber::cancel::scope`)
//!   T  TOKEN           the one token of `unpark`, as in std
//!   AC ACCEPTS_CANCEL  the current wait ends when C is set     (meaningful in Parked)
//!   AR ACCEPTS_REVOKE  the current wait ends when R is set     (meaningful in Parked)
//!   AT ACCEPTS_TOKEN   the current wait ends when T is set     (meaningful in Parked)
//! ```
//!
//! | state | public names | meaning |
//! |---|---|---|
//! | Active | Init, Ready, Running, Parking | has an owner: a queue, a worker, itself, or a visitor. Only the owner knows which; wakers need not |
//! | Parked | Parked | suspended; the next claim must enqueue it |
//! | Done | Done, Cancelled | has left its stack for good |
//!
//! | from | to | by | how | epoch |
//! |---|---|---|---|---|
//! | Active, e | Parked, e | owner | CAS (`park`) | same |
//! | Active, e | Active, e+1 | waker with ticket e, or the owner | CAS (`claim`) | +1 |
//! | Parked, e | Active, e+1 | waker with ticket e, canceller, unparker | CAS | +1 |
//! | Parked, e | Active, e | owner that blocks its thread in place | CAS (`unpark_self`) | same |
//! | Parked, e | Active, e | visitor, which parks it again or enqueues it | CAS (`hold`) | same |
//! | Active | Done, e+1 | its worker, off the fiber's stack | store | +1 |
//! | Done | Active | allocator, no handle left | store | same |
//!
//! Invariants:
//! * ST1. A *ticket* is (header, epoch). At most one claim succeeds for one epoch, because every
//!   claim adds one to it. So a second waker, a stale waker and a waker of a recycled header all
//!   fail the same CAS, and validity is never tested apart from the claim.
//! * ST2. The epoch never decreases while the process lives, recycling included.
//! * ST3. The party that changes Parked to Active (and only that party) enqueues the fiber, once.
//! * ST4. Every claim is a release, every `park` an acquire read-modify-write of the same word: a
//!   fiber that finds itself claimed sees what the waker wrote before its claim.
//!
//! LIVENESS: no wake is lost. A waker holds ticket e, the fiber is about to park with e. If the
//! claim comes first, `park` finds e+1 and does not park. If `park` comes first, the claim finds
//! Parked and its winner enqueues. There is no third order, since both are read-modify-writes of
//! one word. The same holds for the token and for cancellation: their bits are in this word. (With
//! the state and a "wake pending" latch in two words there *is* a third order; the model
//! `two_words_lose_a_wake` shows it.)
//!
//! Parking has no value of its own. A fiber that may migrate parks only after it has left its
//! stack. Until then it is Active, and the worker that is about to park it owns it. A claim in that
//! time enqueues no fiber, as with any active fiber, and `park` finds the claim. A visitor is a
//! similar case: it makes a parked fiber active, owns it, and parks it again. A fiber that blocks
//! its thread in place may find itself held so (`unpark_self`), and waits for the end of the hold.
//!
//! Rejected: incrementing the epoch at the start of a wait. It costs a second read-modify-write for
//! each wait. Using the current epoch to name the *next* wait is free.

use std::io::{self, Write};

use crate::base::backoff::Backoff;
use crate::base::mutant::{mutant, or_relaxed};
use crate::shim;
use crate::shim::atomic::{AtomicU64, Ordering};

/// The word itself; one in each header.
#[derive(Debug)]
pub(crate) struct StateWord(AtomicU64);

/// Names one wait of one fiber.
#[derive(Debug, Copy, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Epoch(u64);

/// The result of a wait: the index of the case that won, or one of the reserved values.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) struct Code(u16);

/// The events that may end the next wait, besides a claim: bits at their positions in the word.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) struct Accepts(u64);

/// The duty of a waker after its attempt to claim.
#[must_use]
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Claim {
    /// The fiber was parked and is now the caller's to enqueue (ST3).
    Parked,
    /// The fiber has not parked yet and will find the claim by itself.
    Active,
    /// The wait has already ended: nothing happened.
    Stale,
}

/// A parked fiber that a visitor, not one of its wakers, owns for a moment: the data of its wait.
#[must_use = "a fiber that is held and not parked again sleeps for ever"]
#[derive(Debug, Copy, Clone)]
pub(crate) struct Hold {
    epoch: Epoch,
    accepts: Accepts,
}

/// The result of the owner's attempt to park.
#[must_use]
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Parked {
    /// Parked: suspend now; the party that resumes it has claimed it.
    Yes,
    /// A claim came first; the code says which.
    Claimed(Code),
}

const STATE: u64 = 0b11;
const ACTIVE: u64 = 0;
const PARKED: u64 = 2;
const DONE: u64 = 3;
const ACCEPTS_TOKEN: u64 = 1 << 2;
const ACCEPTS_REVOKE: u64 = 1 << 3;
const ACCEPTS_CANCEL: u64 = 1 << 4;
/// The distance from a cause's ACCEPTS bit to its own bit.
const CAUSE_SHIFT: u32 = 3;
const TOKEN: u64 = ACCEPTS_TOKEN << CAUSE_SHIFT;
const REVOKED: u64 = ACCEPTS_REVOKE << CAUSE_SHIFT;
const CANCEL: u64 = ACCEPTS_CANCEL << CAUSE_SHIFT;
/// All bits for causes that would wake a parked owner.
const ACCEPTS: u64 = ACCEPTS_TOKEN | ACCEPTS_CANCEL | ACCEPTS_REVOKE;
const CODE_SHIFT: u32 = 8;
const CODE: u64 = 0xFFF << CODE_SHIFT;
const EPOCH_SHIFT: u32 = 20;
const EPOCH_ONE: u64 = 1 << EPOCH_SHIFT;

impl Code {
    pub(crate) const TIMED_OUT: Code = Code(0xFFF);
    pub(crate) const CANCELLED: Code = Code(0xFFE);
    pub(crate) const TOKEN: Code = Code(0xFFD);
    /// Something may have become possible; check again.
    pub(crate) const RETRY: Code = Code(0xFFC);

    /// The number of cases with a code of their own.
    pub(crate) const CASES: u16 = 0xFF0;

    /// The code of a plain wake, or of case `index` of a wait on several things.
    #[inline(always)]
    pub(crate) const fn case(index: u16) -> Code {
        assert!(index < Code::CASES);
        Code(index)
    }

    /// The index of the case that won; `None` for the reserved values.
    pub(crate) fn index(self) -> Option<usize> {
        (self.0 < Code::CASES).then_some(usize::from(self.0))
    }
}

impl Epoch {
    /// Returns the wait as a number, for reports.
    pub(crate) fn number(self) -> u64 {
        self.0
    }
}

impl StateWord {
    /// Creates an active word at the first epoch.
    pub(crate) fn new() -> Self {
        StateWord(AtomicU64::new(ACTIVE))
    }

    /// Returns the name of the wait that the owner is in or will enter next. Owner only.
    #[inline]
    pub(crate) fn epoch(&self) -> Epoch {
        // ORDERING: Relaxed: the owner reads the last value that it or a claim against it wrote;
        // `park` finds a claim that is missed here.
        Epoch(self.0.load(Ordering::Relaxed) >> EPOCH_SHIFT)
    }

    /// Tries to win the right to end wait `epoch`. Any thread.
    #[inline]
    pub(crate) fn claim(&self, epoch: Epoch, code: Code) -> Claim {
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            if stale(word, epoch) || word & STATE == DONE {
                return Claim::Stale;
            }
            match self.cas(word, claimed(word, code), claim_order()) {
                Ok(_) if word & STATE == PARKED => return Claim::Parked,
                Ok(_) => return Claim::Active,
                Err(now) => word = now,
            }
        }
    }

    /// Parks the owner unless a cause that the wait accepts came first. Owner only.
    ///
    /// A refused park consumes the cause: the wait `epoch` is over either way.
    #[inline]
    pub(crate) fn park(&self, epoch: Epoch, accepts: Accepts) -> Parked {
        let word = self.0.load(Ordering::Relaxed);
        let undisturbed = !stale(word, epoch) && word & accepts.causes() == 0;
        if undisturbed && self.cas(word, parked(word, accepts), park_order()).is_ok() {
            return Parked::Yes;
        }
        self.park_disturbed(epoch, accepts)
    }

    /// As [`park`](Self::park), if a claim or a cause came first or comes at the same time.
    #[cold]
    fn park_disturbed(&self, epoch: Epoch, accepts: Accepts) -> Parked {
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            let (next, answer) = if stale(word, epoch) {
                // ORDERING: the read-modify-write (of the same value) acquires what the
                // claimer wrote; pairs with the release in `claim`.
                (word, Parked::Claimed(code_of(word, epoch)))
            } else if word & accepts.causes() == 0 {
                (parked(word, accepts), Parked::Yes)
            } else {
                refused(word, accepts)
            };
            match self.cas(word, next, park_order()) {
                Ok(_) => return answer,
                Err(now) => word = now,
            }
        }
    }

    /// Returns how the wait that was parked ended. Owner only, after it was resumed.
    #[inline]
    pub(crate) fn code(&self) -> Code {
        // ORDERING: Relaxed: the enqueue that made the owner run again orders this.
        code(self.0.load(Ordering::Relaxed))
    }

    /// Changes Parked back to Active without ending the wait; false if a claim won. Only for an
    /// owner that sleeps in place on its own thread.
    pub(crate) fn unpark_self(&self, epoch: Epoch) -> bool {
        let mut backoff = Backoff::new();
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            if stale(word, epoch) {
                return false;
            }
            if word & STATE != PARKED && mutant!("held_taken_for_claimed") {
                return false;
            }
            if word & STATE != PARKED {
                // Held by a visitor, which ends the hold soon.
                backoff.pause();
                word = self.0.load(Ordering::Relaxed);
                continue;
            }
            // ORDERING: acquires what a visitor did before it ended its hold.
            let order = or_relaxed!(Ordering::AcqRel, "unpark_self_relaxed");
            match self.cas(word, word & !STATE | ACTIVE, order) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
    }

    /// Holds a parked fiber: the caller owns it until [`put_down`](StateWord::put_down). Any thread
    /// that keeps the fiber from ending, where fibers may migrate.
    pub(crate) fn hold(&self) -> Option<Hold> {
        let mut word = self.0.load(Ordering::Relaxed);
        while word & STATE == PARKED {
            let hold = Hold {
                epoch: Epoch(word >> EPOCH_SHIFT),
                accepts: Accepts(word & ACCEPTS),
            };
            // ORDERING: acquires what the fiber wrote before it parked, for the visitor.
            let order = or_relaxed!(Ordering::AcqRel, "hold_relaxed");
            match self.cas(word, word & !STATE | ACTIVE, order) {
                Ok(_) => return Some(hold),
                Err(now) => word = now,
            }
        }
        None
    }

    /// Parks a fiber again that the caller holds. [`Parked::Claimed`]: its wait has ended
    /// meanwhile, and the caller enqueues it.
    pub(crate) fn put_down(&self, hold: Hold) -> Parked {
        self.park(hold.epoch, hold.accepts)
    }

    /// Gives the token. Returns true if the fiber was parked for it, and the caller must enqueue
    /// it.
    pub(crate) fn unpark(&self) -> bool {
        self.signal(TOKEN, ACCEPTS_TOKEN, Code::TOKEN)
    }

    /// Sets CANCEL. Returns true if that ends the fiber's wait, and the caller must enqueue it.
    pub(crate) fn cancel(&self) -> bool {
        self.signal(CANCEL, ACCEPTS_CANCEL, Code::CANCELLED)
    }

    /// Sets REVOKED. Returns true as for [`cancel`](StateWord::cancel).
    pub(crate) fn revoke(&self) -> bool {
        self.signal(REVOKED, ACCEPTS_REVOKE, Code::CANCELLED)
    }

    /// Clears REVOKED; true if it was set. Owner only, while it runs. What the thread that set the
    /// bit did before has happened before this returns.
    pub(crate) fn restore(&self) -> bool {
        let mut word = self.0.load(Ordering::Relaxed);
        while word & REVOKED != 0 {
            let order = or_relaxed!(Ordering::AcqRel, "restore_relaxed");
            match self.cas(word, word & !REVOKED, order) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    fn signal(&self, bit: u64, accepts: u64, code: Code) -> bool {
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            if word & STATE == DONE || mutant!("token_left_if_set") && word & bit != 0 {
                return false;
            }
            let ends = word & STATE == PARKED && word & accepts != 0;
            let next = match (ends, bit == TOKEN) {
                (true, true) => claimed(word, code),
                (true, false) => claimed(word, code) | bit,
                // ORDERING: written even if the bit is set already: the token passes on what this
                // thread wrote before, and a plain load would not.
                (false, _) => word | bit,
            };
            match self.cas(word, next, Ordering::AcqRel) {
                Ok(_) => return ends,
                Err(now) => word = now,
            }
        }
    }

    /// Returns whether the token is there. Owner only; it stays.
    pub(crate) fn has_token(&self) -> bool {
        // ORDERING: Relaxed: this only looks; taking the token acquires.
        self.0.load(Ordering::Relaxed) & TOKEN != 0
    }

    /// Consumes the token if it is there; true if it was. Owner only.
    pub(crate) fn take_token(&self) -> bool {
        let mut word = self.0.load(Ordering::Relaxed);
        while word & TOKEN != 0 {
            // ORDERING: acquires what the unparker wrote before; pairs with `signal`.
            let order = or_relaxed!(Ordering::AcqRel, "take_token_relaxed");
            match self.cas(word, word & !TOKEN, order) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    /// Returns whether the fiber itself has been cancelled.
    #[inline]
    pub(crate) fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed) & CANCEL != 0
    }

    /// Returns whether a token in force has been found cancelled.
    #[inline]
    pub(crate) fn is_revoked(&self) -> bool {
        self.0.load(Ordering::Relaxed) & REVOKED != 0
    }

    /// Returns whether the fiber is neither cancelled nor revoked.
    #[inline(always)]
    pub(crate) fn is_wanted(&self) -> bool {
        self.0.load(Ordering::Relaxed) & (CANCEL | REVOKED) == 0
    }

    /// Ends the fiber's life. Called only by its worker, after it has left the fiber's stack.
    #[inline]
    pub(crate) fn finish(&self) {
        let word = self.0.load(Ordering::Relaxed);
        if ALWAYS && word & STATE != ACTIVE {
            violated("only a running fiber can end", word, DONE);
        }
        // ORDERING: Release: pairs with the Acquire load in `is_done`. A plain store may overwrite
        // a concurrent token or cancel bit, and no code is left to read either.
        self.0.store(
            (word & !(CODE | 0xFF)).wrapping_add(EPOCH_ONE) | DONE,
            Ordering::Release,
        );
    }

    /// Returns whether the fiber waits and the wait has not been claimed yet; for reports.
    pub(crate) fn is_parked(&self) -> bool {
        self.0.load(Ordering::Relaxed) & STATE == PARKED
    }

    /// Returns whether the fiber has left its stack for good.
    #[cfg_attr(
        not(all(test, pirn_parts)),
        expect(dead_code, reason = "asked by the models")
    )]
    pub(crate) fn is_done(&self) -> bool {
        self.0.load(Ordering::Acquire) & STATE == DONE
    }

    /// Makes the word active for the next fiber of this header. No other reference exists.
    pub(crate) fn recycle(&self) {
        let word = self.0.load(Ordering::Relaxed);
        // ORDERING: Relaxed: the queue or handle that publishes the new fiber releases this. ST2: a
        // stale ticket may still be compared with this word, so the epoch is kept.
        self.0
            .store(word & !(CODE | 0xFF) | ACTIVE, Ordering::Relaxed);
    }

    /// Ends the process unless the word is that of a fiber that runs or was about to. `parks` means
    /// that it has just begun to wait, and may have been woken since. Called only by its worker.
    pub(crate) fn assert_sound(&self, parks: bool) {
        let word = self.0.load(Ordering::Relaxed);
        let sound = match word & STATE {
            ACTIVE => true,
            PARKED => parks,
            _ => false,
        };
        if !sound {
            violated("a worker has it, and it is not active", word, word);
        }
    }

    #[inline(always)]
    fn cas(&self, word: u64, next: u64, order: Ordering) -> Result<u64, u64> {
        if ALWAYS && !legal(word, next) {
            violated("illegal transition", word, next);
        }
        self.0
            .compare_exchange_weak(word, next, order, Ordering::Relaxed)
    }
}

#[cfg(all(test, not(pirn_modelled)))]
impl StateWord {
    /// Creates an active word at a later epoch.
    pub(crate) fn at(epoch: u64) -> Self {
        StateWord(AtomicU64::new(epoch << EPOCH_SHIFT | ACTIVE))
    }
}

/// ORDERING: a claim releases the waker's writes to the fiber and acquires the fiber's
/// writes (its waiter) for the waker.
#[inline(always)]
fn claim_order() -> Ordering {
    or_relaxed!(Ordering::AcqRel, "claim_relaxed")
}

/// ORDERING: `park` releases the fiber's saved state to the waker that will enqueue it, and
/// acquires what a claimer wrote.
#[inline(always)]
fn park_order() -> Ordering {
    or_relaxed!(Ordering::AcqRel, "park_relaxed")
}

#[inline(always)]
fn stale(word: u64, epoch: Epoch) -> bool {
    word >> EPOCH_SHIFT != epoch.0 && !mutant!("epoch_ignored")
}

/// Returns what ended the wait `epoch`, which is over. A code of a later wait says nothing about
/// it: user code has waited between the ticket and the park.
fn code_of(word: u64, epoch: Epoch) -> Code {
    let next = Epoch(epoch.0.wrapping_add(1) & (u64::MAX >> EPOCH_SHIFT));
    if stale(word, next) && !mutant!("code_of_a_later_wait") {
        Code::RETRY
    } else {
        code(word)
    }
}

#[inline(always)]
fn code(word: u64) -> Code {
    Code(((word & CODE) >> CODE_SHIFT) as u16)
}

/// The word after a claim: active, next epoch, the winner's code.
#[inline(always)]
fn claimed(word: u64, code: Code) -> u64 {
    let kept = word & !(STATE | CODE | ACCEPTS);
    kept.wrapping_add(EPOCH_ONE) | u64::from(code.0) << CODE_SHIFT | ACTIVE
}

#[inline(always)]
fn parked(word: u64, accepts: Accepts) -> u64 {
    word & !(STATE | ACCEPTS) | PARKED | accepts.0
}

/// Returns the word after a wait that an accepted cause has ended before it began, and that cause.
fn refused(word: u64, accepts: Accepts) -> (u64, Parked) {
    if word & accepts.causes() & (CANCEL | REVOKED) != 0 {
        let next = claimed(word, Code::CANCELLED);
        return (next, Parked::Claimed(Code::CANCELLED));
    }
    let next = claimed(word, Code::TOKEN) & !TOKEN;
    (next, Parked::Claimed(Code::TOKEN))
}

impl Accepts {
    /// A claim only.
    pub(crate) const NOTHING: Accepts = Accepts(0);
    /// Cancellation, of the fiber itself or of a token that it is under.
    pub(crate) const INTERRUPTS: Accepts = Accepts(ACCEPTS_CANCEL | ACCEPTS_REVOKE);
    /// The token of `unpark`.
    pub(crate) const TOKEN: Accepts = Accepts(ACCEPTS_TOKEN);

    pub(crate) const fn or(self, other: Accepts) -> Accepts {
        Accepts(self.0 | other.0)
    }

    /// The same inside a shield: all but the cancellation of the fiber itself.
    pub(crate) const fn shielded(self) -> Accepts {
        Accepts(self.0 & !ACCEPTS_CANCEL)
    }

    /// Returns whether the wait ends by tokens that the fiber is under, and so by deadlines.
    #[inline(always)]
    pub(crate) const fn interrupts(self) -> bool {
        self.0 & ACCEPTS_REVOKE != 0
    }

    #[inline(always)]
    const fn causes(self) -> u64 {
        self.0 << CAUSE_SHIFT
    }
}

/// In these builds every transition is checked. In other builds a worker on request checks the word
/// of each fiber that it switches to or from. A check in each compare-exchange, even if it is off,
/// is too much to inline. (Measured, bench guard: 6 % more instructions in a rendezvous.)
const ALWAYS: bool = cfg!(any(debug_assertions, feature = "diagnostics"));

/// Reports a transition that the table does not have. Two parties own the fiber, and nothing that
/// either does from here on is reliable, so the process ends. In models and unit tests it panics.
#[cold]
#[inline(never)]
fn violated(what: &str, word: u64, next: u64) -> ! {
    let said = format!("{what}: {word:#x} -> {next:#x}");
    if cfg!(test) || shim::MODELLED {
        panic!("{said}");
    }
    let _ = writeln!(io::stderr(), "pirn: a fiber's state is broken: {said}");
    std::process::abort();
}

/// The legality matrix: returns whether one word may follow the other.
fn legal(word: u64, next: u64) -> bool {
    let same_epoch = word >> EPOCH_SHIFT == next >> EPOCH_SHIFT;
    match (word & STATE, next & STATE) {
        (ACTIVE, ACTIVE) => true,
        (ACTIVE, PARKED) => same_epoch,
        (PARKED, ACTIVE) => true,
        (PARKED, PARKED) => same_epoch,
        _ => false,
    }
}
