//! Tests of the room, by file; `ride` is the small driver that they share.

mod ride;
mod switch;
