//! The programs, with the expected verdict on each. Those that are alive end by themselves, well
//! after two checks of the detector.

use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use pirn::cancel::Token;
use pirn::diag::{external_wait, name_object};
use pirn::dispatcher::Dispatcher;
use pirn::signal::{Signal, cancel_on, listen};
use pirn::sync::{Barrier, Mutex, RwLock};
use pirn::{JoinHandle, Runtime, channel, spawn};

/// One program.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) verdict: Verdict,
    /// What else the report contains.
    pub(crate) parts: &'static [&'static str],
    pub(crate) run: fn(),
}

/// The expected verdict on a program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// No report.
    Alive,
    /// One fiber waits for itself.
    Itself,
    /// This many fibers wait for each other.
    Cycle(usize),
    /// This many wait, and no fiber or thread can wake them.
    Standstill(usize),
}

use Verdict::{Alive, Cycle, Itself, Standstill};

const fn program(
    name: &'static str,
    verdict: Verdict,
    parts: &'static [&'static str],
    run: fn(),
) -> Program {
    Program {
        name,
        verdict,
        parts,
        run,
    }
}

pub(crate) const PROGRAMS: &[Program] = &[
    program(
        "cycle_of_locks",
        Cycle(2),
        &[
            "mutex 'left'",
            "mutex 'right'",
            "held by",
            "'a'",
            "'b'",
            "programs::cross",
        ],
        cycle_of_locks,
    ),
    program(
        "cycle_of_joins",
        Cycle(2),
        &["(Join)", "for fiber"],
        cycle_of_joins,
    ),
    program(
        "lock_of_its_own",
        Itself,
        &["(Mutex)", "1 wait"],
        lock_of_its_own,
    ),
    program(
        "lock_of_its_own_amid_a_report",
        Itself,
        &["(Mutex)", "1 wait"],
        lock_of_its_own_amid_a_report,
    ),
    program(
        "cycle_of_writers",
        Cycle(2),
        &["(RwLock)", "written by"],
        cycle_of_writers,
    ),
    program(
        "scope_of_its_own_child",
        Cycle(2),
        &["(Scope)", "1 alive", "(Mutex)"],
        scope_of_its_own_child,
    ),
    program(
        "cycle_beside_others",
        Cycle(2),
        &["mutex 'left'"],
        cycle_beside_others,
    ),
    program(
        "cycle_amid_a_crowd",
        Cycle(2),
        &["mutex 'left'", "mutex 'right'"],
        cycle_amid_a_crowd,
    ),
    program(
        "ring_of_channels",
        Standstill(3),
        &["(Recv)", "channel", "0 of 1 values"],
        ring_of_channels,
    ),
    program(
        "crowd_of_one_kind",
        Standstill(40),
        &["barrier", "and 39 more like it"],
        crowd_of_one_kind,
    ),
    program(
        "parked_for_good",
        Standstill(1),
        &["(Park)"],
        parked_for_good,
    ),
    program(
        "parked_amid_a_panic",
        Standstill(1),
        &["(Recv)", "channel"],
        parked_amid_a_panic,
    ),
    program(
        "parked_while_looked_at",
        Standstill(1),
        &["(Park)"],
        parked_while_looked_at,
    ),
    program(
        "locked_by_main",
        Standstill(1),
        &["(Mutex)", "held by"],
        locked_by_main,
    ),
    program(
        "signal_for_others",
        Standstill(1),
        &["(Park)"],
        signal_for_others,
    ),
    program(
        "listener_for_others",
        Standstill(1),
        &["(Park)"],
        listener_for_others,
    ),
    program("signal_to_come", Alive, &[], signal_to_come),
    program("signal_to_be_received", Alive, &[], signal_to_be_received),
    program("timer", Alive, &[], timer),
    program("socket", Alive, &[], socket),
    program("thread_outside", Alive, &[], thread_outside),
    program("thread_that_waits_here", Alive, &[], thread_that_waits_here),
    program("reader_of_a_pipe", Alive, &[], reader_of_a_pipe),
    program("out_of_stacks", Alive, &[], out_of_stacks),
    program("child_to_end", Alive, &[], child_to_end),
    program("pipe_of_a_child", Alive, &[], pipe_of_a_child),
    program("busy_dispatcher", Alive, &[], busy_dispatcher),
    program("busy_blocking", Alive, &[], busy_blocking),
    program("join_with_a_limit", Alive, &[], join_with_a_limit),
];

