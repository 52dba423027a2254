//! `MULTI` to `EXEC`: commands that are run as one.
//!
//! `EXEC` holds the shards of all keys that its commands name, and those of the watched keys, until
//! the last command is done. So it sees no change of another client in between, and no other client
//! sees half of it.

use std::mem;

use super::call::{Call, Done};
use super::refused::Refused;
use super::table::Command;
use crate::client::Transaction;
use crate::input::MOST;
use crate::store::Shards;

pub(super) fn multi(call: &mut Call<'_, '_>) -> Done {
    if call.client.transaction.is_some() {
        return Err(Refused::new("ERR MULTI calls can not be nested"));
    }
    call.client.transaction = Some(Transaction::default());
    call.answers.word("OK");
    Ok(())
}

pub(super) fn discard(call: &mut Call<'_, '_>) -> Done {
    if call.client.transaction.take().is_none() {
        return Err(Refused::new("ERR DISCARD without MULTI"));
    }
    call.client.unwatch(call.keys);
    call.answers.word("OK");
    Ok(())
}

pub(super) fn watch(call: &mut Call<'_, '_>) -> Done {
    if call.client.transaction.is_some() {
        return Err(Refused::new("ERR WATCH inside MULTI is not allowed"));
    }
    for key in call.request.args(1) {
        call.client.watch(call.keys, key);
    }
    call.answers.word("OK");
    Ok(())
}

pub(super) fn unwatch(call: &mut Call<'_, '_>) -> Done {
    call.client.unwatch(call.keys);
    call.answers.word("OK");
    Ok(())
}

pub(super) fn exec(call: &mut Call<'_, '_>) -> Done {
    let Some(transaction) = &mut call.client.transaction else {
        return Err(Refused::new("ERR EXEC without MULTI"));
    };
    if transaction.is_spoiled {
        return Err(Refused::SPOILED);
    }
    let queue = mem::take(&mut transaction.queue);
    call.client.transaction = None;
    let shards = queue
        .iter()
        .map(|(command, kept)| command.shards(call.keys, &kept.request()));
    let watched = call.keys.shards(call.client.watched());
    call.keys.hold(shards.fold(watched, Shards::and));
    // Watched keys that have expired are removed now, which counts as a change.
    for key in call.client.watched() {
        call.keys.get(key, |_| ());
    }
    let is_alerted = call.client.is_alerted();
    call.client.unwatch(call.keys);
    if is_alerted {
        call.answers.null_array();
        return Ok(());
    }
    call.answers.array(queue.len());
    for (command, kept) in &queue {
        let mut each = Call {
            database: call.database,
            keys: call.keys,
            client: call.client,
            request: kept.request(),
            answers: call.answers,
        };
        if let Err(refused) = (command.run)(&mut each) {
            call.answers.error(refused.text());
        }
        // The commands behind it are run all the same: a transaction is done as a whole.
        call.answers.exceed_limit();
    }
    // Unlocked before the queue is freed, which may take long.
    call.keys.release();
    Ok(())
}

impl Call<'_, '_> {
    /// Queues a command that waits for `EXEC`; false if the queue is larger than a request may be.
    #[cold]
    pub(super) fn queue(&mut self, command: &'static Command) -> bool {
        if let Some(transaction) = &mut self.client.transaction {
            transaction.push(command, self.request);
            if transaction.size > MOST {
                return false;
            }
        }
        self.answers.word("QUEUED");
        true
    }

    /// Refuses an `EXEC`, and ends its transaction.
    pub(super) fn abort(&mut self, why: &Refused) {
        self.client.transaction = None;
        self.client.unwatch(self.keys);
        let text = if *why == Refused::SPOILED {
            b"EXECABORT Transaction discarded because of previous errors.".to_vec()
        } else {
            let why = why.text().strip_prefix(b"ERR ").unwrap_or(why.text());
            [b"EXECABORT Transaction discarded because of: ", why].concat()
        };
        self.answers.error(&text);
    }
}
