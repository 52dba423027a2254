//! All commands.

use super::call::{Call, Done};
use super::refused::Refused;
use super::{
    client, describe, expiry, keys, numbers, scan, server, set, strings, transaction,
};
use crate::request::Request;
use crate::store::{Keys, Shards};

/// A command.
#[derive(Debug)]
pub(crate) struct Command {
    /// In lower case; `client|id` for a subcommand.
    pub(super) name: &'static str,
    /// The number of arguments as in Redis, with the name: exact, or the minimum if negative.
    pub(super) arity: i32,
    pub(super) keys: Where,
    flags: u8,
    kind: Kind,
    pub(super) run: fn(&mut Call<'_, '_>) -> Done,
    pub(super) subcommands: &'static [Command],
}

/// The arguments that are keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Where {
    None,
    /// The first one.
    First,
    /// The first two.
    Two,
    /// All.
    All,
    /// Every other one, from the first.
    Pairs,
    /// None, and the command works on all keys.
    Database,
}

/// The handling of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// In a transaction it waits for `EXEC`.
    Queued,
    /// In a transaction it is run at once.
    AtOnce,
    Quit,
    /// A line of HTTP: the connection is closed.
    Attack,
}

const WRITES: u8 = 1;
const GROWS: u8 = 2;
const READS: u8 = 4;
const FAST: u8 = 8;
const EXEC: u8 = 16;

/// The command of a request.
///
/// # Errors
/// If there is none.
#[inline]
pub(super) fn find(request: &Request<'_>) -> Result<&'static Command, Refused> {
    let name = request.arg(0);
    let Some(mut command) = named(name) else {
        return Err(Refused::unknown(request));
    };
    if !command.subcommands.is_empty() && request.len() > 1 {
        let Some(subcommand) = command.subcommand(request.arg(1)) else {
            return Err(Refused::subcommand(request));
        };
        command = subcommand;
    }
    Ok(command)
}

/// Returns the command with this name, in any case.
pub(super) fn named(name: &[u8]) -> Option<&'static Command> {
    let is_it = |command: &&Command| name.eq_ignore_ascii_case(command.name.as_bytes());
    COMMANDS.iter().find(is_it)
}

impl Command {
    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns true if the command may need more memory.
    pub(crate) fn grows(&self) -> bool {
        self.flags & GROWS != 0
    }

    pub(super) fn is_exec(&self) -> bool {
        self.flags & EXEC != 0
    }

    /// Returns true if the command works on several keys, so that their shards are held together.
    #[inline]
    pub(super) fn is_wide(&self, request: &Request<'_>) -> bool {
        match self.keys {
            Where::None | Where::First | Where::Database => false,
            Where::Two => true,
            Where::All => request.len() > 2,
            Where::Pairs => request.len() > 3,
        }
    }

    /// Returns the shards that the command needs.
    pub(super) fn shards(&self, keys: &Keys<'_>, request: &Request<'_>) -> Shards {
        match self.keys {
            Where::None => Shards::default(),
            Where::First => keys.shards(request.args(1).take(1)),
            Where::Two => keys.shards(request.args(1).take(2)),
            Where::All => keys.shards(request.args(1)),
            Where::Pairs => keys.shards(request.args(1).step_by(2)),
            Where::Database => Shards::ALL,
        }
    }

    /// Returns the flags of the command for `COMMAND`.
    pub(super) fn flags(&self) -> impl Iterator<Item = &'static str> {
        let names = [
            (WRITES, "write"),
            (READS, "readonly"),
            (GROWS, "denyoom"),
            (FAST, "fast"),
        ];
        let flags = self.flags;
        let named = names.into_iter().filter(move |(flag, _)| flags & flag != 0);
        named.map(|(_, name)| name)
    }

    fn subcommand(&self, name: &[u8]) -> Option<&'static Command> {
        let is_it = |command: &&Command| {
            let own = command.name.split_once('|').map_or("", |(_, own)| own);
            name.eq_ignore_ascii_case(own.as_bytes())
        };
        self.subcommands.iter().find(is_it)
    }

    /// Returns true if the command accepts this number of arguments, with its name.
    #[inline]
    pub(super) fn takes(&self, arguments: usize) -> bool {
        let arguments = i32::try_from(arguments).unwrap_or(i32::MAX);
        if self.arity < 0 {
            arguments >= -self.arity
        } else {
            arguments == self.arity
        }
    }

    const fn new(
        name: &'static str,
        arity: i32,
        keys: Where,
        flags: u8,
        run: fn(&mut Call<'_, '_>) -> Done,
    ) -> Command {
        Command {
            name,
            arity,
            keys,
            flags,
            kind: Kind::Queued,
            run,
            subcommands: &[],
        }
    }

    const fn handled(mut self, kind: Kind) -> Command {
        self.kind = kind;
        self
    }

    const fn with(mut self, subcommands: &'static [Command]) -> Command {
        self.subcommands = subcommands;
        self
    }
}

/// Returns a command on keys that changes nothing.
const fn read(
    name: &'static str,
    arity: i32,
    keys: Where,
    run: fn(&mut Call<'_, '_>) -> Done,
) -> Command {
    Command::new(name, arity, keys, READS | FAST, run)
}

