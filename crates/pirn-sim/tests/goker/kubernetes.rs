//! Kernels of Kubernetes.
//!
//! Kernels of GoBench (Yuan et al., CGO 2021), written anew from descriptions.

use std::collections::VecDeque;
use std::mem;
use std::time::Duration;

use pirn::cancel::Token;
use pirn::channel;
use pirn::sync::{Condvar, Mutex, RwLock, Semaphore, WaitGroup};

use crate::body::{Turns, coin, is_closed, pair};
use crate::go::Chan;

/// A sender holds the lock that the receiver takes before it receives again.
#[test]
fn kubernetes_10182() {
    pair(|is_fixed| {
        let statuses = Mutex::new(());
        let updates = Chan::new(0);
        pirn::scope(|s| {
            s.spawn(|| {
                for _ in 0..2 {
                    updates.recv();
                    drop(statuses.lock());
                }
            });
            for _ in 0..2 {
                s.spawn(|| {
                    let guard = statuses.lock();
                    if is_fixed {
                        drop(guard);
                        updates.send(());
                    } else {
                        updates.send(());
                        drop(guard);
                    }
                });
            }
        });
    });
}

/// A condition is signaled before its waiter waits.
#[test]
fn kubernetes_11298() {
    /// A condition with a lock that another fiber may release.
    struct Condition {
        lock: Semaphore,
        waiters: Mutex<VecDeque<Chan<()>>>,
    }

    impl Condition {
        fn lock(&self) {
            self.lock.acquire(1).unwrap().forget();
        }

        fn unlock(&self) {
            self.lock.add(1);
        }

        fn wait(&self) {
            let signal = Chan::new(1);
            self.waiters.lock().push_back(signal.clone());
            self.unlock();
            signal.recv();
            self.lock();
        }

        fn signal(&self) {
            if let Some(waiter) = self.waiters.lock().pop_front() {
                waiter.send(());
            }
        }
    }

    fn until(stop: &Chan<()>, body: impl Fn()) {
        while !is_closed(stop) {
            body();
        }
    }

    pair(|is_fixed| {
        let condition = Condition {
            lock: Semaphore::new(1),
            waiters: Mutex::default(),
        };
        let (abort, finished, report) = (Chan::new(0), Chan::<()>::new(0), Chan::new(0));
        pirn::scope(|s| {
            let (condition, abort, finished, report) =
                (&condition, &abort, &finished, &report);
            s.spawn(move || {
                let turns = Turns::new();
                until(abort, || {
                    while !is_closed(abort) {
                        condition.lock();
                        condition.signal();
                        condition.unlock();
                        turns.end();
                    }
                });
                finished.close();
            });
            let service = move || {
                condition.lock();
                while !is_closed(finished) {
                    let waited = Chan::<()>::new(0);
                    let waiter = waited.clone();
                    s.spawn(move || {
                        condition.wait();
                        waiter.close();
                    });
                    pirn::select! {
                        recv(finished.rx) -> _ => {
                            condition.signal();
                            let turns = Turns::new();
                            while is_fixed && !is_closed(&waited) {
                                turns.end();
                                condition.signal();
                            }
                            waited.recv();
                            break;
                        }
                        recv(waited.rx) -> _ => (),
                    }
                }
                condition.unlock();
            };
            s.spawn(move || {
                until(abort, service);
                report.send(());
            });
            s.spawn(|| abort.close());
            report.recv();
        });
    });
}

/// A gate and a cache are locked in both orders, once in a callback.
#[test]
fn kubernetes_13135() {
    pair(|is_fixed| {
        let (gate, events) = (Mutex::new(()), Mutex::new(()));
        let cache = RwLock::new(());
        let init = WaitGroup::new();
        let stop = Chan::new(0);
        init.add(1);
        pirn::scope(|s| {
            s.spawn(|| {
                s.spawn(|| {
                    let (mut is_ready, turns) = (false, Turns::new());
                    while !is_closed(&stop) {
                        let gate = gate.lock();
                        let cache = cache.write();
                        if !mem::replace(&mut is_ready, true) {
                            init.done();
                        }
                        drop(gate);
                        drop(cache);
                        turns.end();
                    }
                });
                init.wait().unwrap();
                s.spawn(|| {
                    let _cache = cache.write();
                    drop(if is_fixed { &events } else { &gate }.lock());
                });
                s.spawn(|| stop.close());
            });
        });
    });
}

/// A distributor sends to a watcher under the lock with which the watcher is removed.
#[test]
fn kubernetes_1321() {
    struct Watcher {
        result: Chan<u32>,
        stopped: Chan<()>,
    }
    pair(|is_fixed| {
        let stops = Mutex::new(());
        let watchers = Mutex::new(Vec::new());
        pirn::scope(|s| {
            s.spawn(|| {
                for event in 0..10 {
                    let _stops = stops.lock();
                    for Watcher { result, stopped } in &*watchers.lock() {
                        match is_fixed {
                            false => result.send(event),
                            true => pirn::select! {
                                send(result.tx, event) -> sent => sent.unwrap(),
                                recv(stopped.rx) -> _ => (),
                            },
                        }
                    }
                }
            });
            let (result, stopped) = (Chan::new(0), Chan::new(0));
            watchers.lock().push(Watcher {
                result: result.clone(),
                stopped: stopped.clone(),
            });
            if is_fixed {
                stopped.close();
            }
            let _stops = stops.lock();
            watchers.lock().clear();
            result.close();
        });
    });
}

