//! The monitor: a thread that looks for fresh fibers that no worker takes.
//!
//! Workers wake each other for *surplus* only. Less than that waits for its own worker, which may
//! be computing: the monitor ensures that such work does not stay there while another worker
//! sleeps. It looks at each worker's ring and `next` slot. Work that is unchanged at its next look,
//! at least [`AGE`] later, is *aged*, and a sleeper is woken for it.
//!
//! It is a safety net too: a worker that sleeps with fibers in its inbox, and for [`LOST`] has not
//! been notified, is woken and counted as a rescue. A nonzero count means that the sleep protocol
//! is broken. (A shorter delay proves nothing: the thread that has pushed a fiber there and is
//! about to notify the worker may have been preempted between the two.)
//!
//! Its thread also runs the looks of observers (`sched::observer`): the search for stalls.
//!
//! | state | period | entered when |
//! |---|---|---|
//! | Attending | 500 µs, 100 µs while it sees young work | a worker spawns while another sleeps |
//! | Suspicious | 500 µs to 4 ms | no worker sleeps, work waits, some worker did not dispatch |
//! | Beating | 2 ms, 250 µs while a fiber waits behind a fiber that joins | no worker sleeps, a fiber joins |
//! | Restless | 2 ms | no worker sleeps, and work waits or some worker did not dispatch |
//! | Dozing | 20 ms | nothing young was seen for [`QUIET_LOOKS`] looks, or no worker sleeps |
//! | Lingering | 100 ms | all workers sleep, and some have run lately |
//! | Stopped | until attended to | all workers sleep |
//!
//! It also watches fibers that join (`sched::worker::heartbeat`): while some worker sleeps, or
//! others wait behind them.
//!
//! Its view of all workers together goes to `scale`, which decides whether there should be more of
//! them, or fewer.
//!
//! LIVENESS: it stops only while all workers sleep, and checks that once more after it has
//! announced it. A worker that wakes up starts it again, since the fiber that it was woken for may
//! hold its thread. So that this costs nothing while wakes follow each other, the monitor lingers
//! for a second before it stops. A worker that goes to sleep while others are awake starts it
//! again: it may have missed what they spawned in the moment before, and they may have missed that
//! it sleeps. So while one worker is awake and another sleeps, it runs. A worker that puts a fiber
//! where others may take it while no worker sleeps starts it again too. All may have been woken
//! from outside, so that none has gone to sleep since the monitor stopped; if all block their
//! threads now, it must find out. The step from Attending to Dozing is not fenced against a
//! spawner; the worst case is one period of 20 ms. (`models/idle.pml`)

use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use crate::base::clock;
use crate::events::LogMask;
use crate::fiber::jobs::Beat;
use crate::sched::io::driver::ask_for;
use crate::sched::placement::balance::STUCK;
use crate::sched::placement::lines::{HELD, Spread};
use crate::sched::policy::scale::{Evidence, LONG, SOON, STILL};
use crate::sched::pool::remote::Remote;
use crate::sched::pool::shared::Pool;
use crate::sched::pool::threads::monitor::Pace;
use crate::shim;
use crate::shim::atomic::Ordering;
use crate::sys::Activity;
use crate::sys::poller::Events;

/// The least time between two looks that may call work aged: twice the cost of waking a thread for
/// it (`SURPLUS` in `sched::worker::records::intervals`). Arbitrary; not measured.
const AGE: Duration = Duration::from_micros(100);
/// How long the notification of a fiber may be delayed: many times what a preempted thread waits
/// for its turn on a crowded machine.
const LOST: Duration = Duration::from_millis(200);
/// Time between two looks while attending.
const PERIOD: Duration = Duration::from_micros(500);
/// Time between two looks while fibers join and none waits behind them: how long a fiber that wants
/// a thread of theirs waits.
const BEAT: Duration = Duration::from_millis(2);
/// The same while others do wait there. With eight fibers that join on two workers, a sleeper was
/// late by 5.9 ms at most in 99 of 100 cases at 500 µs, by 2.8 ms at this.
const CROWDED: Duration = Duration::from_micros(250);
/// Time between two looks while dozing: the worst delay of a wake that the unfenced step to dozing
/// has missed.
const DOZE: Duration = Duration::from_millis(20);
/// Time between two looks while all workers run and work waits, or may come while some are stuck.
/// With the look at which that has aged, and the start of a thread, a fiber starts within 5 ms.
const RESTLESS: Duration = Duration::from_millis(2);