/// Long enough for two verdicts of the detector; programs that are alive run for at least as long.
pub(crate) const LONG: Duration = Duration::from_millis(4500);

fn named(name: &str, f: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    let builder = spawn::Builder::new().name(name.to_owned());
    builder.spawn(f).expect("a fiber")
}

/// Two fibers that take two locks in opposite order, each when the other has its first.
fn cross() -> [JoinHandle<()>; 2] {
    let left = Arc::new(Mutex::new(()));
    let right = Arc::new(Mutex::new(()));
    name_object(&*left, "left");
    name_object(&*right, "right");
    let (tx_a, rx_b) = channel::bounded(1);
    let (tx_b, rx_a) = channel::bounded(1);
    let locks = [(Arc::clone(&left), Arc::clone(&right)), (right, left)];
    let [a, b] = locks;
    let lock = |(first, second): (Arc<Mutex<()>>, Arc<Mutex<()>>), tx, rx| {
        let (tx, rx): (channel::Sender<()>, channel::Receiver<()>) = (tx, rx);
        move || {
            let _first = first.lock();
            tx.send(()).unwrap();
            rx.recv().unwrap();
            let _second = second.lock();
        }
    };
    [
        named("a", lock(a, tx_a, rx_a)),
        named("b", lock(b, tx_b, rx_b)),
    ]
}

fn cycle_of_locks() {
    let [a, _b] = cross();
    let _ = a.join();
}

fn cycle_of_joins() {
    let (tx, rx) = channel::bounded::<JoinHandle<()>>(1);
    let first = spawn(move || rx.recv().unwrap().join().unwrap());
    let second = spawn(move || first.join().unwrap());
    tx.send(second).unwrap();
    pirn::park();
}

fn lock_of_its_own() {
    pirn::run(|| {
        let mutex = Mutex::new(());
        let _guard = mutex.lock();
        drop(mutex.lock());
    });
}

/// The fiber has the lock of `std` for standard error.
fn lock_of_its_own_amid_a_report() {
    pirn::run(|| {
        let _stderr = std::io::stderr().lock();
        let mutex = Mutex::new(());
        let _guard = mutex.lock();
        drop(mutex.lock());
    });
}

fn cycle_of_writers() {
    let locks = [Arc::new(RwLock::new(())), Arc::new(RwLock::new(()))];
    pirn::run(move || {
        let [left, right] = locks;
        let (mine, theirs) = (Arc::clone(&left), Arc::clone(&right));
        let other = spawn(move || {
            let _first = theirs.write();
            pirn::sleep(Duration::from_millis(100)).unwrap();
            drop(mine.read());
        });
        let _first = left.write();
        pirn::sleep(Duration::from_millis(100)).unwrap();
        drop(right.write());
        other.join().unwrap();
    });
}

fn scope_of_its_own_child() {
    pirn::run(|| {
        let mutex = Mutex::new(());
        let _guard = mutex.lock();
        pirn::scope(|s| {
            s.spawn(|| drop(mutex.lock()));
        });
    });
}

fn cycle_beside_others() {
    let _cycle = cross();
    run_on(4);
}

/// The cycle is amid more fibers than the detector reads at once.
fn cycle_amid_a_crowd() {
    const FIBERS: u32 = 11_000;
    let runtime = Runtime::builder().workers(1).build().expect("a runtime");
    runtime.run(|| {
        let (_sender, receiver) = channel::bounded::<()>(1);
        let begun = Arc::new(AtomicU32::new(0));
        let crowd = |all| {
            for _ in 0..FIBERS {
                let (receiver, begun) = (receiver.clone(), Arc::clone(&begun));
                let wait = move || {
                    begun.fetch_add(1, Ordering::Relaxed);
                    receiver.recv()
                };
                let builder = spawn::Builder::new().stack_size(65_536);
                drop(builder.spawn(wait).expect("a fiber"));
            }
            while begun.load(Ordering::Relaxed) < all {
                pirn::sleep(Duration::from_millis(1)).unwrap();
            }
        };
        crowd(FIBERS);
        let _cycle = cross();
        crowd(2 * FIBERS);
        run_on(20);
    });
}

