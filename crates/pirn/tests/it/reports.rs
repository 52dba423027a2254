//! What reports say of fibers: who they are, where they wait, what for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pirn::diag::{FiberInfo, Object, ObjectKind, Reason, State, name_object};
use pirn::spawn::FiberId;
use pirn::sync::{Barrier, Condvar, Event, Mutex, Once, RwLock, Semaphore, WaitGroup};
use pirn::{JoinHandle, Runtime, channel, select, spawn};

use crate::crew::{alone, runtime};
use crate::rig::{SCHEDULERS, eventually, on_every_shape, shaped};

const HOUR: Duration = Duration::from_secs(3600);

/// Spawns a fiber of that name on the caller's runtime.
fn named<T: Send + 'static>(
    name: &str,
    f: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    let builder = spawn::Builder::new().name(name.to_owned());
    builder.spawn(f).expect("a fiber")
}

/// What is said of the fiber called `name`, once it waits.
fn waiting(runtime: &Runtime, name: &str) -> FiberInfo {
    let mut found = None;
    eventually("it waits", || {
        let parked = |fiber: &FiberInfo| {
            fiber.name.as_deref() == Some(name) && fiber.state == State::Parked
        };
        found = runtime.fibers().into_iter().find(parked);
        found.is_some()
    });
    found.expect("found")
}

/// P4, P7. A report names a fiber, where it was spawned, where and why it waits, and how much
/// stack it has.
#[test]
fn a_parked_fiber_is_told() {
    on_every_shape(|runtime| {
        let spawned = line!() + 1;
        let fiber = runtime.enter(|| named("sleeper", pirn::park));
        let info = waiting(runtime, "sleeper");
        assert_eq!(info.id, fiber.fiber().id());
        assert_eq!(info.reason, Some(Reason::Park));
        assert_eq!(info.spawned_at.file(), file!());
        assert!((spawned - 40..=spawned).contains(&info.spawned_at.line()));
        assert!(info.stack_size >= 64 << 10, "{info:?}");
        assert!(info.stack_used < info.stack_size, "{info:?}");
        assert!(
            info.deadline.is_none() && info.waits_for.is_none(),
            "{info:?}"
        );
        fiber.fiber().unpark();
        fiber.join().unwrap();
        assert!(runtime.fibers().is_empty());
    });
}

/// P7. Where a fiber waits is the line of the user's call, whatever it waits for.
#[test]
fn waits_are_told_by_their_lines() {
    let runtime = runtime(2);
    runtime.enter(|| {
        let mutex = Arc::new(Mutex::new(()));
        let rwlock = Arc::new(RwLock::new(()));
        let semaphore = Arc::new(Semaphore::new(0));
        let event = Arc::new(Event::manual());
        let (tx, rx) = channel::bounded::<u8>(0);
        let (held, read) = (mutex.lock(), rwlock.read());
        let mut fibers = Vec::new();
        let mut lines = Vec::new();
        macro_rules! wait {
            ($name:literal, $reason:ident, $wait:expr) => {
                lines.push(($name, Reason::$reason, line!()));
                fibers.push(named($name, move || _ = $wait));
            };
        }
        {
            let (mutex, rwlock) = (Arc::clone(&mutex), Arc::clone(&rwlock));
            let (semaphore, event) = (Arc::clone(&semaphore), Arc::clone(&event));
            let (rx2, rx3) = (rx.clone(), rx.clone());
            wait!("mutex", Mutex, mutex.lock());
            wait!("rwlock", RwLock, rwlock.write());
            wait!("semaphore", Semaphore, semaphore.acquire(1).map(drop));
            wait!("event", Event, event.wait());
            wait!("recv", Recv, rx.recv());
            wait!("select", Select, select! { recv(rx2) -> it => _ = it });
            wait!("sleep", Sleep, pirn::sleep(HOUR));
            wait!("timed", Recv, rx3.recv_timeout(HOUR));
        }
        for (name, reason, line) in lines {
            let info = waiting(&runtime, name);
            let at = info.waits_at.expect("it waits");
            assert_eq!((at.file(), at.line()), (file!(), line), "{name}: {info:?}");
            assert_eq!(info.reason, Some(reason), "{name}");
            let limited = ["sleep", "timed"].contains(&name);
            assert_eq!(info.deadline.is_some(), limited, "{name}");
            assert_eq!(info.waits_for.is_none(), name == "sleep", "{name}");
        }
        drop((held, read, tx));
        semaphore.close();
        event.set();
        fibers.iter().for_each(JoinHandle::cancel);
        for fiber in fibers {
            fiber.join().unwrap();
        }
    });
}

