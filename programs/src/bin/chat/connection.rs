//! One client, from its handshake to its goodbye.
//!
//! The connection's fiber reads; another one writes what is in the outbox, and asks the client again and
//! again whether it is there, whatever else it is sent: who only listens says nothing but its answers.
//! The end comes from the reader: it drops the last senders of the outbox, so the writer ends when it
//! has written all of it.

use std::io::Write as _;
use std::net::Shutdown;
use std::time::Duration;

use anyhow::{Context as _, bail};
use pirn::channel::{self, Receiver, RecvTimeoutError, Sender};
use pirn::net::TcpStream;
use pirn::{scope, time};
use pirn_programs::{Stop, hang_up};
use tungstenite::error::ProtocolError;
use tungstenite::handshake::server::{Request, Response};
use tungstenite::protocol::frame::Frame;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tungstenite::{Bytes, Error, HandshakeError, Message, WebSocket};

use crate::inbound::Inbound;
use crate::rooms::{Presence, Rooms};

/// Serves a client until it says goodbye, is gone or cut off, or the server has been told to end.
pub(crate) fn serve(
    stream: TcpStream,
    rooms: &Rooms,
    ping: Duration,
    stop: &Stop,
) -> anyhow::Result<()> {
    stream.set_nodelay(true)?;
    // For the handshake too. Whoever is there answers a ping, and so is not silent for that long.
    stream.set_read_timeout(Some(2 * ping))?;
    stream.set_write_timeout(Some(2 * ping))?;
    scope(|s| {
        let (outbox, unsent) = channel::bounded(OUTBOX);
        let writer = s.spawn(|| write(&stream, unsent, ping));
        let read = read(&stream, outbox, rooms, stop);
        let written = writer.join().context("the writer has panicked")?;
        read.and(written)
    })?;
    // It fails if the connection has been cut off.
    let _ = hang_up(stream);
    Ok(())
}

/// Reads what the client says, from the handshake on.
#[expect(
    clippy::result_large_err,
    reason = "the answer to a handshake is tungstenite's"
)]
fn read(
    stream: &TcpStream,
    outbox: Sender<Bytes>,
    rooms: &Rooms,
    stop: &Stop,
) -> anyhow::Result<()> {
    let inbound = Inbound::new(stream.try_clone()?, outbox.clone());
    let mut room = String::new();
    let choose = |request: &Request, response: Response| {
        request.uri().path().clone_into(&mut room);
        Ok(response)
    };
    let config = WebSocketConfig::default()
        .read_buffer_size(4 << 10)
        .max_message_size(Some(LONGEST))
        .max_frame_size(Some(LONGEST));
    let mut socket =
        match tungstenite::accept_hdr_with_config(inbound, choose, Some(config)) {
            Ok(socket) => socket,
            Err(HandshakeError::Failure(error)) => return told(Err(error)),
            Err(HandshakeError::Interrupted(_)) => bail!("no handshake in time"),
        };
    let presence = rooms.enter(room, outbox, stream.try_clone()?);
    told(listen(&mut socket, &presence, stop))
}

/// Passes on what the client says, until its goodbye.
fn listen(
    socket: &mut WebSocket<Inbound>,
    presence: &Presence<'_>,
    stop: &Stop,
) -> tungstenite::Result<()> {
    // Pings and goodbyes are answered inside.
    while let Some(message) = stop.unless(|| socket.read())? {
        if let Message::Text(text) = message {
            presence.say(&text)?;
        }
    }
    socket.close(Some(CloseFrame {
        code: CloseCode::Away,
        reason: "the server ends".into(),
    }))?;
    socket.flush()?;
    // The client answers, and what it says meanwhile is not heard.
    let answered = pirn::timeout(GOODBYE, || {
        loop {
            socket.read()?;
        }
    });
    answered.unwrap_or(Ok(()))
}

/// Writes what is to be sent. When it cannot, the connection is over for both.
fn write(
    stream: &TcpStream,
    unsent: Receiver<Bytes>,
    ping: Duration,
) -> anyhow::Result<()> {
    let written = write_all(stream, &unsent, ping);
    if written.is_err() {
        // The reader goes on, and finds the end. If it fails, it has.
        let _ = stream.shutdown(Shutdown::Both);
    }
    written
}

fn write_all(
    mut stream: &TcpStream,
    unsent: &Receiver<Bytes>,
    ping: Duration,
) -> anyhow::Result<()> {
    let mut question = Vec::new();
    Frame::ping(Bytes::new()).format(&mut question)?;
    let question = Bytes::from(question);
    // There are no pings before the answer to the handshake.
    let Ok(answer) = unsent.recv() else {
        return Ok(());
    };
    stream.write_all(&answer)?;
    let mut next = time::now() + ping;
    loop {
        if time::now() >= next {
            stream.write_all(&question)?;
            next = time::now() + ping;
        }
        match unsent.recv_deadline(next) {
            Ok(frame) => stream.write_all(&frame)?,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Err(RecvTimeoutError::Interrupted(interrupt)) => bail!(interrupt),
        }
    }
}

/// What there is to be told of how a connection has ended.
fn told(ended: tungstenite::Result<()>) -> anyhow::Result<()> {
    match ended {
        Ok(()) | Err(Error::ConnectionClosed | Error::AlreadyClosed) => Ok(()),
        // Many leave without a word.
        Err(Error::Protocol(ProtocolError::ResetWithoutClosingHandshake)) => Ok(()),
        Err(Error::Io(error)) => Err(error.into()),
        Err(error) => Err(error.into()),
    }
}

/// How many frames may wait for a client before it is cut off. Arbitrary.
const OUTBOX: usize = 64;

/// The most bytes that can be said at once. Arbitrary.
const LONGEST: usize = 64 << 10;

/// How long the answer to a goodbye may take. Arbitrary.
const GOODBYE: Duration = Duration::from_secs(1);
