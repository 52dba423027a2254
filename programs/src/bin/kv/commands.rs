//! What the commands do, and what Redis says of those that it refuses.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use pirn::time;

use crate::answers::Answers;
use crate::input::Request;
use crate::integer;
use crate::store::{Condition, NoSum, Store, Until};

/// What the commands work on.
#[derive(Debug)]
pub(crate) struct Database {
    pub(crate) store: Store,
    clients: AtomicUsize,
    since: Instant,
}

/// A client, counted for as long as it is here.
#[derive(Debug)]
pub(crate) struct Client<'a>(&'a Database);

/// Whether the connection goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    Go,
    Close,
}

/// A command.
struct Command {
    /// In lower case.
    name: &'static str,
    /// How many arguments it takes, itself included.
    least: usize,
    most: usize,
    run: fn(&Database, &Request<'_>, &mut Answers) -> Result<(), Refused>,
}

/// Why a command does nothing.
#[derive(Debug, thiserror::Error)]
enum Refused {
    #[error("ERR wrong number of arguments for '{0}' command")]
    Arguments(&'static str),
    #[error("ERR syntax error")]
    Syntax,
    #[error("ERR value is not an integer or out of range")]
    NoInteger,
    #[error("ERR increment or decrement would overflow")]
    Overflow,
    #[error("ERR invalid expire time in '{0}' command")]
    Expire(&'static str),
    #[error("ERR DB index is out of range")]
    Index,
    #[error("ERR unknown subcommand '{0}'. Try CONFIG HELP.")]
    Subcommand(String),
}

impl Database {
    pub(crate) fn new() -> Database {
        Database {
            store: Store::new(),
            clients: AtomicUsize::new(0),
            since: time::now(),
        }
    }

    /// Counts a client until the result is dropped.
    pub(crate) fn client(&self) -> Client<'_> {
        self.clients.fetch_add(1, Ordering::Relaxed);
        Client(self)
    }
}

impl Drop for Client<'_> {
    fn drop(&mut self) {
        self.0.clients.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Does what a request asks for, and answers it.
pub(crate) fn run(
    database: &Database,
    request: &Request<'_>,
    answers: &mut Answers,
) -> Next {
    let name = request.arg(0);
    if name.eq_ignore_ascii_case(b"quit") {
        answers.word("OK");
        return Next::Close;
    }
    let is_it = |command: &&Command| name.eq_ignore_ascii_case(command.name.as_bytes());
    let Some(command) = COMMANDS.iter().find(is_it) else {
        answers.error(unknown(request));
        return Next::Go;
    };
    let done = if (command.least..=command.most).contains(&request.len()) {
        (command.run)(database, request, answers)
    } else {
        Err(Refused::Arguments(command.name))
    };
    if let Err(refused) = done {
        answers.error(refused);
    }
    Next::Go
}

/// All commands but `quit`, those first that are used most.
const COMMANDS: &[Command] = &[
    command("get", 2, 2, get),
    command("set", 3, ANY, set),
    command("incr", 2, 2, |d, r, a| add(d, r, a, 1)),
    command("decr", 2, 2, |d, r, a| add(d, r, a, -1)),
    command("del", 2, ANY, del),
    command("exists", 2, ANY, exists),
    command("expire", 3, 3, |d, r, a| expire(d, r, a, "expire", 1000)),
    command("pexpire", 3, 3, |d, r, a| expire(d, r, a, "pexpire", 1)),
    command("ttl", 2, 2, |d, r, a| time_to_live(d, r, a, 1000)),
    command("pttl", 2, 2, |d, r, a| time_to_live(d, r, a, 1)),
    command("persist", 2, 2, persist),
    command("ping", 1, 2, ping),
    command("echo", 2, 2, echo),
    command("dbsize", 1, 1, dbsize),
    command("flushall", 1, 2, flush),
    command("select", 2, 2, select),
    command("config", 2, ANY, config),
    command("command", 1, ANY, describe),
    command("info", 1, ANY, info),
];

const ANY: usize = usize::MAX;

const fn command(
    name: &'static str,
    least: usize,
    most: usize,
    run: fn(&Database, &Request<'_>, &mut Answers) -> Result<(), Refused>,
) -> Command {
    Command {
        name,
        least,
        most,
        run,
    }
}

fn get(
    database: &Database,
    request: &Request<'_>,
    answers: &mut Answers,
) -> Result<(), Refused> {
    database.store.read(request.arg(1), |value| match value {
        Some(value) => answers.bulk(value),
        None => answers.null(),
    });
    Ok(())
}

fn set(
    database: &Database,
    request: &Request<'_>,
    answers: &mut Answers,
) -> Result<(), Refused> {
    let mut condition = Condition::Always;
    let mut keeps = false;
    // The number, and the milliseconds that it counts.
    let mut limit: Option<(&[u8], i64)> = None;
    let mut options = request.args(3);
    while let Some(option) = options.next() {
        let is = |name: &str| option.eq_ignore_ascii_case(name.as_bytes());
        let unit = if is("ex") { 1000 } else { 1 };
        if is("nx") && condition != Condition::There {
            condition = Condition::Missing;
        } else if is("xx") && condition != Condition::Missing {
            condition = Condition::There;
        } else if is("keepttl") && limit.is_none() {
            keeps = true;
        } else if (is("ex") || is("px"))
            && !keeps
            && limit.is_none_or(|(_, before)| before == unit)
        {
            limit = Some((options.next().ok_or(Refused::Syntax)?, unit));
        } else {
            return Err(Refused::Syntax);
        }
    }
    let until = match limit {
        None if keeps => Until::AsBefore,
        None => Until::Always,
        Some((number, unit)) => {
            let number = integer::parse(number).ok_or(Refused::NoInteger)?;
            let at = moment(number, unit).filter(|_| number > 0);
            Until::At(at.ok_or(Refused::Expire("set"))?)
        }
    };
    let (key, value) = (request.arg(1), request.arg(2));
    if database.store.write(key, value, until, condition) {
        answers.word("OK");
    } else {
        answers.null();
    }
    Ok(())
}

fn add(
    database: &Database,
    request: &Request<'_>,
    answers: &mut Answers,
    number: i64,
) -> Result<(), Refused> {
    let sum = database.store.add(request.arg(1), number);
    answers.integer(sum.map_err(|why| match why {
        NoSum::NoInteger => Refused::NoInteger,
        NoSum::Overflow => Refused::Overflow,
    })?);
    Ok(())
}

fn del(
    database: &Database,
    request: &Request<'_>,
    answers: &mut Answers,
) -> Result<(), Refused> {
    answers.count(request.args(1).filter(|key| database.store.remove(key)));
    Ok(())
}

fn exists(
    database: &Database,
    request: &Request<'_>,
    answers: &mut Answers,
) -> Result<(), Refused> {
    let is_there = |key: &&[u8]| database.store.read(key, |value| value.is_some());
    answers.count(request.args(1).filter(is_there));
    Ok(())
}

/// `unit` is the milliseconds that the number counts.
fn expire(
    database: &Database,
    request: &Request<'_>,
    answers: &mut Answers,
    name: &'static str,
    unit: i64,
) -> Result<(), Refused> {
    let number = integer::parse(request.arg(2)).ok_or(Refused::NoInteger)?;
    let at = moment(number, unit).ok_or(Refused::Expire(name))?;
    let was_there = database.store.limit(request.arg(1), Some(at));
    answers.integer(i64::from(was_there.is_some()));
    Ok(())
}

fn persist(
    database: &Database,
    request: &Request<'_>,
    answers: &mut Answers,
) -> Result<(), Refused> {
    let was_limited = database.store.limit(request.arg(1), None);
    answers.integer(i64::from(was_limited == Some(true)));
    Ok(())
}

fn time_to_live(
    database: &Database,
    request: &Request<'_>,
    answers: &mut Answers,
    unit: u128,
) -> Result<(), Refused> {
    let left = match database.store.time_to_live(request.arg(1)) {
        None => -2,
        Some(None) => -1,
        Some(Some(left)) => {
            // A key that is there has a millisecond left; seconds are rounded.
            let millis = left.as_nanos().div_ceil(1_000_000);
            i64::try_from((millis + unit / 2) / unit).unwrap_or(i64::MAX)
        }
    };
    answers.integer(left);
    Ok(())
}

fn ping(
    _: &Database,
    request: &Request<'_>,
    answers: &mut Answers,
) -> Result<(), Refused> {
    match request.args(1).next() {
        Some(text) => answers.bulk(text),
        None => answers.word("PONG"),
    }
    Ok(())
}

fn echo(
    _: &Database,
    request: &Request<'_>,
    answers: &mut Answers,
) -> Result<(), Refused> {
    answers.bulk(request.arg(1));
    Ok(())
}

fn dbsize(
    database: &Database,
    _: &Request<'_>,
    answers: &mut Answers,
) -> Result<(), Refused> {
    answers.integer(i64::try_from(database.store.len()).unwrap_or(i64::MAX));
    Ok(())
}

fn flush(
    database: &Database,
    _: &Request<'_>,
    answers: &mut Answers,
) -> Result<(), Refused> {
    database.store.clear();
    answers.word("OK");
    Ok(())
}

/// There is one database.
fn select(
    _: &Database,
    request: &Request<'_>,
    answers: &mut Answers,
) -> Result<(), Refused> {
    match integer::parse(request.arg(1)) {
        Some(0) => answers.word("OK"),
        Some(_) => return Err(Refused::Index),
        None => return Err(Refused::NoInteger),
    }
    Ok(())
}

/// Settings that `redis-benchmark` asks for; nothing is kept on disk here.
fn config(
    _: &Database,
    request: &Request<'_>,
    answers: &mut Answers,
) -> Result<(), Refused> {
    let subcommand = request.arg(1);
    if !subcommand.eq_ignore_ascii_case(b"get") {
        let named = String::from_utf8_lossy(subcommand).into_owned();
        return Err(Refused::Subcommand(named));
    }
    if request.len() < 3 {
        return Err(Refused::Arguments("config|get"));
    }
    let is_asked = |name: &str| {
        let mut names = request.args(2);
        names.any(|asked| asked.eq_ignore_ascii_case(name.as_bytes()))
    };
    let settings = [("save", ""), ("appendonly", "no")];
    let asked = || settings.iter().filter(|(name, _)| is_asked(name));
    answers.array(2 * asked().count());
    for (name, value) in asked() {
        answers.bulk(name.as_bytes());
        answers.bulk(value.as_bytes());
    }
    Ok(())
}

/// `redis-cli` asks for descriptions of all commands, and does without.
fn describe(
    _: &Database,
    request: &Request<'_>,
    answers: &mut Answers,
) -> Result<(), Refused> {
    match request.args(1).next() {
        Some(count) if count.eq_ignore_ascii_case(b"count") => {
            // With `quit`.
            answers.integer(i64::try_from(COMMANDS.len() + 1).unwrap_or(i64::MAX));
        }
        _ => answers.array(0),
    }
    Ok(())
}

fn info(
    database: &Database,
    _: &Request<'_>,
    answers: &mut Answers,
) -> Result<(), Refused> {
    let uptime = time::now().duration_since(database.since).as_secs();
    let clients = database.clients.load(Ordering::Relaxed);
    let keys = database.store.len();
    answers.bulk(
        format!(
            "# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\n\
             process_id:{}\r\nuptime_in_seconds:{uptime}\r\n\r\n\
             # Clients\r\nconnected_clients:{clients}\r\n\r\n\
             # Keyspace\r\ndb0:keys={keys}\r\n",
            std::process::id()
        )
        .as_bytes(),
    );
    Ok(())
}

/// The moment in so many units of so many milliseconds; `None` if a clock in milliseconds could
/// not show it, which Redis refuses.
fn moment(number: i64, unit: i64) -> Option<Instant> {
    let millis = number.checked_mul(unit)?;
    let unix = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    i64::try_from(unix.unwrap_or_default().as_millis())
        .ok()?
        .checked_add(millis)?;
    let now = time::now();
    let duration = Duration::from_millis(millis.unsigned_abs());
    if millis < 0 {
        // What is over is over.
        Some(now.checked_sub(duration).unwrap_or(now))
    } else {
        now.checked_add(duration)
    }
}

/// What Redis says of a command that it does not know.
fn unknown(request: &Request<'_>) -> String {
    let start = |arg: &[u8], len: usize| {
        let arg = &arg[..arg.len().min(len)];
        String::from_utf8_lossy(arg).into_owned()
    };
    let mut args = String::new();
    for arg in request.args(1) {
        let room = LONGEST_TOLD.saturating_sub(args.len());
        if room == 0 {
            break;
        }
        // Writing to memory does not fail.
        let _ = write!(args, "'{}' ", start(arg, room));
    }
    let name = start(request.arg(0), LONGEST_TOLD);
    format!("ERR unknown command '{name}', with args beginning with: {args}")
}

/// How much Redis repeats of what it does not know.
const LONGEST_TOLD: usize = 128;