/// The identity of the calling thread, which has one from now on.
fn own_id() -> FiberId {
    spawn::current().id()
}

/// What a fiber that does `wait` is told to wait for.
#[track_caller]
fn object(wait: impl FnOnce() + Send + 'static) -> Object {
    let runtime = runtime(1);
    let fiber = runtime.enter(|| named("waits", wait));
    let object = waiting(&runtime, "waits").waits_for.expect("an object");
    drop(fiber);
    drop(runtime.shutdown(Duration::ZERO));
    object
}

/// P4. Channels say how full they are and who waits; locks who has them; and so on.
#[test]
fn objects_are_told_as_they_are() {
    let (tx, rx) = channel::bounded(3);
    (1..=3).for_each(|n| tx.send(n).unwrap());
    name_object(&rx, "jobs");
    let told = object(move || _ = tx.send(4));
    assert_eq!(told.name, Some("jobs"));
    let full = ObjectKind::Channel {
        capacity: Some(3),
        len: 3,
        closed: false,
        sending: 1,
        receiving: 0,
    };
    assert_eq!(told.kind, full);
    assert!(
        told.to_string().starts_with("channel 'jobs' at 0x"),
        "{told}"
    );
    assert!(
        told.to_string()
            .ends_with(": 3 of 3 values, 1 send, 0 receive"),
        "{told}"
    );
    drop(rx);

    let mutex = Arc::new(Mutex::new(()));
    name_object(&*mutex, "till");
    // First: a thread has an identity once it has needed one.
    let own = own_id();
    let guard = mutex.lock();
    let theirs = Arc::clone(&mutex);
    let told = object(move || drop(theirs.lock_interruptible()));
    let held = ObjectKind::Mutex {
        held: true,
        holder: Some(own),
        waiting: 1,
    };
    assert_eq!((told.kind, told.name), (held, Some("till")));
    drop(guard);
}

/// P4. The holder of a lock is told by its identity: a fiber, or a thread that has waited.
#[test]
fn holders_are_told() {
    let held = |holder| ObjectKind::Mutex {
        held: true,
        holder,
        waiting: 1,
    };
    let mutex = Arc::new(Mutex::new(()));
    let busy = runtime(2);
    busy.enter(|| {
        let theirs = Arc::clone(&mutex);
        let holder = named("holder", move || {
            let _guard = theirs.lock();
            pirn::park();
        });
        waiting(&busy, "holder");
        let theirs = Arc::clone(&mutex);
        let waiter = named("waiter", move || drop(theirs.lock()));
        let told = waiting(&busy, "waiter").waits_for.unwrap();
        assert_eq!(told.kind, held(Some(holder.fiber().id())));
        holder.fiber().unpark();
        holder.join().unwrap();
        waiter.join().unwrap();
    });
}

