//! Kernels of Syncthing.
//!
//! Kernels of GoBench (Yuan et al., CGO 2021), written anew from descriptions.

use std::mem;

use pirn::sync::{Once, RwLock};

use crate::body::{Turns, is_closed, pair};
use crate::go::Chan;

/// A notification reads the mapping that its caller has locked for writing.
#[test]
fn syncthing_4829() {
    pair(|is_fixed| {
        let service = RwLock::new(0);
        let mapping = RwLock::new(vec![1]);
        *service.write() += 1;
        let _service = service.write();
        let mut addresses = mapping.write();
        let removed = mem::take(&mut *addresses);
        if is_fixed {
            drop(addresses);
        }
        if !removed.is_empty() {
            drop(mapping.read());
        }
    });
}

/// The dispatcher waits for its own end, in a callback.
#[test]
fn syncthing_5795() {
    pair(|is_fixed| {
        let inbox = Chan::new(0);
        let (closed, stopped) = (Chan::<()>::new(0), Chan::<()>::new(0));
        let once = Once::new();
        let close = || {
            once.call_once(|| {
                closed.close();
                stopped.recv();
            });
        };
        pirn::scope(|s| {
            s.spawn(|| {
                let turns = Turns::new();
                while !is_closed(&closed) {
                    turns.end();
                }
            });
            s.spawn(|| {
                loop {
                    let is_config = pirn::select! {
                        recv(inbox.rx) -> message => message.unwrap(),
                        recv(closed.rx) -> _ => break,
                    };
                    match is_config {
                        false => break,
                        true if is_fixed => drop(s.spawn(close)),
                        true => close(),
                    }
                }
                stopped.close();
            });
            inbox.send(true);
            stopped.recv();
        });
    });
}