/// Runs for long enough for two verdicts, or `times` as long where the report ends the process: on
/// a busy machine the detector may need more looks.
fn run_on(times: u32) {
    let ends = std::env::var_os("PIRN_DEADLOCK").is_some_and(|mode| mode == "abort");
    let others = spawn(move || {
        let until = pirn::time::now() + LONG * if ends { times } else { 1 };
        while pirn::time::now() < until {
            pirn::sleep(Duration::from_millis(1)).unwrap();
        }
    });
    others.join().unwrap();
}

fn ring_of_channels() {
    let (tx1, rx1) = channel::bounded::<()>(1);
    let (tx2, rx2) = channel::bounded::<()>(1);
    let (tx3, rx3) = channel::bounded::<()>(1);
    let pass = |rx: channel::Receiver<()>, tx: channel::Sender<()>| {
        spawn(move || {
            rx.recv().unwrap();
            tx.send(()).unwrap();
        })
    };
    let fibers = [pass(rx1, tx2), pass(rx2, tx3), pass(rx3, tx1)];
    for fiber in fibers {
        fiber.join().unwrap();
    }
}

fn crowd_of_one_kind() {
    let barrier = Barrier::new(41);
    pirn::scope(|s| {
        for _ in 0..40 {
            s.spawn(|| barrier.wait());
        }
    });
}

fn parked_for_good() {
    let _ = spawn(pirn::park).join();
}

/// A destructor waits, in place until the detector asks for its worker.
fn parked_amid_a_panic() {
    struct Last(channel::Receiver<()>);
    impl Drop for Last {
        fn drop(&mut self) {
            let _ = self.0.recv();
        }
    }
    let (_tx, rx) = channel::bounded(1);
    let _ = spawn(move || {
        let _last = Last(rx);
        panic!("on purpose");
    })
    .join();
}

/// The thread that answers inspection requests is idle.
fn parked_while_looked_at() {
    let name = format!("pirn-deadlock-{}", std::process::id());
    let socket = std::env::temp_dir().join(name);
    let runtime = Runtime::builder().inspect(socket).build();
    runtime.expect("a runtime").run(pirn::park);
}

fn locked_by_main() {
    let mutex = Arc::new(Mutex::new(()));
    let _guard = mutex.lock();
    let theirs = Arc::clone(&mutex);
    let _ = spawn(move || drop(theirs.lock())).join();
}

fn timer() {
    let (tx, rx) = channel::bounded(1);
    let waits = spawn(move || rx.recv().unwrap());
    let sends = spawn(move || {
        pirn::sleep(LONG).unwrap();
        tx.send(()).unwrap();
    });
    waits.join().unwrap();
    sends.join().unwrap();
}

fn socket() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (tx, rx) = channel::bounded(1);
    std::thread::spawn(move || {
        let (mut peer, _) = listener.accept().unwrap();
        let _ = peer.read(&mut [0]);
        tx.send(()).unwrap();
    });
    let peer = TcpStream::connect(address).unwrap();
    std::thread::spawn(move || {
        std::thread::sleep(LONG);
        drop(peer);
    });
    spawn(move || rx.recv().unwrap()).join().unwrap();
}

fn thread_outside() {
    let (tx, rx) = channel::bounded(1);
    std::thread::spawn(move || {
        std::thread::sleep(LONG);
        tx.send(()).unwrap();
    });
    spawn(move || rx.recv().unwrap()).join().unwrap();
}

fn thread_that_waits_here() {
    let event = Arc::new(pirn::sync::Event::manual());
    let (tx, rx) = channel::bounded(1);
    let theirs = Arc::clone(&event);
    let waits = std::thread::spawn(move || {
        external_wait(|| theirs.wait()).unwrap();
        tx.send(()).unwrap();
    });
    // A process of the system acts as the outside event: a timer signal would do.
    std::thread::spawn(move || {
        external_wait(|| std::thread::sleep(LONG));
        event.set();
    });
    spawn(move || rx.recv().unwrap()).join().unwrap();
    waits.join().unwrap();
}