/// P4. Permits, members, fibers: what there is too few or too many of is told.
#[test]
fn counts_are_told() {
    let own = own_id();
    let rwlock = Arc::new(RwLock::new(()));
    let writer = rwlock.write();
    let theirs = Arc::clone(&rwlock);
    let written = ObjectKind::RwLock {
        writing: true,
        writer: Some(own),
        readers: 0,
        waiting: 1,
    };
    assert_eq!(
        object(move || drop(theirs.read_interruptible())).kind,
        written
    );
    drop(writer);

    let semaphore = Arc::new(Semaphore::new(2));
    let told = object(move || _ = semaphore.acquire(3).map(drop));
    let short = ObjectKind::Semaphore {
        free: 2,
        total: 2,
        closed: false,
        waiting: 1,
    };
    assert_eq!(told.kind, short);
    let fiber = {
        let idle = runtime(1);
        let fiber = idle.spawn(spawn::park_interruptible);
        let id = fiber.fiber().id();
        let told = object(move || drop(fiber.join()));
        assert_eq!(told.kind, ObjectKind::Fiber { id: Some(id) });
        drop(idle.shutdown(Duration::from_secs(10)));
        id
    };
    assert_ne!(fiber, own);
    let group = WaitGroup::new();
    let member = group.clone();
    let told = object(move || _ = group.wait());
    assert!(matches!(
        told.kind,
        ObjectKind::WaitGroup {
            members: 1,
            waiting: 1
        }
    ));
    drop(member);
    let told = object(|| _ = Event::manual().wait());
    assert_eq!(
        told.kind,
        ObjectKind::Event {
            set: false,
            waiting: 1
        }
    );
}

/// P4. A select tells all of its channels; a scope, how many of its fibers are left.
#[test]
fn compound_waits_tell_their_parts() {
    let (_tx1, rx1) = channel::bounded::<u8>(1);
    let (_tx2, rx2) = channel::unbounded::<u8>();
    name_object(&rx1, "first");
    let told = object(move || {
        select! {
            recv(rx1) -> value => _ = value,
            recv(rx2) -> value => _ = value,
        };
    });
    let ObjectKind::Select { cases: 2, of } = &told.kind else {
        panic!("{told}");
    };
    assert_eq!(of.len(), 2);
    assert!(
        of.iter().any(|object| object.name == Some("first")),
        "{told}"
    );

    let runtime = runtime(2);
    let event = Arc::new(Event::manual());
    let theirs = Arc::clone(&event);
    let owner = runtime.enter(|| {
        named("owner", move || {
            pirn::scope(|s| {
                for _ in 0..3 {
                    s.spawn(|| theirs.wait());
                }
            });
        })
    });
    let told = waiting(&runtime, "owner");
    assert_eq!(told.reason, Some(Reason::Scope));
    assert_eq!(told.waits_for.unwrap().kind, ObjectKind::Scope { alive: 3 });
    event.set();
    owner.join().unwrap();
}

/// P4. Condition variables, barriers and what is done once are told too.
#[test]
fn the_rest_is_told_too() {
    let runtime = runtime(1);
    let shared = Arc::new((
        Mutex::new(false),
        Condvar::new(),
        Barrier::new(2),
        Once::new(),
    ));
    let (a, b, c, d) = (
        Arc::clone(&shared),
        Arc::clone(&shared),
        Arc::clone(&shared),
        Arc::clone(&shared),
    );
    runtime.enter(|| {
        let fibers = [
            named("condvar", move || {
                let mut guard = a.0.lock();
                while !*guard {
                    guard = a.1.wait(guard);
                }
            }),
            named("barrier", move || _ = b.2.wait()),
            named("first", move || c.3.call_once(pirn::park)),
            named("once", move || d.3.call_once(|| ())),
        ];
        let kind = |name| waiting(&runtime, name).waits_for.unwrap().kind;
        assert_eq!(kind("condvar"), ObjectKind::Condvar { waiting: 1 });
        assert_eq!(kind("barrier"), ObjectKind::Barrier { arrived: 1 });
        assert_eq!(kind("once"), ObjectKind::Once { waiting: 1 });
        fibers[2].fiber().unpark();
        *shared.0.lock() = true;
        shared.1.notify_all();
        shared.2.wait();
        for fiber in fibers {
            fiber.join().unwrap();
        }
    });
}

/// Waits some frames below its caller.
#[cfg(all(
    target_arch = "x86_64",
    not(any(feature = "corosensei", pirn_asan, pirn_tsan))
))]
#[inline(never)]
fn three_frames_deep(rx: &channel::Receiver<u8>, depth: u32) -> u32 {
    if depth == 0 {
        return u32::from(rx.recv().is_err());
    }
    std::hint::black_box(three_frames_deep(rx, depth - 1) + 1)
}

