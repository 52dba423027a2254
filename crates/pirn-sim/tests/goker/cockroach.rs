//! Kernels of CockroachDB.
//!
//! Kernels of GoBench (Yuan et al., CGO 2021), written anew from descriptions.

use std::collections::{BTreeMap, VecDeque};
use std::mem::{ManuallyDrop, take};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pirn::cancel::Token;
use pirn::sync::{Condvar, Mutex, RwLock, WaitGroup};
use pirn_sim::point;

use crate::go::{Chan, go};
use crate::kernel;

/// The heartbeats' queue is locked before the replicas, and by a replica after its own locks.
#[test]
fn cockroach_10214() {
    struct Store {
        queue: Mutex<Vec<u32>>,
        replicas: [(Mutex<()>, Mutex<()>); 2],
    }
    fn body(fixed: bool) {
        let store = Arc::new(Store {
            queue: Mutex::new(vec![1, 2]),
            replicas: Default::default(),
        });
        go(&store, move |store| {
            let mut queue = store.queue.lock();
            let responses = take(&mut *queue);
            let _held = (!fixed).then_some(queue);
            for _ in responses {
                for (raft, _) in &store.replicas {
                    drop(raft.lock());
                }
            }
        });
        go(&store, |store| {
            let (raft, inner) = &store.replicas[0];
            let _raft = raft.lock();
            let _inner = inner.lock();
            for _ in 0..2 {
                drop(store.queue.lock());
            }
        });
    }
    kernel(|| body(false), || body(true));
}

/// The controller waits for tasks with the lock held, and no worker ends its task.
#[test]
fn cockroach_1055() {
    struct Stopper {
        tasks: Mutex<usize>,
        no_task: Condvar,
        draining: AtomicBool,
        drain: WaitGroup,
        stop: WaitGroup,
        quit: Chan<()>,
    }
    fn set_draining(stopper: &Stopper, draining: bool) {
        point();
        stopper.draining.store(draining, Ordering::SeqCst);
    }
    fn is_draining(stopper: &Stopper) -> bool {
        point();
        stopper.draining.load(Ordering::SeqCst)
    }
    fn bug() {
        let all = stoppers();
        let done = Chan::<()>::new(0);
        for stopper in &all {
            stopper.stop.add(1);
            go(stopper, |stopper| {
                if !is_draining(stopper) {
                    let _tasks = stopper.tasks.lock();
                    stopper.drain.add(1);
                }
                stopper.quit.recv();
                stopper.stop.done();
            });
        }
        go(&Arc::new((all, done.clone())), |shared| {
            for stopper in &shared.0 {
                let _tasks = stopper.tasks.lock();
                set_draining(stopper, true);
                stopper.drain.wait().unwrap();
                set_draining(stopper, false);
            }
            for stopper in &shared.0 {
                let _tasks = stopper.tasks.lock();
                set_draining(stopper, true);
                stopper.drain.wait().unwrap();
                stopper.quit.close();
                stopper.stop.wait().unwrap();
            }
            shared.1.close();
        });
        done.recv();
    }
    fn fixed() {
        let all = stoppers();
        let done = Chan::<()>::new(0);
        for stopper in &all {
            stopper.stop.add(1);
            go(stopper, |stopper| {
                let mut tasks = stopper.tasks.lock();
                let runs = !is_draining(stopper);
                *tasks += usize::from(runs);
                drop(tasks);
                if runs {
                    *stopper.tasks.lock() -= 1;
                    stopper.no_task.notify_all();
                }
                stopper.quit.recv();
                stopper.stop.done();
            });
        }
        go(&Arc::new((all, done.clone())), |shared| {
            for stopper in &shared.0 {
                let tasks = stopper.tasks.lock();
                set_draining(stopper, true);
                let _tasks = stopper.no_task.wait_while(tasks, |tasks| *tasks > 0);
                set_draining(stopper, false);
            }
            for stopper in &shared.0 {
                let tasks = stopper.tasks.lock();
                set_draining(stopper, true);
                drop(stopper.no_task.wait_while(tasks, |tasks| *tasks > 0));
                stopper.quit.close();
                stopper.stop.wait().unwrap();
            }
            shared.1.close();
        });
        done.recv();
    }
    fn stoppers() -> [Arc<Stopper>; 3] {
        std::array::from_fn(|_| {
            Arc::new(Stopper {
                tasks: Mutex::new(0),
                no_task: Condvar::new(),
                draining: AtomicBool::new(false),
                drain: WaitGroup::new(),
                stop: WaitGroup::new(),
                quit: Chan::new(0),
            })
        })
    }
    kernel(bug, fixed);
}

