//! One client: its name, its protocol, and its transaction.

use crate::commands::Command;
use crate::database::Counted;
use crate::request::{Kept, Request};
use crate::store::{Alert, Keys};

/// The server's state of a client.
#[derive(Debug)]
pub(crate) struct Client<'d> {
    pub(crate) id: i64,
    pub(crate) name: Vec<u8>,
    /// The transaction between `MULTI` and its end.
    pub(crate) transaction: Option<Transaction>,
    watched: Vec<Box<[u8]>>,
    alert: Alert,
    _counted: Counted<'d>,
}

/// Commands that wait for `EXEC`.
#[derive(Debug, Default)]
pub(crate) struct Transaction {
    pub(crate) queue: Vec<(&'static Command, Kept)>,
    /// The memory of the queue.
    pub(crate) size: usize,
    /// True if one of the commands may need more memory.
    pub(crate) grows: bool,
    /// True if a command was refused: `EXEC` will be, too.
    pub(crate) is_spoiled: bool,
}

impl<'d> Client<'d> {
    pub(crate) fn new(id: i64, counted: Counted<'d>) -> Client<'d> {
        Client {
            id,
            name: Vec::new(),
            transaction: None,
            watched: Vec::new(),
            alert: Alert::default(),
            _counted: counted,
        }
    }

    /// Marks the transaction, if there is one, as one with a refused command.
    #[cold]
    pub(crate) fn spoil(&mut self) {
        if let Some(transaction) = &mut self.transaction {
            transaction.is_spoiled = true;
        }
    }

    pub(crate) fn watch(&mut self, keys: &mut Keys<'_>, key: &[u8]) {
        if keys.watch(key, &self.alert) {
            self.watched.push(key.into());
        }
    }

    /// Returns the watched keys.
    pub(crate) fn watched(&self) -> impl Iterator<Item = &[u8]> {
        self.watched.iter().map(|key| &**key)
    }

    /// Returns true if a watched key has changed.
    pub(crate) fn is_alerted(&self) -> bool {
        self.alert.is_set()
    }

    /// Forgets all watched keys and their changes.
    pub(crate) fn unwatch(&mut self, keys: &mut Keys<'_>) {
        for key in self.watched.drain(..) {
            keys.unwatch(&key, &self.alert);
        }
        self.watched.shrink_to(0);
        self.alert.clear();
    }
}

impl Transaction {
    pub(crate) fn push(&mut self, command: &'static Command, request: Request<'_>) {
        let kept = request.keep();
        self.size += kept.size();
        self.grows |= command.grows();
        self.queue.push((command, kept));
    }
}