/// P4. The frames of a fiber that waits are told, from the call that it waits in to the closure
/// that it runs, and the fiber goes on unharmed, however often they were taken.
#[test]
#[cfg(all(
    target_arch = "x86_64",
    not(any(feature = "corosensei", pirn_asan, pirn_tsan))
))]
fn frames_are_told() {
    on_every_shape(|runtime| {
        let (tx, rx) = channel::bounded::<u8>(0);
        let fiber = runtime.enter(|| {
            let rx = rx.clone();
            spawn::Builder::new()
                .name("deep")
                .spawn(move || three_frames_deep(&rx, 3))
                .unwrap()
        });
        for _ in 0..3 {
            let info = waiting(runtime, "deep");
            let text = info.backtrace.as_ref().expect("frames").to_string();
            assert_eq!(text.matches("three_frames_deep").count(), 4, "{text}");
            assert!(text.contains("Receiver<T>::recv"), "{text}");
            let told = info.to_string();
            assert_eq!(told.matches("three_frames_deep").count(), 4, "{told}");
            assert!(
                !told.contains("park_fiber") && !told.contains("catch_unwind"),
                "{told}"
            );
        }
        drop((tx, rx));
        assert_eq!(fiber.join().unwrap(), 4);
    });
}

/// Fibers keep much in registers while others take their frames: nothing is lost.
#[test]
fn frames_are_taken_amid_a_storm() {
    let runtime = runtime(2);
    let stop = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while !stop.load(Ordering::SeqCst) {
                assert!(runtime.fibers().len() < 10);
            }
        });
        runtime.scope(|s| {
            for seed in 1..6_u64 {
                s.spawn(move || {
                    let (mut a, mut b, mut c, mut d) =
                        (seed, seed + 1, seed + 2, seed + 3);
                    let mut x = seed as f64;
                    let rounds = crate::rig::scaled(20_000) as u64;
                    for _ in 0..rounds {
                        (a, b, c, d) = (b + 1, c + 1, d + 1, a + 1);
                        x += 0.5;
                        pirn::yield_now();
                    }
                    assert_eq!(a + b + c + d, 4 * seed + 6 + 4 * rounds);
                    assert_eq!(x, seed as f64 + rounds as f64 / 2.0);
                });
            }
        });
        stop.store(true, Ordering::SeqCst);
    });
}

/// P4. Of a worker that computes, the fiber that it runs is told, and that there is no more;
/// fibers that have not started are counted.
#[test]
fn a_worker_that_computes_is_told_from_outside() {
    let runtime = runtime(2);
    let stop = Arc::new(AtomicBool::new(false));
    let theirs = Arc::clone(&stop);
    let started = Arc::new(AtomicBool::new(false));
    let begun = Arc::clone(&started);
    let busy = runtime.spawn(move || {
        begun.store(true, Ordering::SeqCst);
        while !theirs.load(Ordering::SeqCst) {
            std::hint::spin_loop();
        }
    });
    eventually("it computes", || started.load(Ordering::SeqCst));
    let fibers = runtime.fibers();
    assert_eq!(fibers.len(), 1, "{fibers:?}");
    assert_eq!(fibers[0].id, busy.fiber().id());
    assert_eq!(fibers[0].state, State::Running);
    let mut text = Vec::new();
    runtime.dump(&mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("does not answer; 1 fibers"), "{text}");
    stop.store(true, Ordering::SeqCst);
    busy.join().unwrap();
}

