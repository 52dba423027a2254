//! Spawn lines: the history of the fibers that one line of code spawns. It decides where the
//! next ones start.
//!
//! Owns: the table of a pool's spawn lines, their classes, and the changes of a class. Does not
//! own: the choice of a worker (`balance`), nor the evidence (ends of fibers come from
//! `sched::worker::start_finish`, timed runs from `sched::worker::hooks`, held threads from
//! `sched::policy::sysmon`).
//!
//! | class | evidence | where a fiber starts | tracked |
//! |---|---|---|---|
//! | `Short` | [`SURE`] more fibers end within [`LIFETIME`] than after it (late ones count twice) | on the worker that finds it | no |
//! | `Probe` | the same; the next fiber is tracked as a test of the class | the same | once |
//! | `Spread` | new, or its fibers live longer | on the worker with the fewest of its line | yes |
//! | `Together` | timed runs, except first and last ones, are shorter than [`MESSAGE`] and end in a wait for another fiber, or shorter than [`MESSAGES`] and use up the budget | on the worker that finds it | yes |
//! | `Computes` | a fiber, or of more than [`CROWD`] one in as many, has computed for [`HELD`] without a switch | apart from the others, see `balance` | yes |
//! | `Blocks` | a fiber, or of more than [`CROWD`] one in as many, has blocked its thread for [`HELD`] | apart, alone on a thread | yes |
//!
//! A *tracked* fiber carries a [`PlacementTag`] and is counted in `Remote::lines` of the worker that
//! it is assigned to. A new line is `Spread`, because that error is the cheaper one. A short fiber on
//! another worker costs one wake-up (30 to 60 µs); a pool of long-lived fibers on one worker leaves
//! all other processors unused for as long as it lives.
//!
//! The table has [`LINES`] entries. The entry of a line is in one of [`REACH`] positions, the
//! first of which is its home. Where the table is full, it drops `Short` lines that have
//! spawned nothing between two sweeps. Lines of other classes stay. Classes expire
//! too: a `Short` line is probed every [`PERIOD`], `Computes` and `Blocks` end [`MEMORY`]
//! after the last evidence, or once [`SURE`] says that the fibers end early. The first hold of a
//! `Short` or `Together` line makes it `Spread`, the second `Computes` or `Blocks`.
//!
//! All numbers are estimates that several workers write with plain stores. A lost update
//! delays a decision by one fiber.

use std::fmt;
use std::panic::Location;
use std::time::Duration;

use crate::base::clock;
use crate::shim::Lock;
use crate::shim::estimate::{AtomicI32, AtomicU32, AtomicU64, Ordering};

/// Entries of the table. Arbitrary: programs have tens of spawn lines. A power of two.
const LINES: usize = 256;

/// Positions, from its home on, that the entry of a line may have. Arbitrary.
const REACH: usize = 8;

/// A fiber with a shorter life should start where it was spawned. Twenty times the cost of waking
/// another worker for it.
const LIFETIME: Duration = Duration::from_millis(1);

/// The difference between early and late ends that makes a line `Short`.
const SURE: i32 = 8;

/// A shorter run, in nanoseconds, only passes a message. A wake-up from one running processor
/// to another costs the two of them more, with the cache lines that move.
const MESSAGE: u64 = 5_000;

/// The same for a run that uses up the budget of operations: some 80 ns for each operation.
const MESSAGES: u64 = 10_000;

/// The difference between timed runs that pass messages and others that makes a line
/// `Together`.
const TALKS: i32 = 6;

/// A fiber that holds its thread for this long without a switch should delay no others.
pub(in crate::sched) const HELD: Duration = Duration::from_millis(10);

/// Interval between two probes of a `Short` line.
const PERIOD: Duration = Duration::from_millis(250);

/// Live fibers of a line for each hold that makes it `Computes` or `Blocks`. A page fault or another
/// process can make one fiber of thousands hold its thread. Arbitrary: one hold is enough for a
/// burst of twenty fibers.
const CROWD: u64 = 64;

