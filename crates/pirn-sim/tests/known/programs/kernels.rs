//! Kernels of GoBench (Yuan et al., CGO 2021), written anew from descriptions.

use std::mem::take;
use std::sync::Arc;

use super::prelude::{Chan, Mutex, coin, spawn, yield_now};

/// A flush holds the lock of its queue and wants that of a replica; a tick has them in the other
/// order.
pub(super) fn cockroach_10214(fixed: bool) {
    struct Store {
        queue: Mutex<Vec<u32>>,
        replicas: [(Mutex<()>, Mutex<()>); 2],
    }
    let store = Arc::new(Store {
        queue: Mutex::new(vec![1, 2]),
        replicas: [(); 2].map(|()| (Mutex::new(()), Mutex::new(()))),
    });
    let flushed = Arc::clone(&store);
    let flush = spawn(move || {
        let mut queue = flushed.queue.lock();
        let responses = take(&mut *queue);
        let _held = (!fixed).then_some(queue);
        for _ in responses {
            for (raft, _) in &flushed.replicas {
                drop(raft.lock());
            }
        }
    });
    let tick = spawn(move || {
        let (raft, inner) = &store.replicas[0];
        let _raft = raft.lock();
        let _inner = inner.lock();
        for _ in 0..2 {
            drop(store.queue.lock());
        }
    });
    flush.join().unwrap();
    tick.join().unwrap();
}

/// A monitor is stopped under the lock that it takes.
pub(super) fn moby_28462(fixed: bool) {
    let shared = Arc::new((Mutex::new(()), Chan::new(0)));
    let monitored = Arc::clone(&shared);
    let monitor = spawn(move || {
        let (container, stop) = &*monitored;
        while stop.try_recv().is_none() {
            drop(container.lock());
            yield_now();
        }
    });
    let stopper = spawn(move || {
        let (container, stop) = &*shared;
        let guard = container.lock();
        let _held = (!fixed).then_some(guard);
        stop.send(());
    });
    monitor.join().unwrap();
    stopper.join().unwrap();
}

/// A writer sends under the lock with which the channel is closed; `None` closes it. In the fixed
/// program another fiber receives what is sent until then.
pub(super) fn kubernetes_6632(fixed: bool) {
    struct Connection {
        is_open: Mutex<bool>,
        resets: Chan<Option<()>>,
        close: Chan<()>,
    }
    let connection = Arc::new(Connection {
        is_open: Mutex::new(true),
        resets: Chan::new(0),
        close: Chan::new(0),
    });
    let closed = Arc::clone(&connection);
    let closer = spawn(move || closed.close.send(()));
    let monitored = Arc::clone(&connection);
    let monitor = spawn(move || {
        monitored.close.recv();
        let drained = Arc::clone(&monitored);
        let drain = move || while drained.resets.recv().is_some() {};
        let drain = fixed.then(|| spawn(drain));
        let mut is_open = monitored.is_open.lock();
        if fixed {
            monitored.resets.send(None);
        }
        *is_open = false;
        drop(is_open);
        drain.into_iter().for_each(|it| it.join().unwrap());
    });
    let writer = spawn(move || {
        let is_open = connection.is_open.lock();
        if *is_open {
            connection.resets.send(Some(()));
        }
    });
    let all = [closer, monitor, writer];
    all.into_iter().for_each(|it| it.join().unwrap());
}

/// Addresses are sent under the lock that their receiver takes. In the fixed program a stale
/// address makes room for the next one.
pub(super) fn grpc_1353(fixed: bool) {
    struct Balancer {
        lock: Mutex<()>,
        addresses: Chan<u32>,
        connections: [Mutex<()>; 2],
    }
    const LAST: u32 = 4;
    let balancer = Arc::new(Balancer {
        lock: Mutex::new(()),
        addresses: Chan::new(usize::from(fixed)),
        connections: [(); 2].map(Mutex::new),
    });
    let sent = Arc::clone(&balancer);
    let sender = spawn(move || {
        for address in 0..=LAST {
            let _held = sent.lock.lock();
            if fixed {
                sent.addresses.try_recv();
            }
            sent.addresses.send(address);
        }
    });
    let watcher = spawn(move || {
        while balancer.addresses.recv() != LAST {
            for connection in &balancer.connections {
                let _torn_down = connection.lock();
                drop(balancer.lock.lock());
            }
        }
    });
    sender.join().unwrap();
    watcher.join().unwrap();
}

/// A token is sent under the lock that the keeper takes at a tick. A tick may come at any time.
pub(super) fn etcd_7492(fixed: bool) {
    struct Keeper {
        tokens: Mutex<Vec<u32>>,
        /// `None` stops the keeper.
        add: Chan<Option<u32>>,
    }
    let keeper = Arc::new(Keeper {
        tokens: Mutex::new(Vec::new()),
        add: Chan::new(1),
    });
    let kept = Arc::clone(&keeper);
    let fiber = spawn(move || {
        let mut own = Vec::new();
        loop {
            if coin() {
                if fixed {
                    kept.tokens.lock().clear();
                }
                while own.pop().is_some() {
                    drop(kept.tokens.lock());
                }
            } else if let Some(token) = kept.add.recv() {
                own.push(token);
            } else {
                return;
            }
        }
    });
    let adders = [1, 2, 3].map(|token| {
        let keeper = Arc::clone(&keeper);
        spawn(move || {
            let mut tokens = keeper.tokens.lock();
            if fixed {
                tokens.push(token);
            } else {
                keeper.add.send(Some(token));
            }
        })
    });
    adders.into_iter().for_each(|it| it.join().unwrap());
    keeper.add.send(None);
    fiber.join().unwrap();
    drop(keeper.tokens.lock());
}

/// The second request takes the only slot, but the lock it needs is released after the first one.
pub(super) fn serving_2137(fixed: bool) {
    struct Request {
        lock: Mutex<()>,
        accepted: Chan<bool>,
        started: Chan<()>,
    }
    struct Breaker {
        pending: Chan<()>,
        active: Chan<()>,
        requests: [Request; 2],
    }
    fn serve(breaker: &Breaker, request: &Request) {
        request.started.send(());
        let is_accepted = breaker.pending.try_send(());
        if is_accepted {
            breaker.active.send(());
            drop(request.lock.lock());
            breaker.active.recv();
            breaker.pending.recv();
        }
        request.accepted.send(is_accepted);
    }
    let breaker = Arc::new(Breaker {
        pending: Chan::new(2),
        active: Chan::new(1),
        requests: [(); 2].map(|()| Request {
            lock: Mutex::new(()),
            accepted: Chan::new(1),
            started: Chan::new(1),
        }),
    });
    let mut guards = Vec::new();
    let mut fibers = Vec::new();
    for (at, request) in breaker.requests.iter().enumerate() {
        yield_now();
        guards.push(request.lock.lock());
        let breaker = Arc::clone(&breaker);
        fibers.push(spawn(move || serve(&breaker, &breaker.requests[at])));
        request.started.recv();
    }
    if fixed {
        guards.clear();
    }
    let mut guards = guards.into_iter();
    for request in &breaker.requests {
        drop(guards.next());
        let is_accepted = request.accepted.recv();
        request.accepted.send(is_accepted);
    }
    fibers.into_iter().for_each(|it| it.join().unwrap());
}