/// P4. The text of a dump has the shape that it is documented to have.
#[test]
fn a_dump_has_its_shape() {
    alone(|| {
        let (tx, rx) = channel::bounded::<u8>(1);
        name_object(&tx, "letters");
        let fiber = named("reader", move || _ = rx.recv());
        pirn::yield_now();
        let mut text = Vec::new();
        pirn::runtime::Handle::current().dump(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let head = "runtime 'pirn': 1 of 1 workers started, 2 fibers started, 0 in the \
                    injector, 0 without a stack";
        assert_eq!(lines[0], head);
        assert_eq!(lines[1], "  worker 0: 2 fibers, 0 ready, 0 fresh");
        assert!(lines[2].contains("'unnamed' runs, spawned at"), "{text}");
        let reader = lines
            .iter()
            .position(|line| line.contains("'reader' waits for"));
        let reader = reader.expect("the reader");
        assert!(lines[reader].contains("(Recv) at "), "{text}");
        assert!(lines[reader].contains("reports.rs"), "{text}");
        assert!(lines[reader].ends_with("bytes of stack"), "{text}");
        let object = lines[reader + 1];
        assert!(
            object.starts_with("      for channel 'letters' at 0x"),
            "{text}"
        );
        assert!(
            object.ends_with(": 0 of 1 values, 0 send, 1 receive"),
            "{text}"
        );
        drop(tx);
        fiber.join().unwrap();
    });
}

/// P4. What a shutdown had to leave is told with what it waits for.
#[test]
fn what_a_shutdown_leaves_is_told() {
    for (scheduler, workers) in
        SCHEDULERS.into_iter().flat_map(|s| [1, 4].map(|n| (s, n)))
    {
        let runtime = shaped(workers, scheduler);
        let mutex = Arc::new(Mutex::new(()));
        name_object(&*mutex, "vault");
        let guard = mutex.lock();
        let theirs = Arc::clone(&mutex);
        let fiber = runtime.enter(|| named("stuck", move || drop(theirs.lock())));
        waiting(&runtime, "stuck");
        let left = runtime.shutdown(Duration::from_millis(1)).unwrap_err();
        let [stuck] = left.fibers() else {
            panic!("{left}");
        };
        assert_eq!(stuck.name.as_deref(), Some("stuck"));
        assert_eq!(stuck.reason, Some(Reason::Mutex));
        assert_eq!(stuck.waits_for.as_ref().unwrap().name, Some("vault"));
        assert!(left.to_string().contains("mutex 'vault'"), "{left}");
        drop(guard);
        fiber.join().unwrap();
    }
}

/// P4. Reports are as good from inside as from outside, from many fibers at once, and leave
/// everybody as they were.
#[test]
fn reports_from_everywhere_at_once() {
    on_every_shape(|runtime| {
        let (tx, rx) = channel::bounded::<u8>(0);
        let parked: Vec<_> = (0..10)
            .map(|_| {
                let rx = rx.clone();
                runtime.spawn(move || _ = rx.recv())
            })
            .collect();
        eventually("they wait", || {
            let fibers = runtime.fibers();
            fibers
                .iter()
                .filter(|fiber| fiber.state == State::Parked)
                .count()
                == 10
        });
        runtime.scope(|s| {
            for _ in 0..4 {
                s.spawn(|| {
                    for _ in 0..5 {
                        let fibers = pirn::runtime::Handle::current().fibers();
                        let own = spawn::current().id();
                        let found = fibers.iter().find(|fiber| fiber.id == own);
                        assert_eq!(found.expect("itself").state, State::Running);
                        pirn::yield_now();
                    }
                });
            }
        });
        drop(tx);
        for fiber in parked {
            fiber.join().unwrap();
        }
    });
}

/// Objects come and go, locks are taken and freed, fibers wait and go on, while reports are
/// made all the time: nothing is read that has gone.
#[test]
fn reports_amid_a_storm() {
    let runtime = runtime(3);
    let stop = AtomicBool::new(false);
    std::thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                while !stop.load(Ordering::SeqCst) {
                    let fibers = runtime.fibers();
                    fibers.iter().for_each(|fiber| drop(format!("{fiber:?}")));
                    drop(runtime.dump(&mut std::io::sink()));
                }
            });
        }
        runtime.scope(|s| {
            for seed in 0..12_u64 {
                s.spawn(move || churn(seed, crate::rig::scaled(300)));
            }
        });
        stop.store(true, Ordering::SeqCst);
    });
}

