//! One source of lines: its lines are accepted, run and answered.
//!
//! The calling fiber reads and accepts, another one writes answers. Both directions are bounded: a
//! line is read only with a permit, which is released when its last answer has been written. So a
//! source that sends without end and does not read delays only itself.
//!
//! The writer ends when no more answers can be sent: when the reader and all accepted jobs have
//! ended.

use std::io::{self, BufRead, Read as _, Write};
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use pirn::channel::{self, Receiver, SendError};
use pirn::process::ExitStatus;
use pirn::sync::{AcquireError, OwnedPermit, Semaphore};
use pirn::{cancel, scope};
use pirn_programs::Stop;

use crate::pool::{Job, Pool};

/// The outcomes of the lines.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) accepted: u64,
    pub(crate) failed: u64,
}

/// The news of a line.
enum Answer {
    Accepted(u64),
    Ended(u64, io::Result<ExitStatus>, OwnedPermit),
}

/// Accepts lines until the end of the input or until `stop`, and waits until all of them are
/// answered.
///
/// # Errors
/// If reading or writing fails. Accepted lines are still run.
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
                // The writer has failed, and reports it. No more lines could be answered.
                Err(SendError::Disconnected(_)) => break Ok(()),
                Err(SendError::Interrupted(_, interrupt)) => break Err(interrupt.into()),
            }
            let answers = answers.clone();
            let tell = Box::new(move |status| {
                let _ = answers.send(Answer::Ended(number, status, permit));
            });
            // Accepted lines are submitted, also by a connection that is cut off. The queue is not
            // closed before all sources have ended.
            let job = Job { line, tell };
            let _ = cancel::shield(|| pool.submit(job));
        };
        drop(answers);
        let failed = writer.join().context("the writer has panicked")??;
        read.map(|()| Counts { accepted, failed })
    })
}

/// Returns the next line without its end, and the permit to accept it.
fn next(
    input: &mut impl BufRead,
    permits: &Arc<Semaphore>,
    stop: &Stop,
) -> anyhow::Result<Option<(Vec<u8>, OwnedPermit)>> {
    let mut line = Vec::new();
    let permit = stop.unless(|| -> io::Result<_> {
        let permit = permits.acquire_owned(1).map_err(|error| match error {
            AcquireError::Interrupted(interrupt) => interrupt.into(),
            other => io::Error::other(other),
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

/// Writes answers until there are no more; returns the number of failed commands.
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

/// Maximum number of accepted lines of one source without an answer. Arbitrary.
const OPEN: usize = 64;

/// Maximum length of a line: that of an argument on Linux.
const LONGEST: u64 = 128 << 10;
