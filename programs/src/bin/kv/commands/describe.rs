//! `COMMAND`: descriptions of commands, for clients that look up which arguments are keys.

use super::call::{Call, Done};
use super::table::{COMMANDS, Command, Where, named};

pub(super) fn all(call: &mut Call<'_, '_>) -> Done {
    call.answers.array(COMMANDS.len());
    for command in COMMANDS {
        call.describe(command);
    }
    Ok(())
}

pub(super) fn count(call: &mut Call<'_, '_>) -> Done {
    call.answers.count(COMMANDS.len());
    Ok(())
}

/// There are no texts on commands; `redis-cli` does without.
pub(super) fn docs(call: &mut Call<'_, '_>) -> Done {
    call.answers.map(0);
    Ok(())
}

pub(super) fn info(call: &mut Call<'_, '_>) -> Done {
    if call.request.len() == 2 {
        return all(call);
    }
    call.answers.array(call.request.len() - 2);
    for name in call.request.args(2) {
        match named(name) {
            Some(command) => call.describe(command),
            None => call.answers.null(),
        }
    }
    Ok(())
}

pub(super) fn list(call: &mut Call<'_, '_>) -> Done {
    call.answers.array(COMMANDS.len());
    for command in COMMANDS {
        call.answers.bulk(command.name.as_bytes());
    }
    Ok(())
}

impl Call<'_, '_> {
    /// The ten fields of a command. Categories, hints and key specifications are empty.
    fn describe(&mut self, command: &Command) {
        let (first, last, step) = match command.keys {
            Where::None | Where::Database => (0, 0, 0),
            Where::First => (1, 1, 1),
            Where::Two => (1, 2, 1),
            Where::All => (1, -1, 1),
            Where::Pairs => (1, -1, 2),
        };
        let answers = &mut *self.answers;
        answers.array(10);
        answers.bulk(command.name.as_bytes());
        answers.integer(command.arity.into());
        answers.set(command.flags().count());
        for flag in command.flags() {
            answers.word(flag);
        }
        answers.integer(first);
        answers.integer(last);
        answers.integer(step);
        answers.set(0);
        answers.array(0);
        answers.array(0);
        answers.array(command.subcommands.len());
        for subcommand in command.subcommands {
            self.describe(subcommand);
        }
    }
}
