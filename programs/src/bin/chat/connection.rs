//! One client, from its handshake to its goodbye.
//!
//! The connection's fiber reads. Another one writes the contents of the outbox, and pings the
//! client at intervals, whatever else it sends: a client that only listens sends nothing but pongs.
//! The reader initiates the end: it drops the last senders of the outbox, so the writer ends when
//! it has written all of it.

use std::io::Write as _;
use std::net::Shutdown;
use std::time::Duration;

use anyhow::bail;
use pirn::channel::{self, Receiver, RecvTimeoutError, Sender};
use pirn::net::TcpStream;
use pirn::{scope, time};
use pirn_programs::{Stop, hang_up};
use tungstenite::error::ProtocolError;
use tungstenite::protocol::frame::Frame;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tungstenite::{Bytes, Error, Message, WebSocket};

use crate::handshake::{self, Origins};
use crate::inbound::Inbound;
use crate::rooms::{Presence, Rooms};

/// The shared state and limits of connections.
#[derive(Debug)]
pub(crate) struct Settings {
    /// Timeout of the handshake.
    pub(crate) handshake: Duration,
    /// Interval between pings.
    pub(crate) ping: Duration,
    pub(crate) origins: Origins,
}

/// Serves a client until it sends a close frame, disconnects or is cut off, or the server shuts
/// down.
pub(crate) fn serve(
    stream: TcpStream,
    rooms: &Rooms,
    settings: &Settings,
    stop: &Stop,
) -> anyhow::Result<()> {
    let ping = settings.ping;
    stream.set_nodelay(true)?;
    // A live client answers pings, and so is never silent for this long.
    stream.set_read_timeout(Some(2 * ping))?;
    stream.set_write_timeout(Some(2 * ping))?;
    let ended = scope(|s| {
        let (outbox, unsent) = channel::bounded(OUTBOX);
        let writer = s.spawn(|| write(&stream, unsent, ping));
        let read = read(&stream, outbox, rooms, settings, stop);
        let written = writer.join()?;
        read.and(written)
    });
    // After an error too: the client receives the answer or the close frame that names it. It fails
    // if the connection has been cut off.
    let _ = hang_up(stream);
    ended
}

/// Reads the client's messages, from the handshake on.
fn read(
    stream: &TcpStream,
    outbox: Sender<Bytes>,
    rooms: &Rooms,
    settings: &Settings,
    stop: &Stop,
) -> anyhow::Result<()> {
    let inbound = Inbound::new(stream.try_clone()?, outbox.clone());
    let config = WebSocketConfig::default()
        .read_buffer_size(4 << 10)
        .max_message_size(Some(LONGEST))
        .max_frame_size(Some(LONGEST));
    let accept =
        || handshake::accept(inbound, &settings.origins, settings.handshake, config);
    let (mut socket, room) = match stop.unless(accept) {
        Ok(Some(accepted)) => accepted,
        Ok(None) => return Ok(()),
        Err(refused) => {
            if let Some(answer) = refused.answer() {
                // It fails if the connection has been cut off.
                let _ = outbox.send(answer);
            }
            bail!(refused);
        }
    };
    let presence = rooms.enter(room, outbox, stream.try_clone()?);
    let heard = listen(&mut socket, &presence, stop);
    // No message of the room is sent behind a close frame.
    drop(presence);
    told(part(&mut socket, heard))
}

/// Passes on the client's messages, until the server shuts down. A close frame of the client is an
/// error here.
fn listen(
    socket: &mut WebSocket<Inbound>,
    presence: &Presence<'_>,
    stop: &Stop,
) -> tungstenite::Result<()> {
    // Pings and close frames are answered inside.
    while let Some(message) = stop.unless(|| socket.read())? {
        if let Message::Text(text) = message {
            presence.say(&text)?;
        }
    }
    Ok(())
}

/// Sends a close frame with this reason: the server's shutdown, or the client's error.
fn part(
    socket: &mut WebSocket<Inbound>,
    heard: tungstenite::Result<()>,
) -> tungstenite::Result<()> {
    let Err(error) = heard else {
        socket.close(Some(CloseFrame {
            code: CloseCode::Away,
            reason: "the server ends".into(),
        }))?;
        // The client answers; its messages meanwhile are ignored.
        let answered = pirn::timeout(GOODBYE, || {
            loop {
                socket.read()?;
            }
        });
        return answered.unwrap_or(Ok(()));
    };
    let (code, reason) = match &error {
        // It no longer reads.
        Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => {
            return Err(error);
        }
        Error::Protocol(_) => (CloseCode::Protocol, "against the protocol"),
        Error::Utf8(_) => (CloseCode::Invalid, "not UTF-8"),
        Error::Capacity(_) => (CloseCode::Size, "too long"),
        _ => return Err(error),
    };
    // No answer is awaited: further input cannot be parsed. If it fails, the connection has been
    // cut off.
    let reason = reason.into();
    let _ = socket.close(Some(CloseFrame { code, reason }));
    Err(error)
}

/// Writes the outbox. If that fails, the connection ends for both fibers.
fn write(
    stream: &TcpStream,
    unsent: Receiver<Bytes>,
    ping: Duration,
) -> anyhow::Result<()> {
    let written = write_all(stream, &unsent, ping);
    if written.is_err() {
        // The reader resumes, and detects the end. If it fails, it already has.
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

/// Returns the error to report at the end of a connection, if any.
fn told(ended: tungstenite::Result<()>) -> anyhow::Result<()> {
    match ended {
        Ok(()) | Err(Error::ConnectionClosed | Error::AlreadyClosed) => Ok(()),
        // Many clients leave without a close frame.
        Err(Error::Protocol(ProtocolError::ResetWithoutClosingHandshake)) => Ok(()),
        Err(Error::Io(error)) => Err(error.into()),
        Err(error) => Err(error.into()),
    }
}

/// Capacity of the outbox in frames; above it a client is cut off. Arbitrary.
const OUTBOX: usize = 64;

/// Maximum bytes of a message. Arbitrary.
const LONGEST: usize = 64 << 10;

/// Timeout of the answer to a close frame. Arbitrary.
const GOODBYE: Duration = Duration::from_secs(1);
