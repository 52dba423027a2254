//! What the tests stand on: runtimes of every shape, parts that run in a process of their
//! own, dice, things that count how often they are dropped, and what the system says of us.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pirn::Runtime;
use pirn::runtime::Scheduler;

/// No wait that a test is sure of takes this long, however busy the machine is.
pub(crate) const LONG: Duration = Duration::from_secs(60);

pub(crate) const SCHEDULERS: [Scheduler; 2] =
    [Scheduler::WorkStealing, Scheduler::SingleQueue];

/// A runtime with this many workers and this scheduler.
pub(crate) fn shaped(workers: usize, scheduler: Scheduler) -> Runtime {
    let builder = Runtime::builder().workers(workers).scheduler(scheduler);
    builder.build().expect("a runtime starts")
}

/// Runs `test` on runtimes with 1, 2, 4 and 8 workers and either scheduler. No safety net
/// may have had to act.
pub(crate) fn on_every_shape(test: impl Fn(&Runtime)) {
    for scheduler in SCHEDULERS {
        for workers in [1, 2, 4, 8] {
            let runtime = shaped(workers, scheduler);
            test(&runtime);
            let rescues = runtime.metrics().total.rescues;
            assert_eq!(rescues, 0, "rescues with {workers} workers, {scheduler:?}");
        }
    }
}

/// `n`, or as much of it as a sanitizer gets through in the same time.
pub(crate) const fn scaled(n: usize) -> usize {
    let part = if cfg!(pirn_tsan) {
        n / 20
    } else if cfg!(pirn_asan) {
        n / 5
    } else {
        n
    };
    if part == 0 { 1 } else { part }
}

/// How much more memory, and time, a sanitizer may take than an ordinary build.
pub(crate) const SLACK: u32 = if cfg!(pirn_tsan) {
    40
} else if cfg!(pirn_asan) {
    4
} else {
    1
};

/// Looks until `condition` holds.
///
/// # Panics
/// If that takes too long; the message is `what`.
#[track_caller]
pub(crate) fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < LONG, "not within {LONG:?}: {what}");
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// Keeps the calling thread, and so the worker that it may be, busy until `condition` holds.
///
/// # Panics
/// If that takes too long; the message is `what`.
#[track_caller]
pub(crate) fn compute_until(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < LONG, "not within {LONG:?}: {what}");
        // A thread that asks all the time does not compute under ThreadSanitizer: those that look at one word
        // wait for each other there.
        (0..200).for_each(|_| std::hint::spin_loop());
    }
}

/// How long a plain thread takes to come awake while the one that woke it computes on: what
/// nine of ten wakes take at most. The yardstick of tests that measure time, on machines
/// that are busy with something else.
pub(crate) fn slow_wake() -> Duration {
    let woken = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&woken);
    let sleeper = std::thread::spawn(move || {
        while count.fetch_add(1, Ordering::SeqCst) < 100 {
            std::thread::park();
        }
    });
    let mut waits: Vec<Duration> = (1..=100)
        .map(|round| {
            eventually("it goes to sleep", || woken.load(Ordering::SeqCst) >= round);
            std::thread::sleep(Duration::from_micros(200));
            let start = Instant::now();
            sleeper.thread().unpark();
            compute_until("it wakes", || woken.load(Ordering::SeqCst) > round);
            start.elapsed()
        })
        .collect();
    sleeper.join().expect("it ends");
    waits.sort_unstable();
    waits[90]
}

/// Numbers that look like chance, the same for the same seed.
#[derive(Clone)]
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// Any number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// One of `all`, if there are any.
    pub(crate) fn one_of<T: Copy>(
        &mut self,
        all: impl IntoIterator<Item = T>,
    ) -> Option<T> {
        let all: Vec<T> = all.into_iter().collect();
        (!all.is_empty()).then(|| all[self.below(all.len())])
    }

    /// So many numbers of 24 bits.
    pub(crate) fn many(&mut self, n: usize) -> Vec<u64> {
        (0..n).map(|_| self.next() >> 40).collect()
    }
}

/// Makes things that count how often they were dropped.
#[derive(Clone, Default)]
pub(crate) struct Drops {
    made: Arc<AtomicUsize>,
    dropped: Arc<AtomicUsize>,
}

/// Counts its drop.
pub(crate) struct Counted(Arc<AtomicUsize>);

impl Drops {
    pub(crate) fn one(&self) -> Counted {
        self.made.fetch_add(1, Ordering::SeqCst);
        Counted(Arc::clone(&self.dropped))
    }

    /// How many have been dropped.
    pub(crate) fn count(&self) -> usize {
        self.dropped.load(Ordering::SeqCst)
    }

