//! Tests of the room, by file; `ride` is the small driver that they share.

mod cache;
mod cost;
mod layout;
mod many;
mod overflow;
mod pool;
mod ride;
mod switch;

#[cfg(all(target_arch = "x86_64", unix, not(feature = "corosensei")))]
#[path = "registers_x86_64.rs"]
mod registers;