/// How often the time between two looks in vain at a worker that seems stuck doubles: to 4 ms.
/// Arbitrary.
const MOST_DOUBLINGS: u32 = 3;

/// Looks without young work after which the monitor dozes: 10 ms at [`PERIOD`]. Arbitrary.
const QUIET_LOOKS: u32 = 20;

/// How long a worker that was woken, or newly launched, may take until it runs a fiber, before the
/// monitor gives up on it. Arbitrary: longer than that takes on a machine with ten threads for each
/// processor.
const RISE: Duration = Duration::from_millis(100);

/// A worker that has not popped its `placed` fibers for this long loses them, even if no fiber
/// holds its thread. Many times the wait for a processor among four times as many threads.
const ABSENT: Duration = Duration::from_secs(1);

/// Looks that show more active workers than intended, before some are retired. Arbitrary: a few.
const LASTING: u32 = 4;

/// Time between two looks while it lingers.
const LINGER: Duration = Duration::from_millis(100);
/// So many such looks in a row show that nothing runs, and it stops. A worker that sleeps and wakes
/// up frequently thus need not start it each time. Arbitrary.
const LINGERS: u32 = 10;

impl Pool {
    /// Returns how long fibers may wait behind another one; `None` if this pool does not look for
    /// stalls.
    pub(crate) fn stall_threshold(&self) -> Option<Duration> {
        // With one fiber per worker at a time no other fiber waits.
        let pays = shim::WATCHING_PAYS && !self.config.exclusive;
        let real = self.config.seed.is_none() && !self.config.by_hand;
        self.config.watch.stalls.filter(|_| pays && real)
    }

    /// True if the monitor looks at how long fibers run, for reports or for the history of spawn
    /// lines.
    pub(in crate::sched) fn watches_runs(&self) -> bool {
        let spreads =
            shim::WATCHING_PAYS && self.config.spread_in_effect() != Spread::Never;
        spreads || self.stall_threshold().is_some()
    }
}

/// The state of one worker at one look.
#[derive(Default, Clone, Copy, PartialEq)]
pub(in crate::sched) struct Look {
    next: usize,
    head: u32,
    queued: u32,
    /// Of the common ready list: the number of fibers taken out of it, and of those in it.
    taken: u32,
    ready: usize,
    epoch: u64,
    /// Since when the epoch has had this value.
    since: u64,
    /// The worker has a thread that is not asleep for lack of work.
    awake: bool,
    /// Since when the worker has been seen awake and running nothing; 0 if it is not.
    up: u64,
    /// The injector was not empty.
    injected: bool,
    /// The number of `placed` fibers, and since when it has not changed.
    placed: usize,
    placed_since: u64,
    run: Run,
    /// Since when the worker has been seen asleep with fibers in its inbox and without a
    /// notification; 0 if it is not.
    pub(in crate::sched) unaware: u64,
}

/// The findings of all looks on the present run of one fiber.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(in crate::sched) struct Run {
    /// It was recorded as one that holds the thread (`lines`).
    held: bool,
    /// When the processor time of its thread was first read, and that time.
    used: Option<(u64, u64)>,
    /// Whether the thread waits in the system; if it was asked.
    pub(in crate::sched) waits: Option<bool>,
    /// The answer of the last look that asked.
    pub(in crate::sched) waited: bool,
    /// An earlier look of this run has asked it.
    asked: bool,
}

impl Run {
    /// Returns what is known at the next look, which finds the same run if `same`.
    pub(in crate::sched) fn next(&self, same: bool) -> Run {
        Run {
            held: self.held && same,
            used: self.used.filter(|_| same),
            waits: None,
            waited: self.waits.unwrap_or(self.waited) && same,
            asked: self.waits.is_some() && same,
        }
    }
}

