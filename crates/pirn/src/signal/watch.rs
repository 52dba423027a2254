//! Who wants to know of which signal.
//!
//! Owns: the list, and a thread for each signal that has ever been on it. Does not own: what the
//! system is told (`sys::signals`), nor what a signal means (`cancel`, `listen`, `diag`).
//!
//! | moment | the signal does | the thread |
//! |---|---|---|
//! | never watched | what it always did | is not there |
//! | the first watcher | wakes the thread | tells all watchers |
//! | the last watcher has gone | what it did before the first | sleeps |
//!
//! A signal that was caught, and whose watchers have all gone before the thread got to it, is
//! sent once more: so it meets what was there before. A listener whose receivers have gone is no
//! watcher any more; that is found out when the signal comes, or somebody else begins to listen.

use std::io;
use std::mem;
use std::sync::Arc;

use super::kind::Signal;
use super::listener::Listener;
use crate::cancel::Token;
use crate::fiber::vigil;
use crate::shim::{self, StaticLock};
use crate::sys::{self, Disposition};

/// What is done when a signal comes, on its thread.
#[derive(Clone)]
pub(crate) enum Reaction {
    Cancel(Token),
    Call(fn()),
    Tell(Arc<Listener>),
}

/// One signal.
struct Watched {
    signal: usize,
    /// What it did before; none while nobody watches.
    before: Option<Disposition>,
    reactions: Vec<(u64, Reaction)>,
}

struct List {
    watched: Vec<Watched>,
    /// What the next watcher is known by.
    next: u64,
}

static LIST: StaticLock<List> = StaticLock::new(List {
    watched: Vec::new(),
    next: 0,
});

/// A watcher's place in the list. Dropped, it is taken out.
pub(crate) struct Watch {
    signal: usize,
    key: u64,
    /// It stays there all the same.
    stays: bool,
}

/// Has `reaction` done whenever `signal` comes, until the result is dropped.
///
/// # Errors
/// That the signal cannot be waited for, or what the system says when it has no pipe or no
/// thread, or refuses.
pub(crate) fn watch(signal: Signal, reaction: Reaction) -> io::Result<Watch> {
    let index = signal.index()?;
    let mut list = LIST.lock();
    let place = match list.watched.iter().position(|w| w.signal == index) {
        Some(place) => place,
        None => {
            start(signal, index)?;
            list.watched.push(Watched {
                signal: index,
                before: None,
                reactions: Vec::new(),
            });
            list.watched.len() - 1
        }
    };
    list.next += 1;
    let key = list.next;
    let watched = &mut list.watched[place];
    if watched.before.is_none() {
        let refused =
            |error: io::Error| io::Error::new(error.kind(), format!("{signal}: {error}"));
        watched.before = Some(sys::catch(index).map_err(refused)?);
    }
    watched.reactions.push((key, reaction));
    Ok(Watch {
        signal: index,
        key,
        stays: false,
    })
}

/// Makes the thread of a signal.
fn start(signal: Signal, index: usize) -> io::Result<()> {
    let mut reader = sys::route(index)?;
    let wait = move || {
        while vigil::rest(|| reader.read()).is_ok() {
            deliver(index);
        }
    };
    shim::thread::spawn(format!("pirn-{signal}"), wait).map(drop)
}

fn deliver(signal: usize) {
    let reactions: Vec<(u64, Reaction)> = {
        let list = LIST.lock();
        let watched = list.watched.iter().filter(|w| w.signal == signal);
        watched.flat_map(|w| w.reactions.iter().cloned()).collect()
    };
    let mut told = false;
    for (key, reaction) in reactions {
        match reaction {
            Reaction::Cancel(token) => token.cancel(),
            Reaction::Call(call) => call(),
            Reaction::Tell(listener) => {
                if !listener.tell(signal) {
                    forget(signal, key);
                    continue;
                }
            }
        }
        told = true;
    }
    if !told {
        sys::raise(signal);
    }
}

/// Takes a watcher off the list.
fn forget(signal: usize, key: u64) {
    let mut list = LIST.lock();
    let watched = list.watched.iter_mut().find(|w| w.signal == signal);
    let gone = watched.map(|watched| watched.retain(|(its, _)| *its != key));
    // The token may be the last of its kind: what it drops is the user's.
    drop(list);
    drop(gone);
}

/// Takes all listeners off the list whose receivers have gone.
pub(super) fn forget_listeners() {
    let mut list = LIST.lock();
    let listens = |(_, reaction): &(u64, Reaction)| match reaction {
        Reaction::Tell(listener) => !listener.has_gone(),
        Reaction::Cancel(_) | Reaction::Call(_) => true,
    };
    let watched = list.watched.iter_mut();
    let gone: Vec<_> = watched.map(|watched| watched.retain(listens)).collect();
    drop(list);
    drop(gone);
}

impl Watched {
    /// Keeps those watchers of which `keep` is true, and returns the others. When the last has
    /// gone, the signal does again what it did before.
    fn retain(
        &mut self,
        keep: impl Fn(&(u64, Reaction)) -> bool,
    ) -> Vec<(u64, Reaction)> {
        let all = mem::take(&mut self.reactions);
        let (kept, gone) = all.into_iter().partition(keep);
        self.reactions = kept;
        if self.reactions.is_empty()
            && let Some(before) = self.before.take()
        {
            sys::restore(self.signal, &before);
        }
        gone
    }
}

impl Watch {
    /// Leaves the watcher on the list: only a listener, which goes when nobody listens.
    pub(super) fn leave(mut self) {
        self.stays = true;
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if !self.stays {
            forget(self.signal, self.key);
        }
    }
}
