//! Utilities for tests: runtimes of every shape, parts that run in a process of their own, random
//! numbers, objects that count their drops, and the system's statistics of this process.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use pirn::Runtime;
use pirn::runtime::Scheduler;

/// Longer than any wait that must succeed, on however busy a machine.
pub(crate) const LONG: Duration = Duration::from_secs(60);

pub(crate) const SCHEDULERS: [Scheduler; 2] =
    [Scheduler::WorkStealing, Scheduler::SingleQueue];

/// A runtime with this many workers and this scheduler.
pub(crate) fn shaped(workers: usize, scheduler: Scheduler) -> Runtime {
    let builder = Runtime::builder().workers(workers).scheduler(scheduler);
    builder.build().expect("a runtime starts")
}

/// Runs `test` on runtimes with 1, 2, 4 and 8 workers and either scheduler; under ThreadSanitizer with
/// 2 and 8. No safety net may have intervened.
pub(crate) fn on_every_shape(test: impl Fn(&Runtime)) {
    let workers: &[usize] = if cfg!(pirn_tsan) {
        &[2, 8]
    } else {
        &[1, 2, 4, 8]
    };
    for scheduler in SCHEDULERS {
        for &workers in workers {
            let runtime = shaped(workers, scheduler);
            test(&runtime);
            let rescues = runtime.metrics().total.rescues;
            assert_eq!(rescues, 0, "rescues with {workers} workers, {scheduler:?}");
        }
    }
}

/// `n`, or the part of it that a sanitizer completes in the same time.
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

/// Polls until `condition` holds.
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
        // A spinning thread does not compute under ThreadSanitizer: threads that poll one word wait
        // for each other there.
        (0..200).for_each(|_| std::hint::spin_loop());
    }
}

/// Measures how long a plain thread takes to wake while its waker keeps computing: the 90th
/// percentile. The yardstick of tests that measure time, on busy machines.
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

/// Pseudo-random numbers, the same for the same seed.
#[derive(Clone)]
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// Returns any number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// Returns one of `all`, if there are any.
    pub(crate) fn one_of<T: Copy>(
        &mut self,
        all: impl IntoIterator<Item = T>,
    ) -> Option<T> {
        let all: Vec<T> = all.into_iter().collect();
        (!all.is_empty()).then(|| all[self.below(all.len())])
    }

    /// Returns so many numbers of 24 bits.
    pub(crate) fn many(&mut self, n: usize) -> Vec<u64> {
        (0..n).map(|_| self.next() >> 40).collect()
    }
}

