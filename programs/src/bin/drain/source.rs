//! One party that sends lines: what it has sent is accepted, run and answered.
//!
//! The calling fiber reads and accepts, another one writes answers. Both ends of the way are bounded:
//! a line is read only if there is a permit for it, and the permit is given back when its last answer has
//! been written. So who sends without end and reads nothing holds up nobody but itself.
//!
//! The writer ends when nobody can send answers any more: when the reader and all accepted jobs
//! are gone.

use std::io::{self, BufRead, Read as _, Write};
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use pirn::channel::{self, Receiver, SendError};
use pirn::process::ExitStatus;
use pirn::sync::{AcquireError, OwnedPermit, Semaphore};
use pirn::{cancel, scope};
use pirn_programs::Stop;

use crate::pool::{Job, Pool};

/// What has become of the lines.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) accepted: u64,
    pub(crate) failed: u64,
}

/// What is to be told of a line.
enum Answer {
    Accepted(u64),
    Ended(u64, io::Result<ExitStatus>, OwnedPermit),
}

/// Accepts lines until there are no more or `stop` says so, and waits until all of them are answered.
///
/// # Errors
/// If reading or writing fails. What has been accepted is run.
pub(crate) fn serve(
    mut input: impl BufRead,
    output: impl Write + Send,
    pool: &Pool,
    stop: &Stop,
) -> anyhow::Result<Counts> {
    let (answers, unwritten) = channel::unbounded();
    scope(|s| {
        let writer = s.spawn(move || write(output, &unwritten));
        let permits = Arc::new(Semaphore::new(OPEN));
        let mut accepted = 0;
        let read = loop {
            let (line, permit) = match next(&mut input, &permits, stop) {
                Ok(Some(next)) => next,
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            };
            accepted += 1;
            let number = accepted;
            match answers.send(Answer::Accepted(number)) {
                Ok(()) => {}
                // The writer has failed, and says so itself. Nobody would be told of this line,
                // or of any other.
                Err(SendError::Disconnected(_)) => break Ok(()),
                Err(SendError::Interrupted(_, interrupt)) => break Err(interrupt.into()),
            }
            let answers = answers.clone();
            let tell = Box::new(move |status| {
                let _ = answers.send(Answer::Ended(number, status, permit));
            });
            // What has been accepted is handed over, also by a connection that is cut off. The
            // queue is not closed before all sources have ended.
            let job = Job { line, tell };
            let _ = cancel::shield(|| pool.submit(job));
        };
        drop(answers);
        let failed = writer.join().context("the writer has panicked")??;
        read.map(|()| Counts { accepted, failed })
    })
}

/// The next line without its end, and the permit to accept it.
fn next(
    input: &mut impl BufRead,
    permits: &Arc<Semaphore>,
    stop: &Stop,
) -> anyhow::Result<Option<(Vec<u8>, OwnedPermit)>> {
    let mut line = Vec::new();
    let permit = stop.unless(|| -> io::Result<_> {
        let permit = permits.acquire_owned(1).map_err(|error| match error {
            AcquireError::Interrupted(interrupt) => interrupt.into(),
            AcquireError::Closed => io::Error::other(error),
        })?;
        input.take(LONGEST).read_until(b'\n', &mut line)?;
        Ok(permit)
    })?;
    let Some(permit) = permit.filter(|_| !line.is_empty()) else {
        return Ok(None);
    };
    let is_whole = line.pop_if(|last| *last == b'\n').is_some();
    let is_longest = u64::try_from(line.len()) == Ok(LONGEST);
    ensure!(
        is_whole || !is_longest,
        "a line of more than {LONGEST} bytes"
    );
    Ok(Some((line, permit)))
}

/// Writes answers until there are no more; returns how many commands have failed.
fn write(mut output: impl Write, answers: &Receiver<Answer>) -> anyhow::Result<u64> {
    let mut failed = 0;
    for answer in answers.iter() {
        let line = match &answer {
            Answer::Accepted(number) => format!("accepted {number}\n"),
            Answer::Ended(number, Ok(status), _permit) => {
                failed += u64::from(!status.success());
                format!("ended {number} {status}\n")
            }
            Answer::Ended(number, Err(error), _permit) => {
                failed += 1;
                format!("failed {number} {error}\n")
            }
        };
        // In one piece, as others may write to the same place.
        output.write_all(line.as_bytes()).context("cannot answer")?;
    }
    Ok(failed)
}

/// How many lines of one source may be accepted and not answered. Arbitrary.
const OPEN: usize = 64;

/// The longest line: what Linux takes as one argument.
const LONGEST: u64 = 128 << 10;
