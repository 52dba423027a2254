//! What is left of this room under loom: the parts that decide who goes on, which take a
//! lock from outside and so need no constant constructor. Owns nothing else.

mod holder;
mod permits;
mod shared_turns;

#[cfg(test)]
mod tests;