/// A result is sent without regard to the cancellation.
#[test]
fn kubernetes_25331() {
    pair(|is_fixed| {
        let token = Token::new();
        let (errors, results) = (Chan::new(0), Chan::new(0));
        pirn::scope(|s| {
            s.spawn(|| {
                pirn::select! {
                    recv(errors.rx) -> error => match is_fixed {
                        false => {
                            token.cancel();
                            results.send(error);
                        }
                        true => pirn::select! {
                            send(results.tx, error) -> sent => sent.unwrap(),
                            case(token.case()) -> () => (),
                        },
                    },
                    case(token.case()) -> () => (),
                }
            });
            s.spawn(|| {
                errors.send("watch failed");
                token.cancel();
            });
        });
    });
}

/// A fiber waits for the stop with the lock that delays the stop.
#[test]
fn kubernetes_26980() {
    pair(|is_fixed| {
        let pending = Mutex::new(Vec::new());
        let has_items = Condvar::new();
        let (stop, result) = (Chan::<()>::new(0), Chan::<()>::new(0));
        pending.lock().push(1);
        has_items.notify_all();
        pirn::scope(|s| {
            s.spawn(|| {
                let mut items = pending.lock();
                while items.is_empty() {
                    if is_closed(&stop) {
                        return;
                    }
                    items = has_items.wait(items);
                }
                if is_fixed {
                    items.pop();
                    drop(items);
                }
                stop.recv();
            });
            s.spawn(|| {
                let _items = pending.lock();
                result.close();
            });
            result.recv();
            stop.close();
        });
    });
}

/// An informer and its queue are locked in both orders.
#[test]
fn kubernetes_30872() {
    pair(|is_fixed| {
        let (informer, queue) = (Mutex::new(()), Mutex::new(()));
        let (stop, is_stopped) = (Chan::<()>::new(0), Chan::new(0));
        pirn::scope(|s| {
            let guard = informer.lock();
            s.spawn(|| {
                let turns = Turns::new();
                while !is_closed(&is_stopped) {
                    let queue = queue.lock();
                    drop(informer.lock());
                    drop(queue);
                    turns.end();
                }
            });
            drop(guard);
            s.spawn(|| {
                stop.recv();
                let _informer = informer.lock();
                is_stopped.close();
            });
            s.spawn(|| {
                let informer = informer.lock();
                if is_fixed {
                    drop(informer);
                }
                drop(queue.lock());
            });
            stop.close();
        });
    });
}

/// The first events of a watcher are sent although it has stopped.
#[test]
fn kubernetes_38669() {
    pair(|is_fixed| {
        let (input, result, done) =
            (Chan::<()>::new(0), Chan::new(0), Chan::<()>::new(0));
        let is_stopped = Mutex::new(false);
        let stop = || {
            let mut is_stopped = is_stopped.lock();
            if !mem::replace(&mut *is_stopped, true) {
                input.close();
                if is_fixed {
                    done.close();
                }
            }
        };
        pirn::scope(|s| {
            s.spawn(|| {
                for event in 0..2 {
                    match is_fixed {
                        false => result.send(event),
                        true => pirn::select! {
                            send(result.tx, event) -> sent => sent.unwrap(),
                            recv(done.rx) -> _ => (),
                        },
                    }
                }
                while input.recv().is_some() {}
                stop();
                result.close();
            });
            stop();
        });
    });
}

/// A fiber reads twice, and a writer comes in between.
#[test]
fn kubernetes_62464() {
    pair(|is_fixed| {
        let states = RwLock::new(());
        let read = || drop((!is_fixed).then(|| states.read()));
        pirn::scope(|s| {
            s.spawn(|| {
                let _outer = states.read();
                read();
                if coin() {
                    return;
                }
                read();
            });
            s.spawn(|| {
                drop(states.read());
                drop(states.write());
            });
        });
    });
}

/// A writer sends under the lock with which the channel is closed.
#[test]
fn kubernetes_6632() {
    pair(|is_fixed| {
        let reset = Chan::new(0);
        let writer = Mutex::new(Some(reset.clone()));
        let close = Chan::new(0);
        pirn::scope(|s| {
            s.spawn(|| close.send(()));
            s.spawn(|| {
                close.recv();
                if is_fixed {
                    s.spawn(|| while reset.recv().is_some() {});
                }
                let mut writer = writer.lock();
                reset.close();
                *writer = None;
            });
            s.spawn(|| {
                if let Some(reset) = &*writer.lock() {
                    reset.send(());
                }
            });
        });
    });
}

/// A poller is not stopped when the condition is true.
#[test]
fn kubernetes_70277() {
    pair(|is_fixed| {
        let (stop, own) = (Chan::<()>::new(0), Chan::<()>::new(0));
        let done = if is_fixed { own } else { stop.clone() };
        let ticks = Chan::new(0);
        pirn::scope(|s| {
            s.spawn(|| {
                let (clock, limit) = (
                    channel::tick(Duration::from_millis(1)),
                    channel::after(Duration::from_millis(20)),
                );
                loop {
                    pirn::select! {
                        recv(clock) -> _ => _ = ticks.tx.try_send(()),
                        recv(limit) -> _ => break,
                        recv(done.rx) -> _ => break,
                    }
                }
                ticks.close();
            });
            pirn::select! {
                recv(ticks.rx) -> _ => (),
                recv(stop.rx) -> _ => unreachable!("this fiber closes it"),
            }
            if is_fixed {
                done.close();
            }
            done.recv();
            stop.close();
        });
    });
}
