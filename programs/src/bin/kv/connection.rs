//! One connection: reads the available bytes, answers all requests, writes once.

use anyhow::bail;
use pirn::net::TcpStream;
use pirn_programs::{Stop, hang_up};

use crate::answers::Answers;
use crate::client::Client;
use crate::commands;
use crate::database::Database;
use crate::input::{Broken, Input, MOST};
use crate::store::Keys;

/// The next step of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    Go,
    /// Sends its answers and ends.
    Close,
}

/// Serves a connection until it ends, violates the protocol, quits, or the server shuts down.
/// Requests read by then are answered.
pub(crate) fn serve(
    mut stream: TcpStream,
    database: &Database,
    stop: &Stop,
) -> anyhow::Result<()> {
    stream.set_nodelay(true)?;
    let mut keys = Keys::new(&database.store);
    let mut client = database.client();
    let ended = answer_all(&mut stream, database, &mut keys, &mut client, stop);
    client.unwatch(&mut keys);
    ended?;
    // Bytes behind the end are read, so that a reset does not discard the answers. That fails if
    // the other end has closed.
    let _ = hang_up(stream);
    Ok(())
}

fn answer_all<'d>(
    stream: &mut TcpStream,
    database: &'d Database,
    keys: &mut Keys<'d>,
    client: &mut Client<'d>,
    stop: &Stop,
) -> anyhow::Result<()> {
    let mut input = Input::new();
    let mut answers = Answers::new();
    while stop.unless(|| input.fill(&mut *stream))?.unwrap_or(0) > 0 {
        let next = answer(&mut input, database, keys, client, &mut answers, stream)?;
        answers.send(&mut *stream)?;
        if next == Next::Close {
            break;
        }
        if input.is_large() {
            // With a fast sender the fiber never waits.
            pirn::yield_now();
        }
    }
    Ok(())
}

/// Answers the received requests.
fn answer<'d>(
    input: &mut Input,
    database: &'d Database,
    keys: &mut Keys<'d>,
    client: &mut Client<'d>,
    answers: &mut Answers,
    stream: &mut TcpStream,
) -> anyhow::Result<Next> {
    loop {
        let request = match input.next() {
            Ok(Some(request)) => request,
            Ok(None) => return Ok(Next::Go),
            Err(broken @ Broken::Huge(_)) => return Err(broken.into()),
            Err(broken) => {
                answers.error(format!("ERR {broken}").as_bytes());
                return Ok(Next::Close);
            }
        };
        match commands::run(database, keys, client, request, answers) {
            commands::Ran::Done => {}
            commands::Ran::Quit => return Ok(Next::Close),
            commands::Ran::Huge => {
                bail!("a transaction, or answers to a request, of more than {MOST} bytes")
            }
            commands::Ran::Attack => bail!(
                "a request of HTTP: closed without an answer, \
                 since a web page may have made a browser send it"
            ),
        }
        // A client that requests much and does not read delays only itself; memory stays flat.
        if answers.is_full() {
            answers.send(&mut *stream)?;
        }
    }
}