/// Waits for things that live on the stack or the heap for one wait only.
fn churn(seed: u64, rounds: usize) {
    for round in 0..rounds {
        match (seed as usize + round) % 4 {
            0 => {
                let (tx, rx) = channel::bounded(0);
                let sender = spawn(move || _ = tx.send(Box::new(round)));
                _ = rx.recv();
                sender.join().unwrap();
            }
            1 => {
                let mutex = Box::new(Mutex::new(0));
                pirn::scope(|s| {
                    let guard = mutex.lock();
                    s.spawn(|| *mutex.lock() += 1);
                    pirn::yield_now();
                    drop(guard);
                });
            }
            2 => {
                let (tx, rx) = channel::oneshot::channel();
                let (_quiet, never) = channel::bounded::<u8>(1);
                let sender = spawn(move || _ = tx.send(1));
                select! {
                    recv(rx) -> value => _ = value,
                    recv(never) -> value => _ = value,
                };
                sender.join().unwrap();
            }
            _ => {
                let event = Event::manual();
                pirn::scope(|s| {
                    s.spawn(|| _ = event.wait());
                    pirn::yield_now();
                    event.set();
                });
            }
        }
    }
}

/// P4. Whoever asks for it by a signal gets a dump, as often as that comes, and the program
/// goes on.
#[test]
#[cfg_attr(pirn_tsan, ignore = "the sanitizer holds signals back")]
fn a_signal_asks_for_a_dump() {
    let ended = crate::rig::apart("reports::a_signal_asks_for_a_dump", &[], || {
        own_id();
        pirn::diag::dump_on_quit().unwrap();
        pirn::diag::dump_on_quit().unwrap();
        let runtime = runtime(2);
        let fiber = runtime.enter(|| named("patient", pirn::park));
        waiting(&runtime, "patient");
        let pid = std::process::id().to_string();
        for _ in 0..2 {
            let kill = std::process::Command::new("kill")
                .args(["-QUIT", &pid])
                .status();
            assert!(kill.unwrap().success());
            std::thread::sleep(Duration::from_millis(500));
        }
        fiber.fiber().unpark();
        fiber.join().unwrap();
    });
    if let Some(ended) = ended {
        assert!(ended.status.success(), "{}", ended.stderr);
        assert!(
            ended.stderr.contains("'patient' waits for"),
            "{}",
            ended.stderr
        );
        assert!(ended.stderr.contains("(Park) at "), "{}", ended.stderr);
        assert!(
            ended.stderr.contains("does not wait here"),
            "{}",
            ended.stderr
        );
    }
}

/// P4. gdb lists the fibers and shows the frames of a suspended one, by the script that comes
/// with the library. Nothing is tested where there is no gdb.
#[test]
#[cfg(all(
    target_arch = "x86_64",
    not(any(feature = "corosensei", pirn_asan, pirn_tsan))
))]
fn gdb_knows_fibers() {
    const NAME: &str = "reports::gdb_knows_fibers";
    if std::env::var_os("PIRN_TEST_GDB").is_some() {
        let runtime = runtime(1);
        let (_tx, rx) = channel::bounded::<u8>(0);
        let fiber =
            runtime.enter(|| named("seen", move || _ = three_frames_deep(&rx, 3)));
        waiting(&runtime, "seen");
        drop(fiber);
        // Here the debugger takes over.
        std::process::abort();
    }
    if !cfg!(debug_assertions) {
        // Without optimization there are the variables that the script reads.
        return;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/gdb/pirn.py");
    let mut gdb = std::process::Command::new("gdb");
    gdb.args([
        "-batch",
        "-nx",
        "-ex",
        "set debuginfod enabled off",
        "-ex",
        "run",
    ])
    .args([
        "-x",
        script,
        "-ex",
        "pirn fibers",
        "-ex",
        "pirn bt 4294967297",
    ])
    .arg("--args")
    .arg(std::env::current_exe().unwrap())
    .args(["--exact", NAME, "--nocapture", "--test-threads=1"])
    .env("PIRN_TEST_GDB", "1")
    .stdin(std::process::Stdio::null());
    let Ok(ended) = gdb.output() else {
        return;
    };
    let text = String::from_utf8_lossy(&ended.stdout);
    let errors = String::from_utf8_lossy(&ended.stderr);
    if errors.contains("ptrace") {
        return;
    }
    assert!(text.contains("1 fibers"), "{text}{errors}");
    assert_eq!(
        text.matches("three_frames_deep").count(),
        4,
        "{text}{errors}"
    );
}
