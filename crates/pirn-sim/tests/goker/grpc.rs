//! Kernels of gRPC-Go.
//!
//! Kernels of GoBench (Yuan et al., CGO 2021), written anew from descriptions.

use std::collections::{HashMap, HashSet};
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use pirn::cancel::Token;
use pirn::sync::Mutex;

use crate::body::{Turns, coin, pair};
use crate::go::Chan;
use crate::kernel_that_panics;

/// Closing a stream does not wake its reader.
#[test]
fn grpc_1275() {
    pair(|is_fixed| {
        let (messages, done) = (Chan::<()>::new(0), Chan::<()>::new(0));
        pirn::scope(|s| {
            s.spawn(|| {
                messages.recv();
                done.close();
            });
            if is_fixed {
                messages.close();
            }
            pirn::select! {
                recv(done.rx) -> _ => (),
                after(Duration::from_nanos(300)) => (),
            }
        });
    });
}

/// A sender holds the lock that the receiver takes before it receives again.
#[test]
fn grpc_1353() {
    pair(|is_fixed| {
        let balancer = Mutex::new(());
        let (addresses, help) = (Chan::new(usize::from(is_fixed)), Chan::<()>::new(0));
        let connections = [Mutex::new(()), Mutex::new(())];
        pirn::scope(|s| {
            s.spawn(|| {
                for value in 0..5 {
                    let _held = balancer.lock();
                    if is_fixed {
                        // A stale value makes room for the new one.
                        let _ = addresses.rx.try_recv();
                    }
                    addresses.send(value);
                }
                help.close();
            });
            s.spawn(|| {
                while addresses.recv().is_some() {
                    for connection in &connections {
                        let _torn_down = connection.lock();
                        drop(balancer.lock());
                    }
                }
            });
            s.spawn(|| {
                help.recv();
                let _held = balancer.lock();
                addresses.close();
            });
        });
    });
}

/// A watcher ends, but its end is not reported.
#[test]
fn grpc_1424() {
    pair(|is_fixed| {
        let addresses = Chan::<()>::new(0);
        let (done, is_over) = (Chan::<()>::new(0), Chan::<()>::new(1));
        pirn::scope(|s| {
            s.spawn(|| {
                s.spawn(|| {
                    while addresses.recv().is_some() {}
                    if is_fixed {
                        done.close();
                    }
                });
                done.recv();
                is_over.close();
            });
            addresses.close();
        });
    });
}

/// A wake-up is awaited under the lock that its sender takes.
#[test]
fn grpc_1460() {
    pair(|is_fixed| {
        let streams = Mutex::new(0);
        let awaken = Chan::new(usize::from(is_fixed));
        pirn::scope(|s| {
            s.spawn(|| {
                let streams = streams.lock();
                if *streams == 0 {
                    if is_fixed {
                        drop(streams);
                    }
                    awaken.recv();
                }
            });
            s.spawn(|| {
                let mut streams = streams.lock();
                *streams += 1;
                if *streams == 1 {
                    let _ = awaken.tx.try_send(());
                }
            });
        });
    });
}

