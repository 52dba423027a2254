//! The rooms and their members.
//!
//! Each member of a room has an outbox, which a separate fiber empties. A message is pushed to all
//! outboxes of the room under one lock, without waiting. So all members receive all messages in the
//! same order, and none waits for a slow reader. A member with a full outbox is cut off; memory
//! stays flat.

use std::collections::HashMap;
use std::net::Shutdown;

use pirn::channel::Sender;
use pirn::net::TcpStream;
use pirn::sync::Mutex;
use tungstenite::Bytes;
use tungstenite::protocol::frame::Frame;
use tungstenite::protocol::frame::coding::{Data, OpCode};

/// All rooms that have members.
#[derive(Debug, Default)]
pub(crate) struct Rooms(Mutex<HashMap<String, Vec<Member>>>);

/// A member of a room, which it leaves when this is dropped.
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
    /// Adds a member to a room.
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
    /// Sends a message to all members of the room, the sender included.
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
    /// Pushes a frame to the outbox. If it is full, cuts off the connection and returns false.
    fn hear(&self, frame: &Bytes) -> bool {
        let is_heard = self.outbox.try_send(frame.clone()).is_ok();
        if !is_heard {
            // Fibers that wait for the socket resume and detect the end. If it fails, there are
            // none.
            let _ = self.stream.shutdown(Shutdown::Both);
        }
        is_heard
    }
}
