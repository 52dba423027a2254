//! Tests of this room.

mod pools;
