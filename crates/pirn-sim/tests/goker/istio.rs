//! Kernels of Istio.
//!
//! Kernels of GoBench (Yuan et al., CGO 2021), written anew from descriptions.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use pirn::cancel::Token;
use pirn::channel;
use pirn::sync::Mutex;

use crate::go::{Chan, go};
use crate::kernel;

/// A handler sends under a lock that the receiver takes first. In the original, the handler's fiber
/// also waits at the end, in every schedule, for an event that never comes.
#[test]
fn istio_16224() {
    struct Shared {
        lock: Mutex<()>,
        events: Chan<u32>,
        done: Chan<()>,
        stop: Chan<()>,
    }
    fn watch(shared: &Shared, fixed: bool) {
        loop {
            pirn::select! {
                recv(shared.stop.rx) -> _ => return,
                recv(shared.events.rx) -> _ => {
                    let guard = shared.lock.lock();
                    let _held = (!fixed).then_some(guard);
                    shared.done.send(());
                }
            }
        }
    }
    fn body(fixed: bool) {
        let shared = Arc::new(Shared {
            lock: Mutex::new(()),
            events: Chan::new(0),
            done: Chan::new(0),
            stop: Chan::new(0),
        });
        go(&shared, move |shared| watch(shared, fixed));
        shared.events.send(1);
        drop(shared.lock.lock());
        shared.done.recv();
        shared.stop.close();
    }
    kernel(|| body(false), || body(true));
}

/// A proxy reports its exit to a loop that has ended.
#[test]
fn istio_17860() {
    struct Agent {
        epochs: Mutex<Epochs>,
        status: Chan<u32>,
        token: Token,
    }
    #[derive(Default)]
    struct Epochs {
        active: BTreeSet<u32>,
        last: u32,
    }
    fn run(agent: &Agent) {
        loop {
            pirn::select! {
                recv(agent.status.rx) -> epoch => {
                    let mut epochs = agent.epochs.lock();
                    epochs.active.remove(&epoch.unwrap());
                    if epochs.active.is_empty() {
                        return;
                    }
                }
                case(agent.token.case()) -> () => return,
            }
        }
    }
    fn await_live(is_over: impl Fn() -> bool) {
        let ticks = channel::tick(Duration::from_nanos(30));
        let limit = channel::after(Duration::from_nanos(100));
        while !is_over() {
            pirn::select! {
                recv(ticks) -> _ => {}
                recv(limit) -> _ => return,
            }
        }
    }
    fn restart(agent: &Arc<Agent>, fixed: bool) {
        if fixed {
            await_live(|| agent.epochs.lock().active.is_empty());
        }
        let mut epochs = agent.epochs.lock();
        if !fixed && !epochs.active.is_empty() {
            await_live(|| false);
        }
        epochs.last += 1;
        let epoch = epochs.last;
        epochs.active.insert(epoch);
        go(agent, move |agent| {
            if fixed {
                pirn::select! {
                    send(agent.status.tx, epoch) -> _ => {}
                    case(agent.token.case()) -> () => {}
                }
            } else {
                agent.status.send(epoch);
            }
        });
    }
    fn body(fixed: bool) {
        let agent = Arc::new(Agent {
            epochs: Mutex::default(),
            status: Chan::new(0),
            token: Token::new(),
        });
        go(&agent, |agent| run(agent));
        restart(&agent, fixed);
        go(&agent, move |agent| restart(agent, fixed));
        pirn::sleep(Duration::from_nanos(200)).unwrap();
        agent.token.cancel();
    }
    kernel(|| body(false), || body(true));
}

/// A timer has fired and its tick has been received, but the fiber that stops it waits for a tick.
#[test]
fn istio_18454() {
    struct Worker {
        is_started: Mutex<bool>,
        timer: Timer,
        reset: Chan<()>,
        events: Chan<u32>,
        outer: Token,
        inner: Token,
    }
    /// A timer as in Go before 1.23; it may fire at any time after it has been armed.
    struct Timer {
        armed: Mutex<Option<u32>>,
        ticks: Chan<()>,
    }
    /// Number `round` of the calls.
    fn arm(worker: &Arc<Worker>, round: u32) {
        *worker.timer.armed.lock() = Some(round);
        go(worker, move |worker| {
            let mut armed = worker.timer.armed.lock();
            if *armed == Some(round) {
                *armed = None;
                let _ = worker.timer.ticks.tx.try_send(());
            }
        });
    }
    /// Returns false if it has fired.
    fn stop(timer: &Timer) -> bool {
        timer.armed.lock().take().is_some()
    }
    fn wait_for_quiet(worker: &Arc<Worker>, fixed: bool) {
        for round in 1.. {
            pirn::select! {
                recv(worker.timer.ticks.rx) -> _ => {}
                recv(worker.reset.rx) -> _ => {
                    let is_stopped = stop(&worker.timer);
                    if !is_stopped && fixed {
                        let _ = worker.timer.ticks.rx.try_recv();
                    } else if !is_stopped {
                        worker.timer.ticks.recv();
                    }
                    arm(worker, round);
                }
                case(worker.inner.case()) -> () => {
                    stop(&worker.timer);
                    return;
                }
            }
        }
    }
    fn on_change(worker: &Arc<Worker>, fixed: bool) {
        let mut is_started = worker.is_started.lock();
        if !*is_started {
            *is_started = true;
            arm(worker, 0);
            go(worker, move |worker| wait_for_quiet(worker, fixed));
            return;
        }
        drop(is_started);
        if fixed {
            pirn::select! {
                send(worker.reset.tx, ()) -> _ => {}
                case(worker.outer.case()) -> () => {}
            }
        } else {
            worker.reset.send(());
        }
    }
    const EVENTS: usize = 8;
    fn body(fixed: bool) {
        let worker = Arc::new(Worker {
            is_started: Mutex::new(false),
            timer: Timer {
                armed: Mutex::new(None),
                ticks: Chan::new(1),
            },
            reset: Chan::new(1),
            events: Chan::new(EVENTS),
            outer: Token::new(),
            inner: Token::new(),
        });
        (0..EVENTS).for_each(|_| worker.events.send(1));
        go(&worker, move |worker| {
            loop {
                pirn::select! {
                    case(worker.outer.case()) -> () => return worker.inner.cancel(),
                    recv(worker.events.rx) -> _ => on_change(worker, fixed),
                }
            }
        });
        worker.outer.cancel();
    }
    kernel(|| body(false), || body(true));
}
