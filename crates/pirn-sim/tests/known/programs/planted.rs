//! Small programs with one mistake.

use std::sync::Arc;

use super::prelude::{Chan, Mutex, spawn};

/// Two clients of a server read its value, add one, and write it.
pub(super) fn lost_update_over_channels(fixed: bool) {
    enum Request {
        Get(Arc<Chan<usize>>),
        Set(usize),
        Add(usize),
    }
    let requests = Arc::new(Chan::new(1));
    let served = Arc::clone(&requests);
    let server = spawn(move || {
        let mut value = 0;
        for _ in 0..if fixed { 2 } else { 4 } {
            match served.recv() {
                Request::Get(reply) => reply.send(value),
                Request::Set(new) => value = new,
                Request::Add(more) => value += more,
            }
        }
        value
    });
    let clients = [(); 2].map(|()| {
        let requests = Arc::clone(&requests);
        spawn(move || {
            if fixed {
                return requests.send(Request::Add(1));
            }
            let reply = Arc::new(Chan::new(1));
            requests.send(Request::Get(Arc::clone(&reply)));
            requests.send(Request::Set(reply.recv() + 1));
        })
    });
    clients.into_iter().for_each(|it| it.join().unwrap());
    assert_eq!(server.join().unwrap(), 2);
}

/// The same by a lock that is released between the read and the write.
pub(super) fn lost_update_over_two_sections(fixed: bool) {
    let value = Arc::new(Mutex::new(0));
    let adders = [(); 2].map(|()| {
        let value = Arc::clone(&value);
        spawn(move || {
            if fixed {
                *value.lock() += 1;
            } else {
                let before = *value.lock();
                *value.lock() = before + 1;
            }
        })
    });
    adders.into_iter().for_each(|it| it.join().unwrap());
    assert_eq!(*value.lock(), 2);
}

/// Two fibers take two locks in two orders.
pub(super) fn locks_in_two_orders(fixed: bool) {
    let locks = Arc::new([Mutex::new(()), Mutex::new(())]);
    let takers = [false, true].map(|turned| {
        let locks = Arc::clone(&locks);
        let first = usize::from(turned && !fixed);
        spawn(move || {
            let _first = locks[first].lock();
            let _second = locks[1 - first].lock();
        })
    });
    takers.into_iter().for_each(|it| it.join().unwrap());
}

/// Five philosophers take the left fork first; in the fixed program one of them does not.
pub(super) fn five_philosophers(fixed: bool) {
    let forks = Arc::new([(); 5].map(Mutex::new));
    let philosophers = [0, 1, 2, 3, 4].map(|at| {
        let forks = Arc::clone(&forks);
        let (left, right) = (at, (at + 1) % 5);
        let order = if fixed && at == 4 {
            [right, left]
        } else {
            [left, right]
        };
        spawn(move || {
            let _first = forks[order[0]].lock();
            let _second = forks[order[1]].lock();
        })
    });
    philosophers.into_iter().for_each(|it| it.join().unwrap());
}

/// One of 150 steps of a fiber takes two critical sections. Another fiber wakes the one that looks.
pub(super) fn needle(fixed: bool) {
    let steps = Arc::new(Mutex::new((0, 0)));
    let walked = Arc::clone(&steps);
    let walker = spawn(move || {
        for at in 0..150 {
            let mut steps = walked.lock();
            steps.0 = at;
            if at == 77 && !fixed {
                drop(steps);
                steps = walked.lock();
            }
            steps.1 = at;
        }
    });
    let signal = Arc::new(Chan::new(1));
    let sent = Arc::clone(&signal);
    let signaller = spawn(move || sent.send(()));
    signal.recv();
    let (first, second) = *steps.lock();
    assert_eq!(first, second);
    walker.join().unwrap();
    signaller.join().unwrap();
}

/// Three fibers must not come in the reverse order. In the fixed program each waits for the one
/// before it.
pub(super) fn three_in_one_order(fixed: bool) {
    let order = Arc::new(Mutex::new(Vec::new()));
    let turns = Arc::new([(); 4].map(|()| Chan::new(1)));
    turns[0].send(());
    let fibers = [0, 1, 2].map(|at| {
        let (order, turns) = (Arc::clone(&order), Arc::clone(&turns));
        spawn(move || {
            if fixed {
                turns[at].recv();
            }
            order.lock().push(at);
            turns[at + 1].send(());
        })
    });
    fibers.into_iter().for_each(|it| it.join().unwrap());
    assert_ne!(*order.lock(), [2, 1, 0]);
}

/// A follower appends entries as they arrive, without a check of their indices.
pub(super) fn replicated_log(fixed: bool) {
    const ENTRIES: usize = 4;
    let network = Arc::new(Chan::new(ENTRIES));
    let received = Arc::clone(&network);
    let follower = spawn(move || {
        let mut log = [0; ENTRIES];
        for place in &mut log {
            *place = received.recv();
        }
        if fixed {
            log.sort_unstable();
        }
        log
    });
    let messages: Vec<_> = (0..ENTRIES)
        .map(|entry| {
            let network = Arc::clone(&network);
            spawn(move || network.send(entry))
        })
        .collect();
    messages.into_iter().for_each(|it| it.join().unwrap());
    assert_eq!(follower.join().unwrap(), [0, 1, 2, 3]);
}
