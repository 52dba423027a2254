//! One connection: read what has come, answer all of it, write once.

use std::io::Write as _;

use pirn::net::TcpStream;
use pirn_programs::{Stop, hang_up};

use crate::answers::Answers;
use crate::commands::{self, Database, Next};
use crate::input::Input;

/// Serves a connection until it ends, breaks the protocol, quits, or the server has been told to
/// end: what has been read by then is answered.
pub(crate) fn serve(
    mut stream: TcpStream,
    database: &Database,
    stop: &Stop,
) -> anyhow::Result<()> {
    stream.set_nodelay(true)?;
    let _client = database.client();
    let mut input = Input::new();
    let mut answers = Answers::default();
    while stop.unless(|| input.fill(&mut stream))?.unwrap_or(0) > 0 {
        let next = answer(&mut input, database, &mut answers, &mut stream)?;
        stream.write_all(answers.bytes())?;
        answers.sent();
        if let Next::Close = next {
            break;
        }
    }
    // What comes behind the end is not to cost the answers. It fails if the other end is gone.
    let _ = hang_up(stream);
    Ok(())
}

/// Answers the requests that have come.
fn answer(
    input: &mut Input,
    database: &Database,
    answers: &mut Answers,
    stream: &mut TcpStream,
) -> anyhow::Result<Next> {
    loop {
        let request = match input.next() {
            Ok(Some(request)) => request,
            Ok(None) => return Ok(Next::Go),
            Err(broken) => {
                answers.error(format_args!("ERR {broken}"));
                return Ok(Next::Close);
            }
        };
        if let Next::Close = commands::run(database, &request, answers) {
            return Ok(Next::Close);
        }
        // Who asks for much and reads none of it waits for itself; memory stays flat.
        if answers.bytes().len() > MOST {
            stream.write_all(answers.bytes())?;
            answers.sent();
        }
    }
}

/// The most bytes of answers that wait for the last request of a read. Arbitrary.
const MOST: usize = 256 << 10;
