//! The thread that answers requests, from the start of a runtime to its end.
//!
//! One thread, one answer at a time, one request for each client. So a client that reads slowly, or
//! repeats large requests, delays other clients for a limited time only. A client that sends no
//! request delays none. A worker describes its fibers in pieces (`observe::report::walk`) of less
//! than a millisecond each. The thread sleeps while there is no request, and counts as idle then
//! (`thread_registry::rest`), so it neither wakes an idle process nor hides a deadlock.
//!
//! It ends when the alarm is dropped, which ends all its waits, also one for a client. `close`
//! waits for the rest: for a round of a walk, 50 ms at most, for the end of another walk, or for
//! names of functions that are being looked up.

use std::fmt;
use std::io::{self, BufWriter, Write};
use std::mem;
use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use super::answer::{Why, answer, refuse};
use super::request::{self, Request};
use crate::fiber::thread_registry;
use crate::sched::pool::shared::Pool;
use crate::shim::{self, Mutex};
use crate::sys::{Alarm, LocalClient, LocalListener};

/// The time for a client to send its request. Arbitrary: far more than a program needs.
const ASKING: Duration = Duration::from_secs(1);

/// The time for a client to read the answer. Arbitrary: a million fibers take some seconds.
const TAKING: Duration = Duration::from_secs(10);

/// The pause after an error before the next client is accepted: no descriptors are left, for
/// instance. Arbitrary.
const PAUSE: Duration = Duration::from_millis(100);

/// The request socket of a runtime.
pub(crate) struct Inspector(Mutex<Stage>);

enum Stage {
    /// The socket exists, but no thread answers yet.
    Bound(LocalListener, Alarm),
    Serving(Alarm, shim::thread::JoinHandle<()>),
    Closed,
}

impl Inspector {
    /// Binds a socket at `path`.
    ///
    /// # Errors
    /// What is wrong with the path; the message names it and the setting that gave it.
    pub(crate) fn bind(setting: &str, path: &Path) -> io::Result<Arc<Inspector>> {
        match LocalListener::bind(path) {
            Ok((listener, alarm)) => {
                let stage = Stage::Bound(listener, alarm);
                Ok(Arc::new(Inspector(Mutex::new(stage))))
            }
            Err(error) => {
                let said = format!("{setting} is '{}': {error}", path.display());
                Err(io::Error::new(error.kind(), said))
            }
        }
    }

    /// Starts a thread that answers requests about `pool`.
    ///
    /// # Errors
    /// The operating system's error, if it has no thread.
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

    /// Ends the thread, waits for it, and removes the socket.
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

/// Answers clients until the alarm is dropped or the pool is gone. Removes the socket then, by
/// dropping the listener.
fn serve(mut listener: LocalListener, pool: &Weak<Pool>, began: Instant) {
    loop {
        match thread_registry::rest(|| listener.accept(ASKING, request::LONGEST)) {
            Ok(Some((client, said))) => {
                let Some(pool) = pool.upgrade() else { return };
                // The client sees any failure.
                let _ = attend(client, &said, &pool, began);
                continue;
            }
            Ok(None) => return,
            Err(_) => {}
        }
        if !thread_registry::rest(|| listener.pause(PAUSE)) {
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
        // The rest of the buffer is not retried.
        let _ = out.into_parts();
    }
    flushed
}
