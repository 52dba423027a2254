//! Kernels of Moby.
//!
//! Kernels of GoBench (Yuan et al., CGO 2021), written anew from descriptions.

use std::mem::ManuallyDrop;
use std::time::Duration;

use pirn::cancel::Token;
use pirn::sync::{Condvar, Mutex, Once, RwLock, WaitGroup};

use crate::body::{Turns, coin, is_closed, pair};
use crate::go::Chan;

/// An early return leaves the lock held.
#[test]
fn moby_17176() {
    pair(|is_fixed| {
        let deleted = Mutex::new(0);
        // The sender waits for nothing if the limit ends first.
        let done = Chan::new(1);
        pirn::scope(|s| {
            let guard = deleted.lock();
            if *guard == 0 && !is_fixed {
                let _stays_locked = ManuallyDrop::new(guard);
            } else {
                drop(guard);
            }
            s.spawn(|| {
                let _guard = deleted.lock();
                done.send(());
            });
            pirn::select! {
                recv(done.rx) -> _ => (),
                after(Duration::from_millis(1)) => (),
            }
        });
    });
}

/// The consumer of the progress quits early.
#[test]
fn moby_21233() {
    struct Transfer {
        lock: Mutex<()>,
        signal: Chan<()>,
        release: Chan<()>,
        running: Chan<()>,
    }

    fn transfer(own: &Transfer, progress: &Chan<()>) {
        let mut is_done = false;
        loop {
            drop(own.lock.lock());
            if coin() {
                progress.send(());
            }
            if is_done {
                own.running.close();
                return;
            }
            pirn::select! {
                recv(own.signal.rx) -> _ => (),
                recv(own.release.rx) -> _ => is_done = true,
            }
        }
    }

    pair(|is_fixed| {
        let (progress, is_over) = (Chan::new(0), Chan::<()>::new(0));
        let manager = Mutex::new(());
        let transfers = [(); 3].map(|()| Transfer {
            lock: Mutex::new(()),
            signal: Chan::new(0),
            release: Chan::new(0),
            running: Chan::new(0),
        });
        pirn::scope(|s| {
            s.spawn(|| {
                while progress.recv().is_some() {
                    if coin() && !is_fixed {
                        return;
                    }
                }
                is_over.close();
            });
            for own in &transfers {
                let _manager = manager.lock();
                let _own = own.lock.lock();
                s.spawn(|| transfer(own, &progress));
            }
            for own in &transfers {
                drop(own.lock.lock());
                own.release.close();
                own.running.recv();
            }
            progress.close();
            is_over.recv();
        });
    });
}

/// The first fiber is waited for before the second one is spawned.
#[test]
fn moby_25384() {
    pair(|is_fixed| {
        let group = WaitGroup::new();
        pirn::scope(|s| {
            s.spawn(|| {
                group.add(2);
                for _ in 0..2 {
                    s.spawn(|| group.done());
                    if !is_fixed {
                        group.wait().unwrap();
                    }
                }
                group.wait().unwrap();
            });
        });
    });
}

/// The removal of a watch waits for a notification that is never sent.
#[test]
fn moby_27782() {
    const PAUSE: Duration = Duration::from_nanos(300);

    pair(|is_fixed| {
        let readers = Mutex::new(0);
        let (close, events) = (Chan::<()>::new(0), Chan::new(0));
        let done = Chan::<()>::new(0);
        let (ignores, is_removed) = (Mutex::new(()), Condvar::new());
        pirn::scope(|s| {
            s.spawn(|| {
                *readers.lock() += 1;
                s.spawn(|| {
                    while !is_closed(&done) {
                        pirn::sleep(PAUSE).unwrap();
                        pirn::select! {
                            send(events.tx, "write") -> sent => sent.unwrap(),
                            recv(done.rx) -> _ => break,
                        }
                    }
                    events.close();
                });
                pirn::sleep(PAUSE).unwrap();
                pirn::select! {
                    recv(events.rx) -> _ => (),
                    recv(close.rx) -> _ => if !is_fixed {
                        let mut ignores = ignores.lock();
                        loop {
                            ignores = is_removed.wait(ignores);
                        }
                    },
                }
                done.close();
            });
            let once = Once::new();
            for _ in 0..std::mem::take(&mut *readers.lock()) {
                once.call_once(|| close.close());
            }
        });
    });
}