/// After a cancellation a fiber receives from a sender that has given up.
#[test]
fn cockroach_10790() {
    struct Shared {
        values: [Chan<u32>; 2],
        token: Token,
        quiescer: Chan<()>,
    }
    fn drain(shared: &Shared, fixed: bool) {
        for values in &shared.values {
            if fixed {
                pirn::select! {
                    recv(values.rx) -> _ => {}
                    recv(shared.quiescer.rx) -> _ => return,
                }
            } else {
                values.recv();
            }
        }
    }
    fn body(fixed: bool) {
        let shared = Arc::new(Shared {
            values: std::array::from_fn(|_| Chan::new(0)),
            token: Token::new(),
            quiescer: Chan::new(0),
        });
        go(&shared, |shared| {
            for values in &shared.values {
                pirn::select! {
                    send(values.tx, 1) -> _ => {}
                    case(shared.token.case()) -> () => return,
                }
            }
        });
        go(&shared, move |shared| {
            for values in &shared.values {
                pirn::select! {
                    recv(values.rx) -> _ => {}
                    case(shared.token.case()) -> () => {
                        go(shared, move |shared| drain(shared, fixed));
                        if fixed {
                            return;
                        }
                    }
                }
            }
        });
        go(&shared, |shared| shared.token.cancel());
        shared.quiescer.close();
    }
    kernel(|| body(false), || body(true));
}

/// A transaction that is dropped does not cancel the fiber that watches it.
#[test]
fn cockroach_13197() {
    fn body(fixed: bool) {
        let root = Token::new();
        let transaction = Arc::new(root.child());
        go(&transaction, |transaction| transaction.wait());
        if fixed {
            transaction.cancel();
        }
    }
    kernel(|| body(false), || body(true));
}

/// Rows that are never closed keep the fiber that would close them.
#[test]
fn cockroach_13755() {
    fn close(rows: &Token) {
        rows.cancel();
    }
    fn body(fixed: bool) {
        let root = Token::new();
        let rows = Arc::new(root.child());
        go(&rows, |rows| {
            rows.wait();
            close(rows);
        });
        if fixed {
            close(&rows);
        }
    }
    kernel(|| body(false), || body(true));
}

/// The receiver leaves between the sender's check for the end and its send.
#[test]
fn cockroach_1462() {
    struct Stopper {
        tasks: Mutex<usize>,
        drain: Condvar,
        stop: WaitGroup,
        quit: Chan<()>,
        stopped: Chan<()>,
        events: Chan<u32>,
    }
    fn body(fixed: bool) {
        let stopper = Arc::new(Stopper {
            tasks: Mutex::new(0),
            drain: Condvar::new(),
            stop: WaitGroup::new(),
            quit: Chan::new(0),
            stopped: Chan::new(0),
            events: Chan::new(0),
        });
        stopper.stop.add(1);
        // Without a limit, these two could go on while the one that stops them never runs.
        go(&stopper, move |stopper| {
            for _ in 0..10 {
                if fixed {
                    pirn::select! {
                        send(stopper.events.tx, 1) -> _ => {}
                        recv(stopper.quit.rx) -> _ => break,
                    }
                } else {
                    pirn::select! {
                        recv(stopper.quit.rx) -> _ => break,
                        default => {}
                    }
                    stopper.events.send(1);
                }
            }
            stopper.stop.done();
        });
        stopper.stop.add(1);
        go(&stopper, |stopper| {
            loop {
                pirn::select! {
                    recv(stopper.events.rx) -> _ => {}
                    recv(stopper.quit.rx) -> _ => break,
                }
            }
            stopper.stop.done();
        });
        let tasks = stopper.tasks.lock();
        drop(stopper.drain.wait_while(tasks, |tasks| *tasks > 0));
        stopper.quit.close();
        stopper.stop.wait().unwrap();
        let _tasks = stopper.tasks.lock();
        stopper.stopped.close();
    }
    kernel(|| body(false), || body(true));
}