/// Holds of a crowd count together if none is later than this after the one before. Arbitrary:
/// longer than most computations, each of which counts once.
const TOGETHER: Duration = Duration::from_secs(10);

/// How long a line stays `Computes` or `Blocks` after the last evidence.
const MEMORY: Duration = Duration::from_secs(60);

/// The class of a spawn line, which decides where its fibers start.
///
/// # Examples
/// ```
/// use pirn::diag::LineClass;
///
/// assert_eq!(LineClass::Spread.to_string(), "spread");
/// let runtime = pirn::Runtime::builder().workers(2).build()?;
/// let fiber = runtime.spawn(|| 7);
/// let lines = runtime.spawn_lines();
/// let held = lines.iter().filter(|line| line.class == LineClass::Blocks);
/// assert_eq!(held.count(), 0);
/// assert_eq!(fiber.join().unwrap(), 7);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Copy, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum LineClass {
    /// Its fibers end within a millisecond: they start on the worker that finds them.
    Short = 0,
    /// As `Short`; the runtime watches the next fiber, to check whether the class still fits.
    Probe = 1,
    /// The line is new, or its fibers live longer: they are spread over the workers.
    Spread = 2,
    /// Its fibers pass messages to each other: they start on the worker that finds them.
    Together = 3,
    /// A fiber has computed for 10 ms or more without a switch (one in 64, if more are alive): the
    /// next ones start on threads of their own, normally at most as many as there are workers.
    Computes = 4,
    /// A fiber has blocked its thread for 10 ms or more (one in 64, if more are alive): each of the
    /// next ones starts on a thread of its own, up to
    /// [`max_threads`](crate::runtime::Builder::max_threads).
    Blocks = 5,
}

/// The distribution of the fibers of a spawn line over the workers of a runtime.
///
/// A fiber stays on the worker that starts it, unless it may
/// [migrate](crate::runtime::Builder::free_migration).
///
/// # Examples
/// ```
/// use pirn::runtime::Spread;
///
/// assert_eq!(Spread::default(), Spread::ByHistory);
/// let runtime = pirn::Runtime::builder().workers(2).spread(Spread::Never).build()?;
/// assert_eq!(runtime.spawn(|| 7).join().unwrap(), 7);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Copy, Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Spread {
    /// By the history of the line ([`LineClass`]). Long-lived fibers are spread. Fibers that end
    /// soon or pass messages to each other start on the worker that finds them first. Fibers that
    /// hold their threads start on threads of their own.
    #[default]
    ByHistory,
    /// Evenly, whatever the history; but fibers of a line that holds threads start on threads of
    /// their own.
    Evenly,
    /// Not at all: a fiber starts on the worker that finds it first.
    Never,
}

impl fmt::Display for LineClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LineClass::Short | LineClass::Probe => "short",
            LineClass::Spread => "spread",
            LineClass::Together => "together",
            LineClass::Computes => "computes",
            LineClass::Blocks => "blocks",
        })
    }
}

const CLASSES: [LineClass; 6] = [
    LineClass::Short,
    LineClass::Probe,
    LineClass::Spread,
    LineClass::Together,
    LineClass::Computes,
    LineClass::Blocks,
];

/// The history of the fibers that one line of code has spawned.
///
/// # Examples
/// ```
/// let runtime = pirn::Runtime::builder().workers(2).build()?;
/// let fiber = runtime.spawn(|| 7);
/// let lines = runtime.spawn_lines();
/// let line = lines.iter().find(|line| line.location.file() == file!()).unwrap();
/// assert_eq!(line.held, 0);
/// assert_eq!(fiber.join().unwrap(), 7);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpawnLine {
    /// The line of code.
    pub location: &'static Location<'static>,
    /// The class that decides where the next fibers start.
    pub class: LineClass,
    /// Live fibers of the line; those of a `Short` line are not counted.
    pub live: u64,
    /// Fibers that were handed to another worker before they started.
    pub placed: u64,
    /// How often a fiber held its thread for 10 ms or more.
    pub held: u64,
}

