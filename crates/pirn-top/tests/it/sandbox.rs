//! A directory for sockets, processes to inspect, and the program itself.

use std::fs;
use std::ops::Deref;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pirn::Runtime;
use pirn::diag::State;
use pirn::sync::Mutex;

/// A wait that must succeed takes less time than this, however busy the machine is.
pub(crate) const LONG: Duration = Duration::from_secs(60);

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_pirn-top");

/// A directory of one test, accessible to all users, removed with its contents.
pub(crate) struct Directory(PathBuf);

impl Directory {
    pub(crate) fn new() -> Directory {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let number = MADE.fetch_add(1, Ordering::SeqCst);
        let name = format!("pirn-top-it-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).expect("a new directory");
        Directory(path)
    }

    /// Returns the path of `name` in it.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns the output of the program with these arguments.
pub(crate) fn run(socket: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(PROGRAM);
    let command = command.arg(socket).args(args).stdin(Stdio::null());
    command.output().expect("the program runs")
}

/// The same as another user; `program` is a path that this user can access.
pub(crate) fn run_unprivileged(program: &Path, socket: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(program);
    let command = command.arg(socket).args(args).stdin(Stdio::null());
    let command = command.uid(65_534).current_dir("/");
    command.output().expect("the program runs")
}

/// Polls until `condition` holds.
#[track_caller]
pub(crate) fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < LONG, "not within {LONG:?}: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A runtime that cancels its fibers when it is dropped, also when a test has failed.
pub(crate) struct Shop(Option<Runtime>);

impl Shop {
    /// Returns one with this many workers, which answers on `socket`.
    pub(crate) fn open(workers: usize, socket: &Path) -> Shop {
        let builder = Runtime::builder().name("shop").workers(workers);
        Shop(Some(builder.inspect(socket).build().expect("a runtime")))
    }
}

impl Deref for Shop {
    type Target = Runtime;

    fn deref(&self) -> &Runtime {
        self.0.as_ref().expect("has not ended")
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        let _ = self.0.take().map(|runtime| runtime.shutdown(LONG));
    }
}

/// Spawns a thousand fibers that wait, for five different reasons.
pub(crate) fn crowd(runtime: &Runtime) {
    let (tx, rx) = pirn::channel::bounded::<u8>(0);
    let event = Arc::new(pirn::sync::Event::manual());
    let semaphore = Arc::new(pirn::sync::Semaphore::new(0));
    for i in 0..1_000 {
        let (tx, rx) = (tx.clone(), rx.clone());
        let (event, semaphore) = (event.clone(), semaphore.clone());
        let wait = move || match i % 10 {
            0..4 => drop(rx.recv()),
            4..7 => drop(event.wait()),
            7 => drop(semaphore.acquire(1)),
            8 => drop(pirn::sleep(Duration::from_secs(3_600))),
            _ => drop((tx, pirn::spawn::park_interruptible())),
        };
        runtime.enter(|| {
            let builder = pirn::spawn::Builder::new().name(format!("crowd-{i}"));
            drop(builder.spawn(wait).expect("a fiber"));
        });
    }
    eventually("all wait", || {
        let fibers = runtime.fibers();
        let parked = fibers.iter().filter(|fiber| fiber.state == State::Parked);
        parked.count() == 1_000
    });
}

/// Spawns two fibers that wait for each other, the clerk and the manager. They never end. The name
/// of their locks resembles a description.
pub(crate) fn quarrel(runtime: &Runtime) {
    let locks = [(); 2].map(|()| Arc::new(Mutex::new(0)));
    for lock in &locks {
        pirn::diag::name_object(&**lock, "till at 0x0: held by 3");
    }
    for (name, first) in [("clerk", 0), ("manager", 1)] {
        let [own, other] = [first, 1 - first].map(|at| Arc::clone(&locks[at]));
        let quarrel = move || {
            let _own = own.lock();
            while !other.is_locked() {
                pirn::yield_now();
            }
            drop(other.lock());
        };
        let builder = pirn::spawn::Builder::new().name(name);
        runtime.enter(|| drop(builder.spawn(quarrel).expect("a fiber")));
    }
}
