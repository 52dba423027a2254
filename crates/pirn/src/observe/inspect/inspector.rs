//! The thread that answers, from when a runtime has been built to its end.
//!
//! One thread, one answer at a time, one question for each client. So a client that reads slowly,
//! or asks for everything again and again, delays other clients for a limited time only. A
//! client that sends no question delays none. A worker describes its fibers in pieces
//! (`sched::walk`) of less than a millisecond each. The thread sleeps while there is no question,
//! and counts as idle then (`vigil::rest`), so it neither wakes an idle process nor hides a deadlock.
//!
//! It ends when the alarm is dropped, which ends all its waits, also one for a client. Whoever
//! closes waits for the rest: for a roll call, 50 ms at most, or for names of functions that are
//! being looked up.

use std::fmt;
use std::io::{self, BufWriter, Write};
use std::mem;
use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use super::super::json::Line;
use super::answer::answer;
use super::request::{self, Request};
use crate::fiber::vigil;
use crate::sched::pool::Pool;
use crate::shim::{self, Mutex};
use crate::sys::{Alarm, LocalClient, LocalListener};

/// How long a client has to ask. Arbitrary: far more than a program needs.
const ASKING: Duration = Duration::from_secs(1);

/// How long it has to take the answer. Arbitrary: a million fibers take some seconds.
const TAKING: Duration = Duration::from_secs(10);

/// What is waited after an error before the next client is looked for: there are no
/// descriptors to be had, for instance. Arbitrary.
const PAUSE: Duration = Duration::from_millis(100);

/// A runtime's ear.
pub(crate) struct Inspector(Mutex<Stage>);

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// Whoever asks may not.
    Refused,
    /// The question makes no sense.
    Request,
    /// There is no such fiber.
    Fiber,
}

enum Stage {
    /// The socket is there, and nobody answers yet.
    Bound(LocalListener, Alarm),
    Serving(Alarm, shim::thread::JoinHandle<()>),
    Closed,
}

impl Inspector {
    /// Listens at `path`.
    ///
    /// # Errors
    /// What is wrong with the path; the message names it, and `who` asked for it.
    pub(crate) fn bind(who: &str, path: &Path) -> io::Result<Arc<Inspector>> {
        match LocalListener::bind(path) {
            Ok((listener, alarm)) => {
                let stage = Stage::Bound(listener, alarm);
                Ok(Arc::new(Inspector(Mutex::new(stage))))
            }
            Err(error) => {
                let said = format!("{who} is '{}': {error}", path.display());
                Err(io::Error::new(error.kind(), said))
            }
        }
    }

    /// Answers what is asked about `pool`, from now on.
    ///
    /// # Errors
    /// What the system says when it has no thread to give.
    pub(crate) fn serve(&self, pool: &Arc<Pool>) -> io::Result<()> {
        let mut stage = self.0.lock();
        *stage = match mem::replace(&mut *stage, Stage::Closed) {
            Stage::Bound(listener, alarm) => {
                let name = format!("{}-inspect", pool.name());
                let pool = Arc::downgrade(pool);
                let began = shim::now();
                let thread = shim::thread::spawn(name, move || {
                    serve(listener, &pool, began);
                })?;
                Stage::Serving(alarm, thread)
            }
            stage => stage,
        };
        Ok(())
    }

    /// Ends, and removes the socket. Waits for the thread.
    pub(crate) fn close(&self) {
        let stage = mem::replace(&mut *self.0.lock(), Stage::Closed);
        if let Stage::Serving(alarm, thread) = stage {
            drop(alarm);
            // A panic there has been printed by the panic hook.
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Inspector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inspector").finish_non_exhaustive()
    }
}

/// The body of the thread. Dropping the listener removes the socket.
fn serve(mut listener: LocalListener, pool: &Weak<Pool>, began: Instant) {
    loop {
        match vigil::rest(|| listener.accept(ASKING, request::LONGEST)) {
            Ok(Some((client, said))) => {
                let Some(pool) = pool.upgrade() else { return };
                // Whatever went wrong, the client knows.
                let _ = attend(client, &said, &pool, began);
                continue;
            }
            Ok(None) => return,
            Err(_) => {}
        }
        if !vigil::rest(|| listener.pause(PAUSE)) {
            return;
        }
    }
}

fn attend(
    mut client: LocalClient<'_>,
    said: &[u8],
    pool: &Arc<Pool>,
    began: Instant,
) -> io::Result<()> {
    let request = if client.is_friend()? {
        Request::read(said).map_err(|said| (Why::Request, said))
    } else {
        let said = "refused: another user's process".to_owned();
        Err((Why::Refused, said))
    };
    client.limit(TAKING);
    let mut out = BufWriter::new(client);
    let answered = match request {
        Ok(request) => answer(pool, began, request, &mut out),
        Err((why, said)) => refuse(why, &said, &mut out),
    };
    let flushed = answered.and_then(|()| out.flush());
    if flushed.is_err() {
        // What is left in the buffer is not tried again.
        let _ = out.into_parts();
    }
    flushed
}

/// Answers that there is no answer.
pub(super) fn refuse(why: Why, said: &str, out: &mut dyn Write) -> io::Result<()> {
    let why = match why {
        Why::Refused => "refused",
        Why::Request => "request",
        Why::Fiber => "fiber",
    };
    let line = Line::of("error").text("why", why);
    line.text("message", said).end(out)
}