/// The spawn lines of one pool.
pub(in crate::sched) struct Lines {
    /// For each entry, the address of its location, and from bit [`CLASS_SHIFT`] on the class; 0
    /// if the entry is free. So a spawn of a `Short` line costs one comparison.
    words: [AtomicU64; LINES],
    entries: Box<[Line]>,
    spread: Spread,
    /// When the table was last swept, in units of [`PlacementTag`].
    swept: AtomicU32,
}

/// One spawn line.
struct Line {
    /// The location, for reports.
    location: Lock<Option<&'static Location<'static>>>,
    /// Twice the number of late ends, minus that of early ends, within ±[`SURE`].
    life: AtomicI32,
    /// The number of timed runs that pass messages, minus twice that of others, within
    /// ±[`TALKS`].
    talk: AtomicI32,
    /// When the last probe started, in units of [`PlacementTag`], plus one. [`PENDING`] before its
    /// start, 0 after its end.
    probe: AtomicU32,
    /// When a fiber last held its thread, in units of [`PlacementTag`].
    held_at: AtomicU32,
    held: AtomicU32,
    /// Of these, the ones without a pause of [`TOGETHER`] between them, up to the last.
    recent: AtomicU32,
    placed: AtomicU32,
    /// Tracked fibers that have not started.
    queued: AtomicI32,
}

/// User space has addresses of at most 56 bits.
const CLASS_SHIFT: u32 = 56;

/// How a timed run of a fiber has ended.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(in crate::sched) enum RunEnd {
    /// In a wait for another fiber.
    ForAFiber,
    /// In a yield, since the fiber has used up its budget of operations (on channels, locks and
    /// the like).
    Budget,
    /// In another way.
    Other,
}

/// The placement word of a fiber's header; 0 if the fiber is not tracked.
///
/// | bits | meaning |
/// |---|---|
/// | 0 to 8 | the entry of its spawn line, plus one |
/// | 9 | the fiber is assigned to a worker, and has not started |
/// | 10 to 31 | not assigned: 1 if the fiber is to start apart, 2 if its worker was stuck, else 0; started: the time of the start, in units of 65.5 µs |
/// | 10 to 30 | assigned: the worker |
/// | 31 | assigned: its first worker was stuck |
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(in crate::sched) struct PlacementTag(pub(in crate::sched) u32);

const LINE_BITS: u32 = 9;
const ASSIGNED: u32 = 1 << LINE_BITS;
const REST: u32 = LINE_BITS + 1;
const APART: u32 = 1 << REST;
const RELEASED: u32 = 2 << REST;
const AGAIN: u32 = 1 << 31;
const TIME: u32 = u32::MAX >> REST;
/// A unit of time is 2^16 nanoseconds.
const UNIT: u32 = 16;

impl PlacementTag {
    /// The entry of the line in the table.
    pub(in crate::sched) fn line(self) -> usize {
        (self.0 as usize & ((1 << LINE_BITS) - 1)) - 1
    }

    /// The worker that the fiber is assigned to, before it has started.
    pub(in crate::sched) fn worker(self) -> Option<usize> {
        (self.0 & ASSIGNED != 0).then_some(((self.0 & !AGAIN) >> REST) as usize)
    }

    /// This tag of an assigned fiber after its worker was stuck. The fiber is assigned once more,
    /// and not a third time.
    pub(super) fn released(self) -> Option<PlacementTag> {
        let first = self.0 & (ASSIGNED | AGAIN) == ASSIGNED;
        first.then(|| PlacementTag(PlacementTag::unassigned(self.line()).0 | RELEASED))
    }

    /// Whether the fiber is to be assigned once more.
    pub(super) fn is_released(self) -> bool {
        self.0 >> LINE_BITS == RELEASED >> LINE_BITS
    }