    /// How many have been made.
    pub(crate) fn made(&self) -> usize {
        self.made.load(Ordering::SeqCst)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// How a part of a test ended that had a process of its own.
pub(crate) struct Ended {
    pub(crate) status: std::process::ExitStatus,
    pub(crate) stderr: String,
}

const PART: &str = "PIRN_TEST_PART";

/// Runs `part` in a process of its own and returns how that ended; `None` is returned there.
///
/// `name` is the calling test's: the other process is this binary again, running that test
/// alone, and this call is where it turns off.
pub(crate) fn apart(
    name: &str,
    environment: &[(&str, &str)],
    part: impl FnOnce(),
) -> Option<Ended> {
    if std::env::var_os(PART).is_some_and(|is| is == name) {
        part();
        return None;
    }
    Some(watched(&mut again(name, environment)))
}

/// As [`apart`], in a process that belongs to nobody; only root can do so.
#[cfg(unix)]
pub(crate) fn apart_as_nobody(
    name: &str,
    environment: &[(&str, &str)],
    part: impl FnOnce(),
) -> Option<Ended> {
    use std::os::unix::process::CommandExt;
    if std::env::var_os(PART).is_some_and(|is| is == name) {
        part();
        return None;
    }
    Some(watched(
        again(name, environment).uid(65_534).current_dir("/"),
    ))
}

/// This binary again, to run the test of that name alone.
fn again(name: &str, environment: &[(&str, &str)]) -> Command {
    // By this name whoever runs it need not be able to enter the directories above it.
    let myself = match cfg!(target_os = "linux") {
        true => "/proc/self/exe".into(),
        false => std::env::current_exe().expect("this binary"),
    };
    let mut command = Command::new(myself);
    command.args(["--exact", name, "--nocapture", "--test-threads=1"]);
    // A test that must be alone is left out where it is not named.
    command.arg("--include-ignored");
    for variable in [
        "PIRN_WORKERS",
        "PIRN_STACK_SIZE",
        "PIRN_SEED",
        "PIRN_DEADLOCK",
        "PIRN_STATS",
        "PIRN_VERBOSE",
        "PIRN_TRACE",
        "PIRN_LOG",
        "PIRN_SLOW_FIBER",
        "PIRN_STALL_SIGNAL",
        "PIRN_ASSERT",
        "PIRN_INSPECT",
        "RUST_BACKTRACE",
    ] {
        command.env_remove(variable);
    }
    command.env(PART, name).envs(environment.iter().copied());
    command
}

/// Runs `command` to its end, which must come in time.
pub(crate) fn watched(command: &mut Command) -> Ended {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null());
    let mut child = quiet
        .stderr(Stdio::piped())
        .spawn()
        .expect("a process starts");
    let mut pipe = child.stderr.take().expect("a pipe");
    let reader = std::thread::spawn(move || std::io::read_to_string(&mut pipe));
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child of ours") {
            break status;
        }
        if start.elapsed() > 2 * LONG {
            child.kill().expect("a child of ours");
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let stderr = reader.join().expect("reads on").expect("text");
    Ended { status, stderr }
}

/// A directory of a test's own that everybody may enter, removed with what is in it.
pub(crate) struct Directory(PathBuf);

impl Directory {
    pub(crate) fn new() -> Directory {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let number = MADE.fetch_add(1, Ordering::SeqCst);
        let name = format!("pirn-it-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).expect("a new directory");
        Directory(path)
    }

    /// The path of `name` in it.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// What is in it.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("is there").flatten();
        let mut names: Vec<_> = entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Bytes of memory that the process has in use.
pub(crate) fn resident() -> usize {
    status("VmRSS:") << 10
}

/// Bytes of address space that the process has taken.
#[cfg(not(any(pirn_asan, pirn_tsan)))]
pub(crate) fn reserved() -> usize {
    status("VmSize:") << 10
}

/// Bytes of memory of its own that the process may write to.
#[cfg(not(any(pirn_asan, pirn_tsan)))]
pub(crate) fn data() -> usize {
    status("VmData:") << 10
}

/// Memory mappings that the process has.
pub(crate) fn mappings() -> usize {
    fs::read_to_string("/proc/self/maps")
        .expect("is there")
        .lines()
        .count()
}

/// Sockets that the process has open. Other descriptors say little: each worker has two of its
/// own, and workers are added where a machine is busy.
#[cfg(unix)]
pub(crate) fn sockets() -> usize {
    let descriptors = fs::read_dir("/proc/self/fd").expect("is there");
    // One may have been closed meanwhile: that of the folder itself, at least.
    let targets = descriptors
        .flatten()
        .flat_map(|entry| fs::read_link(entry.path()));
    targets
        .filter(|target| target.to_string_lossy().starts_with("socket:"))
        .count()
}

/// Processor time that the process has used.
pub(crate) fn processor_time() -> Duration {
    let mut total = 0;
    for task in fs::read_dir("/proc/self/task").expect("is there").flatten() {
        // A task may have ended meanwhile.
        let text = fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
        total += text
            .split(' ')
            .next()
            .and_then(|n| n.parse().ok())
            .unwrap_or(0);
    }
    Duration::from_nanos(total)
}

/// A number in `/proc/self/status`.
fn status(field: &str) -> usize {
    let text = fs::read_to_string("/proc/self/status").expect("is there");
    let line = text.lines().find_map(|line| line.strip_prefix(field));
    let number = line.and_then(|rest| rest.split_whitespace().next());
    number.and_then(|n| n.parse().ok()).expect("a number")
}