/// A reader locks again behind a writer that waits for it.
#[test]
fn cockroach_16167() {
    fn body(fixed: bool) {
        let config = Arc::new(RwLock::new(0));
        go(&config, |config| *config.write() += 1);
        let outer = config.read();
        let _outer = (!fixed).then_some(outer);
        drop(config.read());
    }
    kernel(|| body(false), || body(true));
}

/// The consumer leaves when it is cancelled, and the producer keeps sending.
#[test]
fn cockroach_18101() {
    struct Shared {
        ready: Chan<u32>,
        token: Token,
    }
    fn produce(shared: &Shared, fixed: bool) {
        for value in 0..8 {
            if fixed {
                pirn::select! {
                    send(shared.ready.tx, value) -> _ => {}
                    case(shared.token.case()) -> () => break,
                }
            } else {
                shared.ready.send(value);
            }
        }
        shared.ready.close();
    }
    fn body(fixed: bool) {
        let shared = Arc::new(Shared {
            ready: Chan::new(6),
            token: Token::new(),
        });
        go(&shared, move |shared| {
            go(shared, move |shared| produce(shared, fixed));
            if shared.ready.recv().is_some() {
                shared.token.wait();
            }
        });
        go(&shared, |shared| shared.token.cancel());
    }
    kernel(|| body(false), || body(true));
}

/// Two loops send to each other at the same time.
#[test]
fn cockroach_2448() {
    struct Shared {
        events: Chan<()>,
        callbacks: Chan<()>,
        quit: Chan<()>,
    }
    fn deliver(shared: &Shared) {
        pirn::select! {
            recv(shared.callbacks.rx) -> _ => {}
            default => pirn::select! {
                send(shared.events.tx, ()) -> _ => {}
                recv(shared.quit.rx) -> _ => {}
            },
        }
    }
    fn deliver_queued(shared: &Shared, queue: &mut VecDeque<()>) {
        queue.push_back(());
        pirn::select! {
            send(shared.events.tx, ()) -> _ => drop(queue.pop_front()),
            recv(shared.callbacks.rx) -> _ => {}
            recv(shared.quit.rx) -> _ => {}
        }
    }
    fn body(fixed: bool) {
        let shared = Arc::new(Shared {
            events: Chan::new(0),
            callbacks: Chan::new(0),
            quit: Chan::new(0),
        });
        go(&shared, |shared| {
            loop {
                pirn::select! {
                    recv(shared.events.rx) -> _ => pirn::select! {
                        send(shared.callbacks.tx, ()) -> _ => {}
                        recv(shared.quit.rx) -> _ => return,
                    },
                    recv(shared.quit.rx) -> _ => return,
                }
            }
        });
        // The original has no end.
        go(&shared, move |shared| {
            let mut queue = VecDeque::new();
            for _ in 0..4 {
                if fixed {
                    deliver_queued(shared, &mut queue);
                } else {
                    deliver(shared);
                }
            }
            shared.quit.close();
        });
    }
    kernel(|| body(false), || body(true));
}

/// The second signal is sent before the reader of the first one is spawned.
#[test]
fn cockroach_24808() {
    struct Shared {
        signal: Chan<()>,
        quit: Chan<()>,
        stop: WaitGroup,
    }
    fn body(fixed: bool) {
        let shared = Arc::new(Shared {
            signal: Chan::new(1),
            quit: Chan::new(0),
            stop: WaitGroup::new(),
        });
        shared.signal.send(());
        if fixed {
            // A signal that is pending is as good.
            let _ = shared.signal.tx.try_send(());
        } else {
            shared.signal.send(());
        }
        shared.stop.add(1);
        go(&shared, |shared| {
            loop {
                pirn::select! {
                    recv(shared.quit.rx) -> _ => break,
                    recv(shared.signal.rx) -> _ => {}
                }
            }
            shared.stop.done();
        });
        shared.quit.close();
        shared.stop.wait().unwrap();
    }
    kernel(|| body(false), || body(true));
}

/// Nothing closes the channel that the queue waits for.
#[test]
fn cockroach_25456() {
    fn body(fixed: bool) {
        let quiesce = Chan::<()>::new(0);
        if fixed {
            quiesce.close();
        }
        quiesce.recv();
        quiesce.recv();
    }
    kernel(|| body(false), || body(true));
}