/// Returns a command that changes keys and needs no more memory.
const fn write(
    name: &'static str,
    arity: i32,
    keys: Where,
    run: fn(&mut Call<'_, '_>) -> Done,
) -> Command {
    Command::new(name, arity, keys, WRITES | FAST, run)
}

/// Returns a command that may need more memory.
const fn grow(
    name: &'static str,
    arity: i32,
    keys: Where,
    run: fn(&mut Call<'_, '_>) -> Done,
) -> Command {
    Command::new(name, arity, keys, WRITES | GROWS, run)
}

/// Returns a command without keys.
const fn other(
    name: &'static str,
    arity: i32,
    run: fn(&mut Call<'_, '_>) -> Done,
) -> Command {
    Command::new(name, arity, Where::None, FAST, run)
}

fn nothing(_: &mut Call<'_, '_>) -> Done {
    Ok(())
}

/// All commands, the most used first: a search is linear.
pub(super) static COMMANDS: &[Command] = &[
    read("get", 2, Where::First, strings::get),
    grow("set", -3, Where::First, set::set),
    grow("incr", 2, Where::First, numbers::incr),
    other("ping", -1, client::ping),
    grow("incrby", 3, Where::First, numbers::incrby),
    read("mget", -2, Where::All, strings::mget),
    grow("mset", -3, Where::Pairs, strings::mset),
    write("del", -2, Where::All, keys::del),
    read("exists", -2, Where::All, keys::exists),
    write("expire", -3, Where::First, expiry::expire),
    read("ttl", 2, Where::First, expiry::ttl),
    grow("setex", 4, Where::First, set::setex),
    grow("setnx", 3, Where::First, set::setnx),
    grow("decr", 2, Where::First, numbers::decr),
    grow("decrby", 3, Where::First, numbers::decrby),
    grow("incrbyfloat", 3, Where::First, numbers::incrbyfloat),
    grow("psetex", 4, Where::First, set::psetex),
    grow("getset", 3, Where::First, set::getset),
    write("getdel", 2, Where::First, strings::getdel),
    write("getex", -2, Where::First, set::getex),
    grow("msetnx", -3, Where::Pairs, strings::msetnx),
    grow("append", 3, Where::First, strings::append),
    read("strlen", 2, Where::First, strings::strlen),
    read("getrange", 4, Where::First, strings::getrange),
    read("substr", 4, Where::First, strings::getrange),
    grow("setrange", 4, Where::First, strings::setrange),
    write("unlink", -2, Where::All, keys::del),
    read("touch", -2, Where::All, keys::exists),
    read("type", 2, Where::First, keys::kind),
    write("rename", 3, Where::Two, keys::rename),
    write("renamenx", 3, Where::Two, keys::renamenx),
    write("pexpire", -3, Where::First, expiry::pexpire),
    write("expireat", -3, Where::First, expiry::expireat),
    write("pexpireat", -3, Where::First, expiry::pexpireat),
    read("pttl", 2, Where::First, expiry::pttl),
    read("expiretime", 2, Where::First, expiry::expiretime),
    read("pexpiretime", 2, Where::First, expiry::pexpiretime),
    write("persist", 2, Where::First, expiry::persist),
    read("scan", -2, Where::Database, scan::scan),
    read("keys", 2, Where::Database, scan::keys),
    read("dbsize", 1, Where::Database, keys::dbsize),
    write("flushdb", -1, Where::Database, keys::flush),
    write("flushall", -1, Where::Database, keys::flush),
    other("multi", 1, transaction::multi).handled(Kind::AtOnce),
    Command::new("exec", 1, Where::None, EXEC, transaction::exec).handled(Kind::AtOnce),
    other("discard", 1, transaction::discard).handled(Kind::AtOnce),
    other("watch", -2, transaction::watch).handled(Kind::AtOnce),
    other("unwatch", 1, transaction::unwatch),
    other("hello", -1, client::hello),
    other("client", -2, nothing).with(CLIENT),
    other("select", 2, client::select),
    other("echo", 2, client::echo),
    other("auth", -2, client::auth),
    other("reset", 1, client::reset).handled(Kind::AtOnce),
    other("quit", -1, nothing).handled(Kind::Quit),
    other("command", -1, describe::all).with(COMMAND),
    other("config", -2, nothing).with(CONFIG),
    Command::new("info", -1, Where::Database, 0, server::info),
    other("time", 1, server::time),
    other("post", -1, nothing).handled(Kind::Attack),
    other("host:", -1, nothing).handled(Kind::Attack),
];

const CLIENT: &[Command] = &[
    other("client|id", 2, client::id),
    other("client|getname", 2, client::getname),
    other("client|setname", 3, client::setname),
    other("client|setinfo", 4, client::setinfo),
];

const COMMAND: &[Command] = &[
    other("command|count", 2, describe::count),
    other("command|docs", -2, describe::docs),
    other("command|info", -2, describe::info),
    other("command|list", 2, describe::list),
];

const CONFIG: &[Command] = &[other("config|get", -3, server::config_get)];
