//! The monitor: a thread that looks for fresh fibers that nobody takes.
//!
//! Workers wake each other for *surplus* only. What is less than that waits for its own
//! worker, which may be computing: the monitor sees to it that such work does not sit there
//! while another worker sleeps. It looks at each worker's ring and `next` slot; what it
//! finds unchanged at its next look, at least [`AGE`] later, is *aged*, and a sleeper is
//! woken for it.
//!
//! It is a safety net too: a worker that sleeps with fibers in its mailbox, and without word
//! of them, is woken and counted as a rescue. That count stays zero, or the sleep protocol
//! is broken.
//!
//! And it looks for slow fibers, if asked to (`slow`).
//!
//! | state | period | entered when |
//! |---|---|---|
//! | Attending | 500 µs, 100 µs while it sees young work | a worker spawns while another sleeps |
//! | Dozing | 20 ms | nothing young was seen for [`CALM`] looks, or no worker sleeps |
//! | Stopped | until attended to | all workers sleep |
//!
//! LIVENESS: it stops only while all workers sleep, and looks at that once more after it has
//! said so. Who goes to sleep while others are awake starts it again (that worker may have
//! missed what they spawned in the moment before, and they may have missed that it sleeps).
//! So while one worker is awake and another sleeps, it runs. The step from Attending to
//! Dozing is not fenced against a spawner; the worst of it is one period of 20 ms.
//! (`models/idle.pml`)

use std::sync::Arc;
use std::time::Duration;

use super::events::LogMask;
use super::pool::{Phase, Pool};
use super::slow::SlowFibers;
use crate::shim;
use crate::shim::atomic::{AtomicU32, Ordering};
use crate::sys::parker::Parker;

/// The least time between two looks that may call work aged: twice what it costs to wake a
/// thread for it (`SURPLUS` in `pace`). The three times are the design's, not measured.
const AGE: Duration = Duration::from_micros(100);
/// Between two looks while attending.
const PERIOD: Duration = Duration::from_micros(500);
/// Between two looks while dozing: the worst delay of a wake that the fenceless step to
/// dozing has missed.
const DOZE: Duration = Duration::from_millis(20);

/// Looks without young work after which the monitor dozes: 10 ms at [`PERIOD`]. Arbitrary.
const CALM: u32 = 20;

const ATTENDING: u32 = 0;
const DOZING: u32 = 1;
const STOPPED: u32 = 2;

/// The monitor of one pool.
pub(super) struct Monitor {
    state: AtomicU32,
    parker: Parker,
}

/// What one look saw of one worker.
#[derive(Default, Clone, Copy, PartialEq)]
struct Look {
    next: usize,
    head: u32,
    queued: u32,
    epoch: u64,
    /// The injector was not empty.
    injected: bool,
    /// The worker slept with mail in its box and without word of it.
    forgotten: bool,
}

impl Monitor {
    pub(super) fn new() -> Monitor {
        Monitor {
            state: AtomicU32::new(DOZING),
            parker: Parker::new(),
        }
    }

    /// Has the monitor look soon and often. A load if it does already.
    #[inline]
    pub(super) fn attend(&self) {
        if self.state.load(Ordering::Relaxed) != ATTENDING {
            self.kick();
        }
    }

    /// Has the monitor start again if it has stopped.
    pub(super) fn resume(&self) {
        // ORDERING: SeqCst: after the fence of the caller's announcement, see LIVENESS.
        if self.state.load(Ordering::SeqCst) == STOPPED {
            self.kick();
        }
    }

    /// Wakes the monitor.
    #[cold]
    pub(super) fn kick(&self) {
        if self.state.swap(ATTENDING, Ordering::SeqCst) != ATTENDING {
            self.parker.unpark();
        }
    }

    /// Has the monitor look at the pool's phase now, even between two of its looks.
    pub(super) fn rouse(&self) {
        self.state.swap(ATTENDING, Ordering::SeqCst);
        self.parker.unpark();
    }

    /// The body of the monitor's thread.
    pub(super) fn watch(&self, pool: &Arc<Pool>) {
        let mut looks = vec![Look::default(); pool.workers()];
        let mut slow = pool.config.watch.slow.map(SlowFibers::new);
        let mut calm = 0;
        while pool.phase() != Phase::Stopped {
            let young = self.look(pool, &mut looks);
            if let Some(slow) = &mut slow {
                slow.look(pool);
            }
            calm = if young { 0 } else { calm + 1 };
            if pool.idle.all_asleep() {
                self.state.store(STOPPED, Ordering::SeqCst);
                if pool.idle.all_asleep() && pool.phase() != Phase::Stopped {
                    self.parker.park();
                }
                calm = 0;
                self.state.store(ATTENDING, Ordering::SeqCst);
            } else if calm > CALM || !pool.idle.sleepers_hint() {
                self.state.store(DOZING, Ordering::SeqCst);
                if self.parker.park_until(shim::now() + DOZE) {
                    calm = 0;
                }
            } else {
                self.parker
                    .park_until(shim::now() + if young { AGE } else { PERIOD });
            }
        }
    }

    /// Looks at every worker; wakes a sleeper for each that has aged work. True if any
    /// worker has work that others could take.
    fn look(&self, pool: &Arc<Pool>, looks: &mut [Look]) -> bool {
        // What is in the injector has been published to all, so somebody should be on the
        // way to it.
        let mut young = !pool.injector.is_empty();
        if young && looks.iter().all(|last| last.injected) {
            self.rescue(pool);
        }
        let injected = young;
        for (remote, last) in pool.remotes.iter().zip(looks) {
            let (head, queued) = remote.ring.look();
            let next = remote.next.look_fresh();
            let epoch = remote.counters.dispatched.get();
            let now = Look {
                next,
                head,
                queued,
                epoch,
                injected,
                forgotten: remote.mailbox.parker().is_parked()
                    && !remote.mailbox.is_empty(),
            };
            young |= now.waits();
            let slot_aged =
                now.next != 0 && now.next == last.next && now.epoch == last.epoch;
            let ring_aged = now.queued > 0 && last.queued > 0 && now.head == last.head;
            remote
                .aged
                .store(if slot_aged { next } else { 0 }, Ordering::Relaxed);
            if slot_aged || ring_aged {
                self.rescue(pool);
            }
            if now.forgotten && last.forgotten && now.epoch == last.epoch {
                pool.say(LogMask::SYSMON, || "a lost wake is made good".to_owned());
                pool.rescues.increment_shared();
                remote.mailbox.parker().unpark();
            }
            *last = now;
        }
        young
    }
}

impl Monitor {
    /// Wakes a sleeper, if there is one, for work that has aged.
    fn rescue(&self, pool: &Arc<Pool>) {
        if let Some(sleeper) = pool.idle.claim_any(0) {
            pool.aged_wakes.increment_shared();
            pool.say(LogMask::SYSMON, || {
                format!("worker {sleeper} is woken for work that has aged")
            });
            pool.wake(sleeper);
        }
    }
}

impl Look {
    fn waits(&self) -> bool {
        self.next != 0 || self.queued > 0
    }
}
