//! Handles a request: its command is run, queued in a transaction, or refused.

use super::refused::Refused;
use super::table::{self, Command, Kind};
use crate::answers::Answers;
use crate::client::Client;
use crate::database::Database;
use crate::request::Request;
use crate::store::Keys;

/// The context of a command.
pub(super) struct Call<'c, 'd> {
    pub(super) database: &'d Database,
    pub(super) keys: &'c mut Keys<'d>,
    pub(super) client: &'c mut Client<'d>,
    pub(super) request: Request<'c>,
    pub(super) answers: &'c mut Answers,
}

pub(super) type Done = Result<(), Refused>;

/// The outcome of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ran {
    /// It is answered.
    Done,
    /// It is answered, and the client ends the connection.
    Quit,
    /// It is part of an HTTP request, and is not answered.
    Attack,
    /// Its transaction is too large, or the answers are: it is not answered.
    Huge,
}

/// Runs a request and answers it, or queues it in a transaction.
#[inline]
pub(crate) fn run<'d>(
    database: &'d Database,
    keys: &mut Keys<'d>,
    client: &mut Client<'d>,
    request: Request<'_>,
    answers: &mut Answers,
) -> Ran {
    let command = match table::find(&request) {
        Ok(command) => command,
        Err(refused) => {
            client.spoil();
            answers.error(refused.text());
            return Ran::Done;
        }
    };
    let is_complete = command.takes(request.len());
    match command.kind() {
        Kind::Attack => return Ran::Attack,
        Kind::Quit => {
            answers.word("OK");
            return Ran::Quit;
        }
        Kind::Queued | Kind::AtOnce => {}
    }
    let mut call = Call {
        database,
        keys,
        client,
        request,
        answers,
    };
    let done = if !is_complete {
        Err(Refused::arguments(command.name))
    } else if database.max_memory != 0 && call.lacks_memory(command) {
        Err(Refused::NO_MEMORY)
    } else if call.client.transaction.is_some() && command.kind() == Kind::Queued {
        let is_queued = call.queue(command);
        return if is_queued { Ran::Done } else { Ran::Huge };
    } else {
        call.perform(command)
    };
    call.keys.release();
    if let Err(refused) = done {
        let is_rejected = !is_complete || refused == Refused::NO_MEMORY;
        call.refuse(command, &refused, is_rejected);
    }
    if call.answers.exceed_limit() {
        return Ran::Huge;
    }
    Ran::Done
}

impl Call<'_, '_> {
    /// Runs a command, alone or in a transaction.
    #[inline]
    fn perform(&mut self, command: &Command) -> Done {
        if command.is_wide(&self.request) {
            let shards = command.shards(self.keys, &self.request);
            self.keys.hold(shards);
        }
        (command.run)(self)
    }

    /// Returns true if the limit of memory forbids the command. Queued commands count as if they
    /// were stored.
    #[cold]
    fn lacks_memory(&self, command: &Command) -> bool {
        let Some(transaction) = &self.client.transaction else {
            return command.grows() && self.database.is_full(self.request.size());
        };
        let more = if command.kind() == Kind::Queued {
            self.request.size()
        } else if command.is_exec() && transaction.grows {
            0
        } else {
            return false;
        };
        self.database.is_full(transaction.size + more)
    }

    /// Answers the reason of a refusal. A command that is refused before it runs aborts the
    /// transaction.
    #[cold]
    fn refuse(&mut self, command: &Command, refused: &Refused, is_rejected: bool) {
        if command.is_exec() && (is_rejected || self.client.transaction.is_some()) {
            self.abort(refused);
        } else {
            if is_rejected {
                self.client.spoil();
            }
            self.answers.error(refused.text());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Place;

    /// The answer to a request is dropped when it exceeds the limit. Each command of a transaction
    /// is run all the same.
    // Proves: N5-X-kvmemory.
    #[test]
    fn answers_have_a_limit() {
        let database = Database::new(0);
        let mut keys = Keys::new(&database.store);
        let mut client = database.client();
        let mut ask = |line: &str| {
            let mut bytes = Vec::new();
            let mut places = Vec::new();
            for word in line.split(' ') {
                let start = bytes.len();
                bytes.extend_from_slice(word.as_bytes());
                places.push(Place::Within(start..bytes.len()));
            }
            let request = Request::new(&bytes, &places);
            // Less than two values.
            let mut answers = Answers::with_limit(200);
            let ran = run(&database, &mut keys, &mut client, request, &mut answers);
            let mut sent = Vec::new();
            answers.send(&mut sent).expect("a vector that grows");
            (ran, String::from_utf8(sent).expect("text"))
        };
        let value = "v".repeat(100);
        let set = format!("SET k {value}");
        assert_eq!(ask(&set), (Ran::Done, "+OK\r\n".to_owned()));
        let (ran, sent) = ask("MGET k");
        assert_eq!(ran, Ran::Done);
        assert_eq!(sent, format!("*1\r\n$100\r\n{value}\r\n"));
        let (ran, sent) = ask("MGET k k k");
        assert_eq!((ran, sent.len()), (Ran::Huge, 0));
        for line in ["MULTI", "GET k", "GET k", "GET k", "SET k w"] {
            assert_eq!(ask(line).0, Ran::Done, "{line}");
        }
        assert_eq!(ask("EXEC").0, Ran::Huge);
        let (ran, sent) = ask("GET k");
        assert_eq!((ran, sent.as_str()), (Ran::Done, "$1\r\nw\r\n"));
    }
}
