//! The part of this module that models of one protocol have: the files that decide the order of
//! waiters. They take a lock from outside and so need no constant constructor. Owns nothing else.

mod holder;
mod permits;
mod shared_turns;

#[cfg(test)]
mod tests;
