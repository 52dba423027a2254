//! The watchers of each signal.

// Owns: the list of watchers, and a thread for each signal that has ever been watched. Does not
// own: the handler (`sys::signals`), nor what a signal means (`cancel`, `listen`, `diag`).
//
// | event | effect of the signal | the thread |
// |---|---|---|
// | never watched | the earlier effect | does not exist |
// | the first watcher | wakes the thread | notifies all watchers |
// | the last watcher is gone | the effect before the first | sleeps |
// | it is, and other code has caught the signal | that of the other code | sleeps |
//
// In the last row the other code's handler may call ours, and would be called again if the signal
// were sent once more. So it is not, unless ours has become the present handler again: then it is
// replaced. A handler that is found before ours, and restored, may do the same. A signal that comes
// back from it shows that.
//
// If a signal was caught and all of its watchers left before the thread handled it, it is sent
// once more, so that it has its earlier effect. A listener without receivers no longer counts as a
// watcher. That is noticed when the signal comes, or when another listener registers.

use std::io;
use std::mem;
use std::sync::Arc;

use super::kind::Signal;
use super::listener::Listener;
use crate::cancel::Token;
use crate::fiber::thread_registry;
use crate::shim::{self, StaticLock};
use crate::sys::{self, Disposition};

/// The action when a signal comes; runs on the signal's thread.
#[derive(Clone)]
pub(crate) enum Reaction {
    Cancel(Token),
    Call(fn()),
    Notify(Arc<Listener>),
}

/// A signal and its watchers.
struct Watched {
    signal: usize,
    /// The disposition before the handler was installed; none if that has been restored.
    before: Option<Disposition>,
    /// Other code's handler is present, and may call ours.
    is_below: bool,
    /// A signal without watchers has been sent once more.
    is_resent: bool,
    reactions: Vec<(u64, Reaction)>,
}

struct List {
    watched: Vec<Watched>,
    /// The key of the next watcher.
    next: u64,
}

static LIST: StaticLock<List> = StaticLock::new(List {
    watched: Vec::new(),
    next: 0,
});

/// The registration of a watcher. Dropping it removes the watcher from the list.
pub(crate) struct Watch {
    signal: usize,
    key: u64,
    /// If true, dropping this leaves the watcher on the list.
    stays: bool,
}

/// Runs `reaction` whenever `signal` comes, until the result is dropped.
///
/// # Errors
/// If the signal cannot be caught, or the operating system's error for a pipe, a thread or the
/// handler.
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
                is_below: false,
                is_resent: false,
                reactions: Vec::new(),
            });
            list.watched.len() - 1
        }
    };
    list.next += 1;
    let key = list.next;
    let watched = &mut list.watched[place];
    let is_idle = watched.reactions.is_empty();
    if watched.before.is_none() || is_idle && !sys::is_caught(index) {
        let refused =
            |error: io::Error| io::Error::new(error.kind(), format!("{signal}: {error}"));
        watched.before = Some(sys::catch(index).map_err(refused)?);
        (watched.is_below, watched.is_resent) = (false, false);
    }
    watched.reactions.push((key, reaction));
    Ok(Watch {
        signal: index,
        key,
        stays: false,
    })
}

/// Creates the thread of a signal.
fn start(signal: Signal, index: usize) -> io::Result<()> {
    let mut reader = sys::route(index)?;
    let wait = move || {
        while thread_registry::rest(|| reader.read()).is_ok() {
            deliver(index);
        }
    };
    shim::thread::spawn(format!("pirn-{signal}"), sys::unpinned(wait)).map(drop)
}

fn deliver(signal: usize) {
    let reactions: Vec<(u64, Reaction)> = {
        let list = LIST.lock();
        let watched = list.watched.iter().filter(|w| w.signal == signal);
        watched.flat_map(|w| w.reactions.iter().cloned()).collect()
    };
    let mut delivered = false;
    for (key, reaction) in reactions {
        match reaction {
            Reaction::Cancel(token) => token.cancel(),
            Reaction::Call(call) => call(),
            Reaction::Notify(listener) => {
                if !listener.notify(signal) {
                    forget(signal, key);
                    continue;
                }
            }
        }
        delivered = true;
    }
    if !delivered && is_to_be_resent(signal) {
        sys::raise(signal);
    }
}

/// Returns true if the signal, which no watcher has got, is to be sent once more.
fn is_to_be_resent(signal: usize) -> bool {
    let mut list = LIST.lock();
    let watched = list.watched.iter_mut().find(|w| w.signal == signal);
    watched.is_some_and(Watched::resend)
}

/// Removes a watcher from the list.
fn forget(signal: usize, key: u64) {
    let mut list = LIST.lock();
    let watched = list.watched.iter_mut().find(|w| w.signal == signal);
    let gone = watched.map(|watched| watched.retain(|(its, _)| *its != key));
    // The token may be the last reference: its drop runs user code.
    drop(list);
    drop(gone);
}

/// Removes all listeners that have no receivers left.
pub(super) fn forget_listeners() {
    let mut list = LIST.lock();
    let listens = |(_, reaction): &(u64, Reaction)| match reaction {
        Reaction::Notify(listener) => !listener.has_gone(),
        Reaction::Cancel(_) | Reaction::Call(_) => true,
    };
    let watched = list.watched.iter_mut();
    let gone: Vec<_> = watched.map(|watched| watched.retain(listens)).collect();
    drop(list);
    drop(gone);
}

impl Watched {
    /// Keeps the watchers for which `keep` is true, and returns the others. When the last watcher
    /// is removed, the signal's earlier effect returns.
    fn retain(
        &mut self,
        keep: impl Fn(&(u64, Reaction)) -> bool,
    ) -> Vec<(u64, Reaction)> {
        let all = mem::take(&mut self.reactions);
        let (kept, gone) = all.into_iter().partition(keep);
        self.reactions = kept;
        if self.reactions.is_empty() {
            self.restore();
        }
        gone
    }

    /// Returns true if the signal, which no watcher has got, is to be sent once more: its handler has
    /// not had it.
    fn resend(&mut self) -> bool {
        let has_watchers = !self.reactions.is_empty();
        if has_watchers || self.restore() {
            self.is_resent = !has_watchers;
            return true;
        }
        self.is_below |= self.is_resent;
        self.is_resent = !self.is_below;
        self.is_resent
    }

    /// Restores the disposition before the handler was installed. Returns true if it does so now.
    fn restore(&mut self) -> bool {
        let Some(before) = &self.before else {
            return false;
        };
        let is_restored = sys::restore(self.signal, before);
        match is_restored {
            true => (self.before, self.is_below) = (None, false),
            false => self.is_below = true,
        }
        is_restored
    }
}

impl Watch {
    /// Leaves the watcher on the list. Only for a listener, which is removed once it has no
    /// receivers.
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
