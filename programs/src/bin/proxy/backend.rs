//! A server behind the proxy.
//!
//! Its idle connections are taken and returned in polls, too, which must not wait. So they are
//! behind a lock of the standard library, held for a few instructions.

use std::error::Error as _;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use http_body_util::{Either, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, Response};
use pirn::future::wait;
use pirn::net::TcpStream;
use pirn::sync::{OwnedPermit, Semaphore};
use pirn::{cancel, time};
use pirn_programs::log;

use crate::upload::{Upload, UploadError};

/// The body of a request: a client's, or none.
pub(crate) type Sent = Either<Upload, Empty<Bytes>>;

/// A connection to a backend that has no request.
pub(crate) type Connection = SendRequest<Sent>;

/// How long a backend may take to accept a connection. Arbitrary.
const CONNECT: Duration = Duration::from_secs(2);

/// How long a request waits at most for answered connections to be ready for the next request.
/// Arbitrary.
const READY: Duration = Duration::from_millis(100);

/// How many idle connections are kept. Arbitrary.
const IDLE: usize = 64;

/// One backend.
#[derive(Debug)]
pub(crate) struct Backend {
    pub(crate) address: SocketAddr,
    turns: Arc<Semaphore>,
    idle: Mutex<Vec<Connection>>,
    /// Set by the checks, and by requests that cannot be sent. ORDERING: it is only a hint.
    up: AtomicBool,
    pub(crate) requests: AtomicU64,
    pub(crate) failures: AtomicU64,
}

/// The head of an answer and the connection that it came over, or why there is none.
pub(crate) type Asked = Result<(Response<Incoming>, Connection), Failure>;

/// Why a backend has not answered.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It has not received the request, which is returned.
    Unsent(Box<Request<Sent>>, anyhow::Error),
    /// It may have received it. Another request may be answered.
    Lost(anyhow::Error),
    /// It has sent something that is no answer. Another request may be answered.
    Wrong(anyhow::Error),
    /// The body of the request has failed, which says nothing about the backend.
    Upload(UploadError),
    /// No answer has come in time.
    Late,
}

impl Backend {
    /// Returns a backend that counts as up until a check fails or a request cannot be sent.
    #[expect(
        clippy::disallowed_methods,
        reason = "a lock for polls, which must not wait as fibers do"
    )]
    pub(crate) fn new(address: SocketAddr, at_once: usize) -> Arc<Backend> {
        Arc::new(Backend {
            address,
            turns: Arc::new(Semaphore::new(at_once)),
            idle: Mutex::new(Vec::new()),
            up: AtomicBool::new(true),
            requests: AtomicU64::new(0),
            failures: AtomicU64::new(0),
        })
    }

    /// Waits for a turn; `None` if none has come within `limit`.
    pub(crate) fn turn(&self, limit: Duration) -> Option<OwnedPermit> {
        pirn::timeout(limit, || self.turns.acquire_owned(1))
            .ok()?
            .ok()
    }

    /// Returns the number of further requests that it would answer now.
    pub(crate) fn free(&self) -> usize {
        self.turns.available()
    }

    pub(crate) fn is_up(&self) -> bool {
        self.up.load(Ordering::Relaxed)
    }

    /// Records whether it is up, and logs a change.
    pub(crate) fn set_up(&self, ended: Result<(), &anyhow::Error>) {
        let is_up = ended.is_ok();
        if self.up.swap(is_up, Ordering::Relaxed) == is_up {
            return;
        }
        match ended {
            Ok(()) => log(format_args!("{} is up", self.address)),
            Err(error) => log(format_args!("{} is down: {error:#}", self.address)),
        }
    }

    /// Sends a request and waits for the head of the answer, for `limit` at most.
    pub(crate) fn ask(&self, request: Request<Sent>, limit: Duration) -> Asked {
        self.counted(limit, || self.ask_on_any(request))
    }

    /// Does the same on a new connection: idle ones say nothing about the backend.
    pub(crate) fn ask_anew(&self, request: Request<Sent>, limit: Duration) -> Asked {
        self.counted(limit, || self.ask_on_new(request))
    }

    fn counted(&self, limit: Duration, ask: impl FnOnce() -> Asked) -> Asked {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let asked = pirn::timeout(limit, ask);
        let asked = asked.unwrap_or(Err(Failure::Late));
        if asked.is_err() {
            self.failures.fetch_add(1, Ordering::Relaxed);
        }
        asked
    }

    /// Sends a request on an idle connection, or on a new one.
    fn ask_on_any(&self, mut request: Request<Sent>) -> Asked {
        while let Some(mut connection) = self.take_idle() {
            match ask_on(&mut connection, request) {
                Ok(response) => return Ok((response, connection)),
                // The backend has closed the connection meanwhile.
                Err(Failure::Unsent(unsent, _)) => request = *unsent,
                Err(failure) => return Err(failure),
            }
        }
        self.ask_on_new(request)
    }

    fn ask_on_new(&self, request: Request<Sent>) -> Asked {
        let mut connection = match self.connect() {
            Ok(connection) => connection,
            Err(error) => return Err(Failure::Unsent(Box::new(request), error)),
        };
        let response = ask_on(&mut connection, request)?;
        Ok((response, connection))
    }

    fn connect(&self) -> anyhow::Result<Connection> {
        let stream = TcpStream::connect_timeout(&self.address, CONNECT)
            .with_context(|| format!("cannot connect to {}", self.address))?;
        stream.set_nodelay(true)?;
        let (sender, connection) = wait(http1::handshake(stream))??;
        // It ends with the connection. Errors are those of its requests.
        drop(pirn::spawn(move || drop(wait(connection))));
        Ok(sender)
    }

    /// Returns an idle connection; `None` if none has become ready within [`READY`]. One on which
    /// the request before has not been sent to its end, although it was answered, is not used
    /// again: it is closed at the end of that upload.
    fn take_idle(&self) -> Option<Connection> {
        // One limit for all of them: a client can leave any number of uploads unfinished.
        let until = time::now() + READY;
        loop {
            let mut connection = self.idle().pop()?;
            match cancel::with_deadline(until, || wait(connection.ready())) {
                Ok(Ok(())) => return Some(connection),
                // The backend has closed it.
                Ok(Err(_)) => {}
                // The limit, or an interrupt of the caller, which finds that out.
                Err(_) => return None,
            }
        }
    }

    /// Keeps a connection for later requests.
    pub(crate) fn keep(&self, connection: Connection) {
        let mut idle = self.idle();
        if idle.len() < IDLE && !connection.is_closed() {
            idle.push(connection);
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        // No code panics under it.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends a request on this connection, once the answer before has been read.
fn ask_on(
    connection: &mut Connection,
    request: Request<Sent>,
) -> Result<Response<Incoming>, Failure> {
    let asked = wait(async {
        if let Err(error) = connection.ready().await {
            return Err(Failure::Unsent(Box::new(request), error.into()));
        }
        let asked = connection.try_send_request(request).await;
        asked.map_err(|mut error| match error.take_message() {
            Some(unsent) => Failure::Unsent(Box::new(unsent), error.into_error().into()),
            None => {
                let error = error.into_error();
                match error
                    .source()
                    .and_then(|cause| cause.downcast_ref::<UploadError>())
                {
                    Some(upload) => Failure::Upload(*upload),
                    None if error.is_parse() => Failure::Wrong(error.into()),
                    None => Failure::Lost(error.into()),
                }
            }
        })
    });
    // An interruption: the client has left, or the time is up.
    asked.unwrap_or_else(|interrupt| Err(Failure::Lost(interrupt.into())))
}