/// The body of the monitor's thread.
pub(super) fn watch(pool: &Arc<Pool>) {
    let monitor = &pool.monitor;
    let mut looks = Vec::new();
    let observers = pool.observers().iter();
    let mut others: Vec<_> = observers.filter_map(|it| it.monitor(pool)).collect();
    let (mut lingered, mut ran) = (0, 0);
    let mut events = Events::new();
    let (mut quiet_looks, mut fruitless, mut surplus, mut joined) = (0, 0, 0, 0_u32);
    while pool.is_watched() {
        let seen = look(pool, &mut looks, &mut events);
        for look in &mut others {
            look(pool);
        }
        let young = seen.waiting > 0;
        let stuck = seen.awake > seen.advancing;
        let suspicious = young && stuck;
        let changed = pool.scale(&seen);
        let too_many = seen.advancing.saturating_sub(pool.workers());
        surplus = if too_many > 0 { surplus + 1 } else { 0 };
        if surplus > LASTING {
            pool.send_away(too_many);
        }
        quiet_looks = if young || seen.joining {
            0
        } else {
            quiet_looks + 1
        };
        joined = if seen.joining {
            QUIET_LOOKS
        } else {
            joined.saturating_sub(1)
        };
        let beat = match (joined > 0, seen.crowded) {
            (true, true) => CROWDED,
            (true, false) => BEAT,
            (false, _) => DOZE,
        };
        fruitless = match suspicious && !changed {
            true => fruitless + 1,
            false => 0,
        };
        if pool.idle.all_asleep() && !seen.unaware {
            let before = std::mem::replace(&mut ran, dispatched(looks.iter()));
            lingered = if before == ran { lingered + 1 } else { 0 };
            let lingers = pool.watches_runs() && lingered < LINGERS;
            let pace = if lingers {
                Pace::Lingering
            } else {
                Pace::Stopped
            };
            monitor.set(pace);
            if pool.idle.all_asleep() && pool.is_watched() {
                pool.remotes.iter().for_each(|remote| remote.jobs.arm());
                if lingers {
                    monitor.wait(LINGER);
                } else {
                    monitor.wait_until_kicked();
                    lingered = 0;
                }
            }
            quiet_looks = 0;
            monitor.set(Pace::Attending);
        } else if pool.idle.sleepers_hint() && quiet_looks <= QUIET_LOOKS {
            monitor.wait(if young { AGE } else { PERIOD });
        } else if suspicious {
            monitor.wait(beat.min(PERIOD * (1 << fruitless.min(MOST_DOUBLINGS))));
        } else if joined > 0 {
            monitor.wait(beat);
        } else {
            // Work that arrives while no worker is free is seen by the next look, not before.
            let none_is_free = stuck && !pool.idle.sleepers_hint();
            let (pace, doze) = match young || none_is_free {
                true => (Pace::Restless, RESTLESS),
                // No thread can be added for what is spawned meanwhile: it need not be seen
                // soon.
                false if !pool.is_elastic() => (Pace::Restless, DOZE),
                false => (Pace::Dozing, DOZE),
            };
            monitor.arm(pace, pool.remotes.iter().map(|remote| &*remote.jobs));
            let doze = doze.min(seen.until_fire());
            if monitor.wait(doze) {
                quiet_looks = 0;
            }
        }
    }
}

/// Looks at every worker; wakes a sleeper for each that has aged work.
fn look(pool: &Arc<Pool>, looks: &mut Vec<Look>, events: &mut Events) -> Evidence {
    let at = clock::now();
    looks.resize_with(pool.remotes.len(), || Look::first(at));
    let mut seen = Evidence {
        // Fibers in the injector have been published to all, so a worker should be on the way
        // to them.
        waiting: pool.injector.len(),
        ..Evidence::default()
    };
    if seen.waiting > 0 && looks.iter().all(|last| last.injected) {
        seen.aged += seen.waiting;
        seen.woken |= wake_for_aged(pool);
    }
    let injected = seen.waiting > 0;
    let workers = pool.remotes.iter().enumerate().zip(looks.iter_mut());
    for ((worker, remote), last) in workers {
        let mut now = Look::at(remote, last, at, injected);
        now.see_to_placed(pool, worker, at);
        now.note_held(pool, remote, at);
        let slot_aged = now.next != 0 && now.next == last.next && now.epoch == last.epoch;
        let ring_aged = now.queued > 0 && last.queued > 0 && now.head == last.head;
        let list_aged = now.ready > 0 && last.ready > 0 && now.taken == last.taken;
        let aged = if slot_aged { now.next } else { 0 };
        remote.notes.set_aged(aged);
        seen.waiting += now.waiting();
        if slot_aged || ring_aged || list_aged {
            seen.aged += now.waiting();
            seen.woken |= wake_for_aged(pool);
        }
        seen.unaware |= now.unaware != 0 || now.placed > 0;
        if now.has_lost_a_wake(at) {
            pool.say(LogMask::SYSMON, || "a lost wake is made good".to_owned());
            pool.wakes.rescues.increment_shared();
            remote.inbox.unpark();
        }
        seen.woken |= now.is_getting_up(at);
        if now.awake && now.epoch == last.epoch {
            seen.fire_at = seen.fire_at.min(fire_for(remote, at));
            ask_for(remote.inbox.driver(), events);
        }
        if now.awake && remote.jobs.has_pending() {
            let crowded = remote.jobs.is_crowded();
            seen.crowded |= crowded;
            let fresh = now.epoch != last.epoch && !crowded;
            // A fiber that has been asked and does not join is left to itself.
            seen.joining |= fresh || remote.jobs.request(Beat::GIVE_WAY);
            if pool.idle.sleepers_hint() {
                remote.jobs.request(Beat::ASKED);
            }
        }
        seen.awake += usize::from(now.awake);
        seen.advancing += usize::from(now.awake && now.epoch != last.epoch);
        *last = now;
    }
    pool.lines.sweep(|line| pool.live_of_line(line));
    if seen.aged > 0 && !seen.woken {
        for (remote, look) in pool.remotes.iter().zip(looks.iter_mut()) {
            look.examine(pool, remote, at, &mut seen);
        }
        if seen.waiting <= seen.alike {
            seen.soon = 0;
        }
    }
    seen
}