    /// The tag of this fiber, which has not started, once it is assigned to `worker`.
    pub(super) fn assign(self, worker: usize) -> PlacementTag {
        let again = if self.is_released() { AGAIN } else { 0 };
        PlacementTag(PlacementTag::assigned(self.line(), worker).0 | again)
    }

    pub(in crate::sched) fn assigned(line: usize, worker: usize) -> PlacementTag {
        PlacementTag((worker as u32) << REST | ASSIGNED | (line as u32 + 1))
    }

    pub(super) fn unassigned(line: usize) -> PlacementTag {
        PlacementTag(line as u32 + 1)
    }

    /// Whether the spawn asked that the fiber start apart.
    pub(in crate::sched) fn is_apart(self) -> bool {
        self.0 >> LINE_BITS == APART >> LINE_BITS
    }

    /// The tag of a fiber of `line` that starts now.
    pub(in crate::sched) fn started(line: usize) -> PlacementTag {
        PlacementTag(units() << REST | (line as u32 + 1))
    }

    /// The time since the fiber started, modulo 275 s.
    fn age(self) -> Duration {
        let units = units().wrapping_sub(self.0 >> REST) & TIME;
        Duration::from_nanos(u64::from(units) << UNIT)
    }
}

/// The present moment in units of [`PlacementTag`].
fn units() -> u32 {
    (clock::now() >> UNIT) as u32 & TIME
}

/// The time since a moment, modulo 275 s.
fn since(units_then: u32) -> Duration {
    let units = units().wrapping_sub(units_then) & TIME;
    Duration::from_nanos(u64::from(units) << UNIT)
}

impl Lines {
    pub(in crate::sched) fn new(spread: Spread) -> Lines {
        Lines {
            words: [const { AtomicU64::new(0) }; LINES],
            entries: (0..LINES).map(|_| Line::new()).collect(),
            spread,
            swept: AtomicU32::new(0),
        }
    }

    /// Returns the tag of a fiber that is spawned at `location`; 0 if it is not tracked.
    #[inline(always)]
    pub(in crate::sched) fn tag(&self, location: &'static Location<'static>) -> u32 {
        let key = key(location);
        // ORDERING: Relaxed: an estimate.
        if self.words[home(key)].load(Ordering::Relaxed) == key {
            return 0;
        }
        self.tag_tracked(location)
    }

    #[cold]
    #[inline(never)]
    fn tag_tracked(&self, location: &'static Location<'static>) -> u32 {
        let Some(at) = self.find_or_enter(location) else {
            return 0;
        };
        let line = &self.entries[at];
        match self.class(at) {
            LineClass::Short => return 0,
            LineClass::Probe => {
                self.reclassify(at, LineClass::Probe, LineClass::Short);
                line.probe.store(PENDING, Ordering::Relaxed);
            }
            _ => {}
        }
        line.queued.fetch_add(1, Ordering::Relaxed);
        PlacementTag::unassigned(at).0
    }

    /// Returns the tag of a fiber that is spawned at `location` with the request to start apart.
    pub(in crate::sched) fn tag_apart(
        &self,
        location: &'static Location<'static>,
    ) -> u32 {
        let at = self
            .find_or_enter(location)
            .filter(|_| self.spread != Spread::Never);
        at.map_or(0, |at| {
            self.entries[at].queued.fetch_add(1, Ordering::Relaxed);
            PlacementTag::unassigned(at).0 | APART
        })
    }

    /// Undoes [`tag`](Self::tag) for a fiber that could not be queued; `tag` is 0 if it is not
    /// tracked.
    pub(in crate::sched) fn untag(&self, tag: u32) {
        if tag != 0 {
            self.started(PlacementTag(tag).line());
        }
    }

    /// Counts the start of a tracked fiber.
    pub(in crate::sched) fn started(&self, line: usize) {
        let line = &self.entries[line];
        line.queued.fetch_sub(1, Ordering::Relaxed);
        if line.probe.load(Ordering::Relaxed) == PENDING {
            line.probe.store(units() + 1, Ordering::Relaxed);
        }
    }