/// A stop is sent under the lock that the receiver takes first.
#[test]
fn moby_28462() {
    pair(|is_fixed| {
        let container = Mutex::new(());
        let stop = Chan::<()>::new(0);
        pirn::scope(|s| {
            s.spawn(|| {
                let turns = Turns::new();
                loop {
                    pirn::select! {
                        recv(stop.rx) -> _ => break,
                        default => drop(container.lock()),
                    }
                    turns.end();
                }
            });
            s.spawn(|| {
                let _container = container.lock();
                match is_fixed {
                    false => stop.send(()),
                    true => stop.close(),
                }
            });
        });
    });
}

/// A plugin is waited for, but never activated.
#[test]
fn moby_29733() {
    struct Plugin {
        is_active: Mutex<bool>,
        activation: Condvar,
    }

    pair(|is_fixed| {
        let plugin = Plugin {
            is_active: Mutex::new(is_fixed),
            activation: Condvar::new(),
        };
        let handlers = RwLock::new(vec![&plugin]);
        let wait = |done: &Chan<()>| {
            let guard = plugin.is_active.lock();
            drop(plugin.activation.wait_while(guard, |is_active| !*is_active));
            done.close();
        };
        let (first, second) = (Chan::new(0), Chan::new(0));
        pirn::scope(|s| {
            s.spawn(|| wait(&first));
            first.recv();
            for plugin in &*handlers.write() {
                *plugin.is_active.lock() &= is_fixed;
            }
            s.spawn(|| wait(&second));
            second.recv();
        });
    });
}

/// A failed activation does not end the wait for the manifest.
#[test]
fn moby_30408() {
    #[derive(Default)]
    struct Plugin {
        manifest: Option<&'static str>,
        error: Option<&'static str>,
    }

    pair(|is_fixed| {
        let plugin = Mutex::new(Plugin::default());
        let activation = Condvar::new();
        let done = Chan::<()>::new(0);
        pirn::scope(|s| {
            plugin.lock().error = Some("no such plugin");
            activation.notify_all();
            s.spawn(|| {
                let plugin = activation.wait_while(plugin.lock(), |plugin| {
                    plugin.manifest.is_none() && !(is_fixed && plugin.error.is_some())
                });
                assert!(plugin.error.is_some());
                done.close();
            });
            done.recv();
        });
    });
}

/// An error is sent before the receiver has the channel.
#[test]
fn moby_33293() {
    pair(|is_fixed| {
        let container_wait = move || {
            let errors = Chan::new(usize::from(is_fixed));
            if coin() {
                errors.send("no such container");
            }
            errors
        };
        pirn::spawn(move || drop(container_wait())).join().unwrap();
    });
}

/// A stop leaves the fiber of a probe without a receiver.
#[test]
fn moby_33781() {
    const PAUSE: Duration = Duration::from_nanos(50);

    pair(|is_fixed| {
        let stop = Chan::new(0);
        pirn::scope(|s| {
            s.spawn(|| {
                loop {
                    pirn::select! {
                        recv(stop.rx) -> _ => return,
                        after(PAUSE) => (),
                    }
                    let results = Chan::new(0);
                    let probe = results.clone();
                    let context = Token::new();
                    s.spawn(move || {
                        probe.send(true);
                        probe.close();
                    });
                    pirn::select! {
                        recv(stop.rx) -> _ => {
                            context.cancel();
                            if is_fixed {
                                results.recv();
                            }
                            return;
                        }
                        recv(results.rx) -> _ => context.cancel(),
                        after(PAUSE) => {
                            context.cancel();
                            results.recv();
                        }
                    }
                }
            });
            s.spawn(|| {
                pirn::sleep(PAUSE).unwrap();
                stop.send(());
            });
        });
    });
}

/// A function locks again what its caller has locked.
#[test]
fn moby_36114() {
    fn remove_locked(devices: &mut Vec<u32>) {
        devices.pop();
    }
    fn remove(devices: &Mutex<Vec<u32>>) {
        remove_locked(&mut devices.lock());
    }

    pair(|is_fixed| {
        let devices = Mutex::new(Vec::new());
        pirn::scope(|s| {
            s.spawn(|| {
                let mut guard = devices.lock();
                guard.push(1);
                match is_fixed {
                    false => remove(&devices),
                    true => remove_locked(&mut guard),
                }
            });
        });
    });
}

/// The result of a call is not received.
#[test]
fn moby_4395() {
    pair(|is_fixed| {
        let results = Chan::new(usize::from(is_fixed));
        pirn::scope(|s| {
            s.spawn(|| results.send("an error"));
        });
    });
}
