//! Lines on standard error, written by a thread of their own.
//!
//! A write to a full pipe blocks, and on a worker it would block all fibers of that worker: a
//! server would stop if its standard error is not read. So [`log`] pushes the line to a bounded
//! queue, from which one plain thread writes, and never waits. Lines beyond the bound of the queue,
//! or beyond [`RATE`], are counted; the thread writes the count when it can.

use std::fmt;
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use pirn::channel::{self, Receiver, RecvTimeoutError, Sender};
use pirn::time;

/// Queues a line for standard error, or counts it as left out. Never waits, so it may be called
/// anywhere, also inside a poll.
pub fn log(line: fmt::Arguments<'_>) {
    let is_admitted = LOG
        .rate
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .admit(time::now());
    // Lines that are left out are not formatted.
    if !is_admitted || LOG.queue.try_send(Entry::Line(clean(line))).is_err() {
        LOG.leave_out();
    }
}

/// Writes a last line, if there is one, behind all logged lines. Returns when it is written, or
/// when standard error has not been read for [`LAST`].
pub(crate) fn end(line: Option<fmt::Arguments<'_>>) {
    let at = time::now() + LAST;
    let (done, written) = channel::bounded(1);
    if let Some(line) = line {
        // It fails if the time is up; then the next one does, too.
        let _ = LOG.queue.send_deadline(Entry::Line(clean(line)), at);
    }
    if LOG.queue.send_deadline(Entry::End(done), at).is_ok() {
        let _ = written.recv_deadline(at);
    }
}

struct Log {
    queue: Sender<Entry>,
    /// Lines that have been left out since the last report of their number.
    left_out: AtomicUsize,
    rate: Mutex<Rate>,
}

enum Entry {
    Line(String),
    /// A line has been left out, which the thread would not detect while it waits.
    LeftOut,
    /// All earlier lines must be written now.
    End(Sender<()>),
}

/// Number of lines in the present second.
struct Rate {
    since: Instant,
    lines: u32,
}

static LOG: LazyLock<Log> = LazyLock::new(Log::start);

impl Log {
    #[expect(
        clippy::disallowed_methods,
        reason = "a thread beside the workers, which may block; a lock for a few instructions"
    )]
    fn start() -> Log {
        let (queue, entries) = channel::bounded(QUEUE);
        let writer = thread::Builder::new().name("log".to_owned());
        // Without a thread, the queue is closed, and all lines are left out.
        drop(writer.spawn(move || write(&entries)));
        let rate = Rate {
            since: time::now(),
            lines: 0,
        };
        Log {
            queue,
            left_out: AtomicUsize::new(0),
            rate: Mutex::new(rate),
        }
    }

    fn leave_out(&self) {
        // ORDERING: a count alone; the thread sees it by the entry below, or after it has taken one
        // from a full queue.
        if self.left_out.fetch_add(1, Ordering::Relaxed) == 0 {
            // If the queue is full, the thread does not wait.
            let _ = self.queue.try_send(Entry::LeftOut);
        }
    }
}

impl Rate {
    fn admit(&mut self, now: Instant) -> bool {
        if now.saturating_duration_since(self.since) >= SECOND {
            (self.since, self.lines) = (now, 0);
        }
        self.lines = self.lines.saturating_add(1);
        self.lines <= RATE
    }
}

/// Writes lines while the process runs. Errors are ignored: standard error may be closed.
fn write(entries: &Receiver<Entry>) {
    let mut stderr = io::stderr();
    // The next time for a report of the number of lines left out.
    let mut next = time::now();
    loop {
        let entry = match LOG.left_out.load(Ordering::Relaxed) {
            0 => entries.recv().map_err(RecvTimeoutError::from),
            _ => entries.recv_deadline(next),
        };
        let ended = match entry {
            Ok(Entry::Line(line)) => {
                let _ = writeln!(stderr, "{line}");
                None
            }
            Ok(Entry::End(done)) => Some(done),
            Ok(Entry::LeftOut) | Err(RecvTimeoutError::Timeout) => None,
            Err(_) => return,
        };
        if ended.is_some() || time::now() >= next {
            let left_out = LOG.left_out.swap(0, Ordering::Relaxed);
            if left_out > 0 {
                let _ = writeln!(
                    stderr,
                    "{left_out} lines left out: more than {RATE} in a second, or standard error was \
                     not read"
                );
                next = time::now() + SECOND;
            }
        }
        if let Some(done) = ended {
            let _ = done.try_send(());
        }
    }
}

/// Text from a client can neither end the line nor control a terminal.
fn clean(line: fmt::Arguments<'_>) -> String {
    line.to_string().replace(char::is_control, " ")
}

/// Maximum number of lines that wait to be written. Arbitrary.
const QUEUE: usize = 256;

/// Maximum number of lines a second. Arbitrary.
const RATE: u32 = 100;

const SECOND: Duration = Duration::from_secs(1);

/// Timeout of the last line. Arbitrary.
const LAST: Duration = Duration::from_secs(3);