    /// Returns the entry of a spawn line, and how many of its tracked fibers have not started;
    /// `None` if the line is not in the table.
    pub(in crate::sched) fn queued(
        &self,
        location: &'static Location<'static>,
    ) -> Option<(usize, usize)> {
        let key = key(location);
        let at = self.places(key).find(|at| self.key_at(*at) == key)?;
        let queued = self.entries[at].queued.load(Ordering::Relaxed);
        Some((at, queued.max(0).cast_unsigned() as usize))
    }

    /// The positions that a line's entry may have.
    fn places(&self, key: u64) -> impl Iterator<Item = usize> + use<> {
        (0..REACH).map(move |step| (home(key) + step) % LINES)
    }

    fn key_at(&self, at: usize) -> u64 {
        self.words[at].load(Ordering::Relaxed) & ADDRESS
    }

    fn find_or_enter(&self, location: &'static Location<'static>) -> Option<usize> {
        let key = key(location);
        if let Some(at) = self.places(key).find(|at| self.key_at(*at) == key) {
            return Some(at);
        }
        let class = match self.spread {
            Spread::Never => LineClass::Short,
            _ => LineClass::Spread,
        };
        let word = word(key, class);
        let free = |at: &usize| {
            self.words[*at]
                .compare_exchange(0, word, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
        };
        let at = self.places(key).find(free)?;
        let first = self.places(key).find(|at| self.key_at(*at) == key)?;
        if first != at {
            // Another thread has entered the same line at the same time.
            self.words[at].store(0, Ordering::Relaxed);
            return Some(first);
        }
        let line = &self.entries[at];
        *line.location.lock() = Some(location);
        for score in [&line.life, &line.talk] {
            score.store(0, Ordering::Relaxed);
        }
        for count in [
            &line.probe,
            &line.held,
            &line.recent,
            &line.held_at,
            &line.placed,
        ] {
            count.store(0, Ordering::Relaxed);
        }
        Some(at)
    }

    /// The class of the line in an entry.
    pub(in crate::sched) fn class(&self, line: usize) -> LineClass {
        CLASSES[(self.words[line].load(Ordering::Relaxed) >> CLASS_SHIFT) as usize]
    }

    /// Changes the class to `to`, if it is still `from`.
    fn reclassify(&self, line: usize, from: LineClass, to: LineClass) {
        let before = self.words[line].load(Ordering::Relaxed);
        let key = before & ADDRESS;
        if key != 0 && before == word(key, from) {
            let _ = self.words[line].compare_exchange(
                before,
                word(key, to),
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
        }
    }

    /// Counts a life of [`LIFETIME`] or more (`long`), or a shorter one.
    pub(in crate::sched) fn lived(&self, line: usize, long: bool) {
        let step = if long { 2 } else { -1 };
        let life = add(&self.entries[line].life, step, SURE);
        let class = self.class(line);
        match class {
            LineClass::Computes | LineClass::Blocks if life == -SURE => {
                self.reclassify(line, class, LineClass::Spread);
            }
            _ if self.spread == Spread::Evenly => {}
            LineClass::Spread | LineClass::Together if life == -SURE => {
                self.reclassify(line, class, LineClass::Short);
            }
            LineClass::Short | LineClass::Probe if life > -SURE / 2 => {
                self.reclassify(line, class, LineClass::Spread);
            }
            _ => {}
        }
    }

    /// Counts a fiber of the line that is handed to another worker.
    pub(super) fn count_placed(&self, line: usize) {
        self.entries[line].placed.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts the end of a tracked fiber.
    pub(in crate::sched) fn ended(&self, tag: PlacementTag) {
        // The next sweep shall not count it too.
        self.entries[tag.line()].probe.store(0, Ordering::Relaxed);
        self.lived(tag.line(), tag.age() >= LIFETIME);
    }

    /// Counts a timed run of a tracked fiber, of `ran` nanoseconds.
    pub(in crate::sched) fn sampled(&self, tag: PlacementTag, ran: u64, end: RunEnd) {
        let line = tag.line();
        if self.spread == Spread::Evenly {
            return;
        }
        let talks = match end {
            RunEnd::ForAFiber => ran < MESSAGE,
            RunEnd::Budget => ran < MESSAGES,
            RunEnd::Other => false,
        };
        let step = if talks { 1 } else { -2 };
        match add(&self.entries[line].talk, step, TALKS) {
            TALKS => self.reclassify(line, LineClass::Spread, LineClass::Together),
            ..0 => self.reclassify(line, LineClass::Together, LineClass::Spread),
            _ => {}
        }
    }

    /// Counts that a fiber spawned at `location` has held its thread for [`HELD`]. `blocks`: the
    /// thread waits in the system; else it computes. `live` returns the number of live fibers of an
    /// entry. Returns true if this has changed the class to `Computes` or `Blocks`.
    pub(in crate::sched) fn held(
        &self,
        location: &'static Location<'static>,
        blocks: bool,
        live: impl Fn(usize) -> u64,
    ) -> bool {
        if self.spread == Spread::Never {
            return false;
        }
        let Some(at) = self.find_or_enter(location) else {
            return false;
        };
        let line = &self.entries[at];
        line.held.fetch_add(1, Ordering::Relaxed);
        let recent = match since(line.held_at.load(Ordering::Relaxed)) < TOGETHER {
            true => line.recent.load(Ordering::Relaxed).saturating_add(1),
            false => 1,
        };
        line.recent.store(recent, Ordering::Relaxed);
        line.held_at.store(units(), Ordering::Relaxed);
        let class = match blocks {
            true => LineClass::Blocks,
            false => LineClass::Computes,
        };
        let before = self.class(at);
        // Many fibers have shown this class. One that differs may be an outlier: a system that is
        // not on a processor of its own can stop for 10 ms, and the thread seems to compute.
        let learnt = matches!(
            before,
            LineClass::Short | LineClass::Probe | LineClass::Together
        );
        if learnt {
            line.life.store(0, Ordering::Relaxed);
            line.talk.store(0, Ordering::Relaxed);
            self.reclassify(at, before, LineClass::Spread);
            return false;
        }
        let changes = before != class && before != LineClass::Blocks;
        // Those that are assigned to a worker and have not started are in both numbers.
        let crowd = live(at).max(u64::from(read(&line.queued)));
        if changes && u64::from(recent) * CROWD < crowd {
            return false;
        }
        line.life.store(SURE, Ordering::Relaxed);
        // A fiber that blocks may also compute at times. `Blocks` stays, since it needs more
        // threads.
        if before != LineClass::Blocks {
            self.reclassify(at, before, class);
        }
        changes
    }

    /// Sweeps the table once per [`PERIOD`]: starts probes, ends expired classes, drops unused
    /// lines. One caller at a time. `live` returns the number of live fibers of an entry.
    pub(in crate::sched) fn sweep(&self, live: impl Fn(usize) -> u64) {
        if self.spread == Spread::Never
            || since(self.swept.load(Ordering::Relaxed)) < PERIOD
        {
            return;
        }
        self.swept.store(units(), Ordering::Relaxed);
        for (at, line) in self.entries.iter().enumerate() {
            let word = self.words[at].load(Ordering::Relaxed);
            if word == 0 {
                continue;
            }
            let probe = line.probe.load(Ordering::Relaxed);
            if probe != 0 && probe != PENDING && since(probe - 1) >= LIFETIME {
                line.probe.store(0, Ordering::Relaxed);
                self.lived(at, true);
            }
            let class = self.class(at);
            match class {
                LineClass::Short => {
                    self.reclassify(at, LineClass::Short, LineClass::Probe);
                }
                LineClass::Computes | LineClass::Blocks
                    if since(line.held_at.load(Ordering::Relaxed)) > MEMORY =>
                {
                    self.reclassify(at, class, LineClass::Spread);
                }
                _ => {}
            }
            // No fiber of the line was spawned since the last sweep, and the table is full here.
            let lives = live(at) > 0 || line.queued.load(Ordering::Relaxed) > 0;
            if class == LineClass::Probe && !lives && self.is_crowded(at) {
                let _ = self.words[at].compare_exchange(
                    word,
                    0,
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                );
            }
        }
    }

    fn is_crowded(&self, at: usize) -> bool {
        (1..REACH).all(|step| {
            self.words[(at + LINES - step) % LINES].load(Ordering::Relaxed) != 0
        })
    }

    /// Returns the history of every line. `live` returns the number of live fibers of an entry.
    pub(in crate::sched) fn list(&self, live: impl Fn(usize) -> u64) -> Vec<SpawnLine> {
        let entries = self.entries.iter().enumerate();
        entries
            .filter(|(at, _)| self.key_at(*at) != 0)
            .filter_map(|(at, line)| {
                Some(SpawnLine {
                    location: (*line.location.lock())?,
                    class: self.class(at),
                    live: live(at),
                    placed: u64::from(line.placed.load(Ordering::Relaxed)),
                    held: u64::from(line.held.load(Ordering::Relaxed)),
                })
            })
            .collect()
    }
}

/// Counts of the tracked fibers that are assigned to one worker, live or about to start, for
/// each entry of the table. Written by any worker.
pub(in crate::sched) struct LineCounts {
    each: Box<[AtomicI32]>,
    total: AtomicI32,
}

impl LineCounts {
    pub(in crate::sched) fn new() -> LineCounts {
        LineCounts {
            each: (0..LINES).map(|_| AtomicI32::new(0)).collect(),
            total: AtomicI32::new(0),
        }
    }

    /// Adds to the number of fibers of one line; returns what it was before.
    pub(in crate::sched) fn count(&self, line: usize, change: i32) -> u64 {
        let before = self.each[line].fetch_add(change, Ordering::Relaxed);
        self.total.fetch_add(change, Ordering::Relaxed);
        u64::from(before.max(0).cast_unsigned())
    }

    /// The number of fibers of one line.
    pub(in crate::sched) fn live(&self, line: usize) -> u64 {
        u64::from(read(&self.each[line]))
    }

    /// The number of fibers of all lines.
    pub(in crate::sched) fn total(&self) -> usize {
        read(&self.total) as usize
    }
}

/// `Line::probe` while the probe has not started.
const PENDING: u32 = u32::MAX;

/// Reads a count. It is below zero for a moment if an end is seen before its start.
fn read(count: &AtomicI32) -> u32 {
    count.load(Ordering::Relaxed).max(0).cast_unsigned()
}

impl Line {
    fn new() -> Line {
        Line {
            location: Lock::new(None),
            life: AtomicI32::new(0),
            talk: AtomicI32::new(0),
            probe: AtomicU32::new(0),
            held_at: AtomicU32::new(0),
            held: AtomicU32::new(0),
            recent: AtomicU32::new(0),
            placed: AtomicU32::new(0),
            queued: AtomicI32::new(0),
        }
    }
}

/// Adds `step` to a score that stays within `±limit`, and returns it.
fn add(score: &AtomicI32, step: i32, limit: i32) -> i32 {
    let now = score.load(Ordering::Relaxed) + step;
    let now = now.clamp(-limit, limit);
    score.store(now, Ordering::Relaxed);
    now
}

const ADDRESS: u64 = (1 << CLASS_SHIFT) - 1;

/// The address of a location; it equals the word of a `Short` line.
#[inline(always)]
fn key(location: &'static Location<'static>) -> u64 {
    std::ptr::from_ref(location).addr() as u64
}

fn word(key: u64, class: LineClass) -> u64 {
    key | (class as u64) << CLASS_SHIFT
}

/// The home position of a line. A `Location` is three words long, so neighbors have different
/// homes.
#[inline(always)]
fn home(key: u64) -> usize {
    (key >> 3) as usize % LINES
}