/// Creates objects that count their drops.
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

    /// Returns how many have been dropped.
    pub(crate) fn count(&self) -> usize {
        self.dropped.load(Ordering::SeqCst)
    }

    /// Returns how many have been created.
    pub(crate) fn made(&self) -> usize {
        self.made.load(Ordering::SeqCst)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// The end of a part of a test that had a process of its own.
pub(crate) struct Ended {
    pub(crate) status: std::process::ExitStatus,
    pub(crate) stderr: String,
}

const PART: &str = "PIRN_TEST_PART";

/// Runs `part` in a process of its own and returns how that ended; `None` is returned there.
///
/// `name` is the name of the calling test: the other process is this binary again. It runs that
/// test alone, up to this call.
pub(crate) fn apart(
    name: &str,
    environment: &[(&str, &str)],
    part: impl FnOnce(),
) -> Option<Ended> {
    if is_again(name) {
        part();
        return None;
    }
    Some(watched(&mut again(name, environment)))
}

/// Like [`apart`], in a process of an unprivileged user; only root can do so.
#[cfg(unix)]
pub(crate) fn apart_unprivileged(
    name: &str,
    environment: &[(&str, &str)],
    part: impl FnOnce(),
) -> Option<Ended> {
    use std::os::unix::process::CommandExt;
    if is_again(name) {
        part();
        return None;
    }
    Some(watched(
        again(name, environment).uid(65_534).current_dir("/"),
    ))
}

/// Returns true in a process that runs the command of [`again`] for this test.
pub(crate) fn is_again(name: &str) -> bool {
    std::env::var_os(PART).is_some_and(|is| is == name)
}

/// Returns a command for this binary, to run only the test of that name.
pub(crate) fn again(name: &str, environment: &[(&str, &str)]) -> Command {
    // With this path, other users need no access to the directories above the binary.
    let myself = match cfg!(target_os = "linux") {
        true => "/proc/self/exe".into(),
        false => std::env::current_exe().expect("this binary"),
    };
    let mut command = Command::new(myself);
    command.args(["--exact", name, "--nocapture", "--test-threads=1"]);
    // A test that must run alone is skipped unless it is named.
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

/// Runs `command`, this binary with the name of one test, to its end, within a limit.
///
/// # Panics
/// If there is no test of that name: the process would have passed.
pub(crate) fn watched(command: &mut Command) -> Ended {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = quiet
        .stderr(Stdio::piped())
        .spawn()
        .expect("a process starts");
    let stdout = reader(child.stdout.take().expect("a pipe"));
    let stderr = reader(child.stderr.take().expect("a pipe"));
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
    let stdout = stdout.join().expect("reads on");
    let stderr = stderr.join().expect("reads on");
    // Written before the test, which may end the process.
    let has_begun = stdout.contains("running 1 test");
    assert!(
        has_begun,
        "no test: {command:?}: {status}: {stdout}{stderr}"
    );
    Ended { status, stderr }
}

/// Reads `pipe` to its end, on a thread of its own.
fn reader(mut pipe: impl io::Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).expect("it can be read");
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// A directory of a test's own that every user may enter, removed with its content.
pub(crate) struct Directory(PathBuf);

impl Directory {
    pub(crate) fn new() -> Directory {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        loop {
            let number = MADE.fetch_add(1, Ordering::SeqCst);
            let name = format!("pirn-it-{}-{number}", std::process::id());
            let path = std::env::temp_dir().join(name);
            match fs::create_dir(&path) {
                // A test of the same number that was killed has left it.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => {
                    made.expect("a new directory");
                    return Directory(path);
                }
            }
        }
    }

    /// Returns the path of `name` in it.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Returns its content.
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

/// Returns the bytes of memory that the process has in use; 0 under a sanitizer, which keeps freed
/// memory.
pub(crate) fn resident() -> usize {
    match cfg!(any(pirn_asan, pirn_tsan)) {
        true => 0,
        false => status("VmRSS:") << 10,
    }
}

/// Returns the bytes of address space that the process has taken.
#[cfg(not(any(pirn_asan, pirn_tsan)))]
pub(crate) fn reserved() -> usize {
    status("VmSize:") << 10
}

/// Returns the bytes of private writable memory of the process.
#[cfg(not(any(pirn_asan, pirn_tsan)))]
pub(crate) fn data() -> usize {
    status("VmData:") << 10
}

/// Returns the number of memory mappings of the process.
pub(crate) fn mappings() -> usize {
    fs::read_to_string("/proc/self/maps")
        .expect("is there")
        .lines()
        .count()
}

/// Returns the number of open sockets of the process. Other descriptors say little: each worker has
/// two of its own, and workers are added where a machine is busy.
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

/// Returns the processor time that the process has used.
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

/// Returns how often the threads of the runtime `name` have gone to sleep, all but its monitor, and
/// others with such names.
pub(crate) fn sleeps(name: &str) -> usize {
    let tasks = fs::read_dir("/proc/self/task").expect("is there").flatten();
    // A task may have ended meanwhile.
    let texts =
        tasks.filter_map(|task| fs::read_to_string(task.path().join("status")).ok());
    let is_one = |text: &String| {
        let own = text.strip_prefix("Name:\t");
        let role = own.and_then(|own| own.strip_prefix(name)?.strip_prefix('-'));
        role.is_some_and(|role| !role.starts_with("monitor"))
    };
    let count = |text: String| number(&text, "voluntary_ctxt_switches:");
    texts.filter(is_one).map(count).sum()
}

/// Returns a number in `/proc/self/status`.
fn status(field: &str) -> usize {
    let text = fs::read_to_string("/proc/self/status").expect("is there");
    number(&text, field)
}

/// Returns the number after `field` in such a text.
fn number(text: &str, field: &str) -> usize {
    let line = text.lines().find_map(|line| line.strip_prefix(field));
    let number = line.and_then(|rest| rest.split_whitespace().next());
    number.and_then(|n| n.parse().ok()).expect("a number")
}