/// Wakes a sleeper, if there is one, for work that has aged. True if there was one.
fn wake_for_aged(pool: &Arc<Pool>) -> bool {
    let sleeper = pool.idle.claim_any(0);
    if let Some(sleeper) = sleeper {
        pool.wakes.aged.increment_shared();
        pool.say(LogMask::SYSMON, || {
            format!("worker {sleeper} is woken for work that has aged")
        });
        pool.wake(sleeper);
    }
    sleeper.is_some()
}

/// Returns the spawn line of the fiber that the worker runs, if the dispatch is still that of
/// `epoch`.
fn running_at(remote: &Remote, epoch: u64) -> Option<&'static Location<'static>> {
    let location = remote.running_fiber()?.header().location();
    (remote.counters.dispatched.get() == epoch).then_some(location)
}

/// Returns the number of dispatches of all workers.
fn dispatched<'a>(looks: impl Iterator<Item = &'a Look>) -> u64 {
    looks.map(|look| look.epoch).sum()
}

/// Returns since when a condition holds, 0 if it does not. `before` is the result of the look
/// before.
pub(in crate::sched) fn since(before: u64, holds: bool, at: u64) -> u64 {
    match (holds, before) {
        (false, _) => 0,
        (true, 0) => at,
        (true, before) => before,
    }
}

/// Fires the due timers of a worker that does not get to them, where fibers may migrate. Returns
/// when the next one is due, as `base::clock` counts.
fn fire_for(remote: &Remote, at: u64) -> u64 {
    remote.migration.fire_timers(at);
    remote.migration.next_timer().unwrap_or(u64::MAX)
}

impl Look {
    /// Returns what is assumed of a worker before the first look at it.
    fn first(at: u64) -> Look {
        Look {
            since: at,
            ..Look::default()
        }
    }

    fn at(remote: &Remote, last: &Look, at: u64, injected: bool) -> Look {
        let (head, queued) = remote.ring.look();
        let (taken, ready) = remote.migration.look();
        let epoch = remote.counters.dispatched.get();
        let parked = remote.inbox.is_parked();
        let awake = remote.thread.is_launched() && !parked;
        let idle = remote.running.load(Ordering::Relaxed).is_null()
            || remote.notes.is_at_stacks();
        let unaware = parked && !remote.inbox.is_empty();
        let placed = remote.placed.len();
        let as_many = placed != 0 && placed == last.placed;
        Look {
            run: last.run.next(epoch == last.epoch),
            placed,
            placed_since: if as_many { last.placed_since } else { at },
            next: remote.next.look_fresh(),
            head,
            queued,
            taken,
            ready,
            epoch,
            since: if epoch == last.epoch { last.since } else { at },
            awake,
            up: since(last.up, awake && idle, at),
            injected,
            unaware: match epoch == last.epoch {
                true => since(last.unaware, unaware, at),
                false => since(0, unaware, at),
            },
        }
    }

