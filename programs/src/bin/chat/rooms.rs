//! Who is in which room.
//!
//! Whoever is in a room has an outbox, which a fiber of his own empties. What is said is put
//! into all outboxes of the room under one lock, without waiting: so everybody hears everything in the
//! same order, and nobody waits for a slow reader. Whose outbox is full is cut off; memory stays
//! flat.

use std::collections::HashMap;
use std::net::Shutdown;

use pirn::channel::Sender;
use pirn::net::TcpStream;
use pirn::sync::Mutex;
use tungstenite::Bytes;
use tungstenite::protocol::frame::Frame;
use tungstenite::protocol::frame::coding::{Data, OpCode};

/// All rooms in which there is somebody.
#[derive(Debug, Default)]
pub(crate) struct Rooms(Mutex<HashMap<String, Vec<Member>>>);

/// Somebody in a room; gone from it when this is dropped.
#[derive(Debug)]
pub(crate) struct Presence<'a> {
    rooms: &'a Rooms,
    room: String,
    outbox: Sender<Bytes>,
}

#[derive(Debug)]
struct Member {
    outbox: Sender<Bytes>,
    stream: TcpStream,
}

impl Rooms {
    /// Lets somebody into a room.
    pub(crate) fn enter(
        &self,
        room: String,
        outbox: Sender<Bytes>,
        stream: TcpStream,
    ) -> Presence<'_> {
        let member = Member {
            outbox: outbox.clone(),
            stream,
        };
        self.0.lock().entry(room.clone()).or_default().push(member);
        Presence {
            rooms: self,
            room,
            outbox,
        }
    }
}

impl Presence<'_> {
    /// Says something to everybody in the room, the speaker included.
    pub(crate) fn say(&self, text: &str) -> tungstenite::Result<()> {
        let text = Bytes::copy_from_slice(text.as_bytes());
        let frame = Frame::message(text, OpCode::Data(Data::Text), true);
        let mut encoded = Vec::new();
        frame.format(&mut encoded)?;
        // Encoded once for all of them.
        let encoded = Bytes::from(encoded);
        if let Some(members) = self.rooms.0.lock().get_mut(&self.room) {
            members.retain(|member| member.hear(&encoded));
        }
        Ok(())
    }
}

impl Drop for Presence<'_> {
    fn drop(&mut self) {
        let mut rooms = self.rooms.0.lock();
        let Some(members) = rooms.get_mut(&self.room) else {
            return;
        };
        members.retain(|member| !member.outbox.same_channel(&self.outbox));
        if members.is_empty() {
            rooms.remove(&self.room);
        }
    }
}

impl Member {
    /// Hands over what is to be sent; false if there is no room for it, and cuts off the connection
    /// then.
    fn hear(&self, frame: &Bytes) -> bool {
        let is_heard = self.outbox.try_send(frame.clone()).is_ok();
        if !is_heard {
            // Whoever waits for the socket goes on and finds the end. If it fails, there is
            // nobody.
            let _ = self.stream.shutdown(Shutdown::Both);
        }
        is_heard
    }
}