/// A timer that is stopped too late returns with the lock held.
#[test]
fn grpc_3017() {
    const ADDRESS: u32 = 7;
    const ARMED: u8 = 0;
    const FIRED: u8 = 1;
    const STOPPED: u8 = 2;

    #[derive(Default)]
    struct Cache {
        entries: HashMap<u32, Entry>,
        addresses: HashMap<u32, u32>,
        aborted: HashSet<u32>,
        made: u32,
    }

    struct Entry {
        id: u32,
        connection: u32,
        timer: Arc<AtomicU8>,
    }

    fn add(cache: &Mutex<Cache>) -> u32 {
        let mut cache = cache.lock();
        if let Some(entry) = cache.entries.remove(&ADDRESS) {
            pirn_sim::point();
            if entry.timer.swap(STOPPED, Ordering::SeqCst) == FIRED {
                cache.aborted.insert(entry.id);
            }
            return entry.connection;
        }
        cache.made += 1;
        let connection = cache.made;
        cache.addresses.insert(connection, ADDRESS);
        connection
    }

    /// Returns an entry that its timer is to remove.
    fn remove(cache: &Mutex<Cache>, connection: u32) -> Option<(u32, Arc<AtomicU8>)> {
        let mut cache = cache.lock();
        let address = *cache.addresses.get(&connection)?;
        if cache.entries.contains_key(&address) {
            return None;
        }
        cache.made += 1;
        let (id, timer) = (cache.made, Arc::default());
        let entry = Entry {
            id,
            connection,
            timer: Arc::clone(&timer),
        };
        cache.entries.insert(address, entry);
        Some((id, timer))
    }

    fn expire(cache: &Mutex<Cache>, id: u32, connection: u32, is_fixed: bool) {
        let mut cache = cache.lock();
        if cache.aborted.contains(&id) {
            if !is_fixed {
                let _stays_locked = ManuallyDrop::new(cache);
            }
            return;
        }
        cache.addresses.remove(&connection);
        cache.entries.remove(&ADDRESS);
    }

    pair(|is_fixed| {
        let cache = Mutex::new(Cache::default());
        let done = Chan::<()>::new(0);
        pirn::scope(|s| {
            let mut connection = add(&cache);
            let (cache, done) = (&cache, &done);
            s.spawn(move || {
                for _ in 0..5 {
                    if let Some((id, timer)) = remove(cache, connection) {
                        // The timer is short: it fires when this fiber is chosen.
                        s.spawn(move || {
                            pirn_sim::point();
                            let was = timer.compare_exchange(
                                ARMED,
                                FIRED,
                                Ordering::SeqCst,
                                Ordering::SeqCst,
                            );
                            if was.is_ok() {
                                expire(cache, id, connection, is_fixed);
                            }
                        });
                    }
                    connection = add(cache);
                }
                done.close();
            });
            done.recv();
        });
    });
}

/// The loop stops without its worker's result.
#[test]
fn grpc_660() {
    pair(|is_fixed| {
        let stop = Chan::new(0);
        pirn::scope(|s| {
            s.spawn(|| {
                let turns = Turns::new();
                loop {
                    let done = Chan::new(usize::from(is_fixed));
                    let result = done.clone();
                    s.spawn(move || result.send(coin()));
                    pirn::select! {
                        recv(stop.rx) -> _ => break,
                        recv(done.rx) -> _ => (),
                    }
                    turns.end();
                }
            });
            s.spawn(|| stop.send(true));
        });
    });
}

/// A stop leaves the lock held, so the second stop waits for it.
#[test]
fn grpc_795() {
    pair(|is_fixed| {
        let is_draining = Mutex::new(false);
        let stop = || {
            let mut guard = is_draining.lock();
            if *guard && !is_fixed {
                let _twice = is_draining.lock();
            }
            *guard = true;
            if !is_fixed {
                let _stays_locked = ManuallyDrop::new(guard);
            }
        };
        pirn::scope(|s| {
            s.spawn(|| drop(is_draining.lock()));
            (0..3).for_each(|_| stop());
        });
    });
}

/// A failed dial does not cancel the loop that connects again.
#[test]
fn grpc_862() {
    fn dial(is_fixed: bool) {
        const TIMES: u32 = 100;
        let (outer, root) = (Token::new(), Token::new());
        pirn::scope(|s| {
            s.spawn(|| {
                let attempt = root.child();
                for n in 1..TIMES {
                    attempt.child().cancel();
                    pirn::select! {
                        after(Duration::from_micros(2 * u64::from(n))) => (),
                        case(attempt.case()) -> () => return,
                        cancelled(_) => unreachable!("no scope is cancelled"),
                    }
                }
                panic!("not cancelled after {TIMES} attempts");
            });
            s.spawn(|| outer.cancel());
            outer.wait();
            // The connection that the caller gets is none, so it is not closed.
            if is_fixed {
                root.cancel();
            }
        });
    }
    kernel_that_panics(|| dial(false), || dial(true));
}