    /// Sets whether the worker is `stuck`, so that no more fibers are placed on it. Moves its
    /// `placed` fibers to others if they have waited for too long.
    fn see_to_placed(&mut self, pool: &Arc<Pool>, worker: usize, at: u64) {
        let remote = &pool.remotes[worker];
        let still = at - self.since;
        let stuck = self.awake
            && self.up == 0
            && still >= STUCK.as_nanos() as u64 / 2
            && self.is_kept_by_its_fiber(remote, at)
            && still >= STUCK.as_nanos() as u64;
        remote.notes.set_stuck(stuck);
        if self.placed == 0 {
            return;
        }
        let waited = at - self.placed_since;
        match (stuck, remote.is_holder()) {
            (true, true) if waited >= RISE.as_nanos() as u64 => {
                let blocked = self.waits(remote, at);
                pool.relieve_holder(worker, blocked);
            }
            (true, true) => pool.wake_holder(remote),
            (false, _) if waited < ABSENT.as_nanos() as u64 => {}
            _ => pool.release_placed(worker),
        }
    }

    /// True if the thread has used half of the time since its processor time was first read, or
    /// waits in the system. Else it waits for a processor, and so would other threads.
    fn is_kept_by_its_fiber(&mut self, remote: &Remote, at: u64) -> bool {
        let Some(used) = remote.thread.probe.processor_time() else {
            return true;
        };
        let (since, before) = *self.run.used.get_or_insert((at, used));
        let runs = at > since && used.saturating_sub(before) >= (at - since) / 2;
        runs || remote.thread.probe.activity() == Some(Activity::Waits)
    }

    /// Records the line of a fiber that holds its thread for [`HELD`].
    fn note_held(&mut self, pool: &Pool, remote: &Remote, at: u64) {
        let still = at - self.since;
        let held = HELD.as_nanos() as u64;
        // The locks of ThreadSanitizer itself block threads for as long as that.
        if cfg!(pirn_tsan)
            || self.run.held
            || !self.awake
            || self.up != 0
            || still < held / 2
        {
            return;
        }
        // Read twice: the answers are about the time in between.
        let blocks = self.waits(remote, at);
        let kept = blocks || self.is_kept_by_its_fiber(remote, at);
        if still < held || !self.run.asked || !kept {
            return;
        }
        self.run.held = true;
        let Some(location) = running_at(remote, self.epoch) else {
            return;
        };
        if pool
            .lines
            .held(location, blocks, |line| pool.live_of_line(line))
        {
            pool.say(LogMask::SYSMON, || {
                let what = if blocks { "blocks its thread" } else { "computes" };
                format!("a fiber spawned at {location} {what} for {HELD:?}: the next start apart")
            });
        }
    }

    /// True if the worker's thread waits in the system.
    fn waits(&mut self, remote: &Remote, at: u64) -> bool {
        *self.run.waits.get_or_insert_with(|| {
            remote.thread.blocks() || remote.thread.probe.waits(at, self.run.waited)
        })
    }

    /// The number of fibers that others could take.
    fn waiting(&self) -> usize {
        self.queued as usize + self.ready + usize::from(self.next != 0)
    }

    /// True if the worker is on its way to whatever waits.
    fn is_getting_up(&self, at: u64) -> bool {
        self.up != 0 && at - self.up < RISE.as_nanos() as u64
    }

    /// True if the notification of a fiber in the worker's inbox will not come any more.
    pub(in crate::sched) fn has_lost_a_wake(&self, at: u64) -> bool {
        self.unaware != 0 && at - self.unaware >= LOST.as_nanos() as u64
    }

    /// Determines whether the worker is stuck, and how.
    fn examine(&mut self, pool: &Pool, remote: &Remote, at: u64, seen: &mut Evidence) {
        let still = at - self.since;
        if !self.awake || self.up != 0 {
            return;
        }
        let waits = remote.thread.blocks()
            || (still >= STILL.as_nanos() as u64 && self.waits(remote, at));
        if waits {
            seen.wait += 1;
        } else if still >= LONG.as_nanos() as u64 {
            seen.compute += 1;
        } else if still >= SOON.as_nanos() as u64 {
            seen.soon += 1;
        }
        if let Some(location) = running_at(remote, self.epoch)
            && let Some((line, queued)) = pool.lines.queued(location)
            && seen.running.add(line)
        {
            seen.alike += queued;
        }
    }
}