/// A cancellation sends to a channel that is full and has no reader.
#[test]
fn cockroach_35931() {
    fn body(fixed: bool) {
        let (left, right) = (Chan::new(1), Chan::new(1));
        left.send("row");
        let registry = Mutex::new(vec![left, right]);
        let receivers = registry.lock().clone();
        for receiver in receivers {
            if fixed {
                let _ = receiver.tx.try_send("cancelled");
            } else {
                receiver.send("cancelled");
            }
        }
    }
    kernel(|| body(false), || body(true));
}

/// A query of a replica locks the store for reading, below a caller that has done so.
#[test]
fn cockroach_3710() {
    struct Store {
        replicas: RwLock<Vec<u32>>,
        queue: Mutex<u32>,
    }
    fn body(fixed: bool) {
        let store = Arc::new(Store {
            replicas: RwLock::new(vec![1, 2]),
            queue: Mutex::new(0),
        });
        go(&store, move |store| {
            let outer = store.replicas.read();
            for replica in &*outer {
                let mut queue = store.queue.lock();
                if !fixed {
                    let _status = store.replicas.read();
                }
                *queue += replica;
            }
        });
        go(&store, |store| {
            go(store, |store| {
                let mut replicas = store.replicas.write();
                *replicas = replicas.clone();
            });
        });
    }
    kernel(|| body(false), || body(true));
}

/// A return on the way leaves the lock held.
#[test]
fn cockroach_584() {
    fn step(closed: &Mutex<bool>, fixed: bool) {
        let guard = closed.lock();
        if *guard && !fixed {
            let _held = ManuallyDrop::new(guard);
        }
    }
    fn body(fixed: bool) {
        go(&Arc::new(Mutex::new(true)), move |closed| {
            step(closed, fixed); // bootstrap
            step(closed, fixed); // manage
        });
    }
    kernel(|| body(false), || body(true));
}

/// The formatter of a cache locks it for reading again.
#[test]
fn cockroach_6181() {
    struct Shared {
        cache: RwLock<u32>,
        wait: WaitGroup,
    }
    fn format(cache: &RwLock<u32>) -> String {
        cache.read().to_string()
    }
    fn body(fixed: bool) {
        let shared = Arc::new(Shared {
            cache: RwLock::new(0),
            wait: WaitGroup::new(),
        });
        go(&shared, move |shared| {
            for _ in 0..3 {
                shared.wait.add(1);
                go(shared, move |shared| {
                    let cache = shared.cache.read();
                    let text = if fixed {
                        cache.to_string()
                    } else {
                        format(&shared.cache)
                    };
                    drop(cache);
                    *shared.cache.write() += u32::from(!text.is_empty());
                    shared.wait.done();
                });
            }
            shared.wait.wait().unwrap();
        });
    }
    kernel(|| body(false), || body(true));
}

/// A lease and the cache of names are locked in two orders.
#[test]
fn cockroach_7504() {
    struct Leases {
        cache: Mutex<BTreeMap<u32, usize>>,
        leases: [Mutex<()>; 2],
        table: Mutex<Vec<usize>>,
        both: WaitGroup,
    }
    fn body(fixed: bool) {
        let leases = Arc::new(Leases {
            cache: Mutex::new(BTreeMap::from([(0, 0), (1, 1)])),
            leases: Default::default(),
            table: Mutex::new(vec![0, 1]),
            both: WaitGroup::new(),
        });
        leases.both.add(2);
        go(&leases, move |leases| {
            let cache = leases.cache.lock();
            let lease = cache.get(&0).copied();
            let _cache = (!fixed).then_some(cache);
            if let Some(lease) = lease {
                drop(leases.leases[lease].lock());
            }
            leases.both.done();
        });
        go(&leases, |leases| {
            let mut table = leases.table.lock();
            let lease = leases.leases[0].lock();
            table.retain(|lease| *lease != 0);
            leases.cache.lock().remove(&0);
            drop(lease);
            leases.both.done();
        });
        leases.both.wait().unwrap();
    }
    kernel(|| body(false), || body(true));
}

/// The exit handler of a logger locks its mutex again.
#[test]
fn cockroach_9935() {
    fn body(fixed: bool) {
        go(&Arc::new(Mutex::new(())), move |log| {
            let guard = log.lock();
            let file: Result<(), &str> = Err("no space");
            if file.is_err() {
                let _held = (!fixed).then_some(guard);
                drop(log.lock());
            }
        });
    }
    kernel(|| body(false), || body(true));
}