/// A signal would interrupt no wait here.
fn signal_for_others() {
    let _guard = cancel_on(&[Signal::TERM], &Token::new()).unwrap();
    spawn(pirn::park).join().unwrap();
}

/// No handler would receive a signal.
fn listener_for_others() {
    let _signals = listen(&[Signal::TERM]).unwrap();
    spawn(pirn::park).join().unwrap();
}

fn signal_to_be_received() {
    let signals = listen(&[Signal::TERM]).unwrap();
    let (_tx, jobs) = channel::bounded::<()>(0);
    let fiber = spawn(move || {
        pirn::select! {
            recv(jobs) -> job => job.unwrap(),
            recv(signals) -> signal => _ = signal.unwrap(),
        }
    });
    let mut kill = kill_late();
    fiber.join().unwrap();
    kill.wait().unwrap();
}

/// Sends SIGTERM to this process after the detector's verdict.
fn kill_late() -> std::process::Child {
    let pid = std::process::id();
    let script = format!("sleep 4.5; kill -TERM {pid}");
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &script]).spawn().unwrap()
}

fn signal_to_come() {
    let stop = Token::new();
    let _guard = cancel_on(&[Signal::TERM], &stop).unwrap();
    let (_tx, rx) = channel::bounded::<()>(0);
    let fiber = spawn(move || _ = rx.recv());
    let mut kill = kill_late();
    stop.wait();
    fiber.cancel();
    fiber.join().unwrap();
    kill.wait().unwrap();
}

fn reader_of_a_pipe() {
    let (mut input, output) = std::io::pipe().unwrap();
    let (tx, rx) = channel::bounded(1);
    std::thread::spawn(move || {
        let _ = input.read(&mut [0]);
        tx.send(()).unwrap();
    });
    let mut sleep = std::process::Command::new("sleep");
    let mut writer = sleep.arg("4.5").stdout(output).spawn().unwrap();
    drop(sleep);
    spawn(move || rx.recv().unwrap()).join().unwrap();
    writer.wait().unwrap();
}

fn out_of_stacks() {
    let runtime = Runtime::builder().workers(1).max_stacks(1).build().unwrap();
    let runtime = Box::leak(Box::new(runtime));
    let first = runtime.spawn(|| {
        let (tx, rx) = channel::bounded(1);
        drop(spawn(move || tx.send(())));
        let _ = rx.recv();
    });
    // The fiber waits for one that has no stack, which the report words differently.
    std::thread::sleep(Duration::from_millis(100));
    assert!(!first.is_finished());
    let waits = std::thread::spawn(move || drop(first.join()));
    std::thread::sleep(LONG);
    drop(waits);
}

fn child_to_end() {
    let mut sleep = pirn::process::Command::new("sleep");
    pirn::run(|| sleep.arg("4.5").status()).unwrap();
}

fn pipe_of_a_child() {
    let mut sleep = pirn::process::Command::new("sleep");
    pirn::run(|| sleep.arg("4.5").output()).unwrap();
}

fn busy_dispatcher() {
    let (mut input, output) = std::io::pipe().unwrap();
    let mut sleep = std::process::Command::new("sleep");
    let mut writer = sleep.arg("4.5").stdout(output).spawn().unwrap();
    drop(sleep);
    pirn::run(|| Dispatcher::io().run(|| drop(input.read(&mut [0]))));
    writer.wait().unwrap();
}

fn busy_blocking() {
    pirn::run(|| pirn::blocking(|| std::thread::sleep(LONG)));
}

fn join_with_a_limit() {
    let (tx, rx) = channel::bounded::<JoinHandle<()>>(1);
    let first = spawn(move || {
        let second = rx.recv().unwrap();
        drop(second.join_timeout(LONG));
    });
    let second = spawn(move || first.join().unwrap());
    tx.send(second).unwrap();
    std::thread::sleep(LONG + Duration::from_millis(500));
}
