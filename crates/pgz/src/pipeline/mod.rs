//! From a reader to a writer, over all cores, in order and in bounded memory.
//!
//! ```text
//! compress    source ──▶ job per block ──▶ [window] ──▶ sink          (+ CRC combine)
//! decompress  source ──▶ [chunks] ──▶ decode stage ──▶ [pieces] ──▶ sink  (CRC, write)
//!                                     └─▶ job: marked members ─┘
//! ```
//!
//! `source` and `sink` are where reads and writes may block; everything between them
//! computes. A bracket is a bounded channel: the faster side waits there, so memory does not grow
//! with the file, nor with a slow consumer.
//!
//! * [`Executor`]: the interface to jobs, stages and channels. The tool runs on [`Fibers`], the
//!   benches compare with [`Threads`].
//! * [`Engine`]: an executor, the settings and the pools; [`Engine::compress`] and
//!   [`Engine::decompress`] are the two pipelines.
//! * [`decode()`]: the decode stage alone, without any executor (for the fuzz target).
//!
//! When one side fails, its end of the channel closes, and the other side stops there. Nothing is
//! cancelled from outside, and nothing is left running.

mod blocks;
mod compress;
mod decode;
mod decompress;
mod emit;
mod engine;
mod executor;
mod failure;
pub mod fibers;
mod stream;
#[expect(clippy::disallowed_methods, reason = "plain threads are its point")]
pub mod threads;

pub use decode::{Foreign, Method, Outcome, Stop, decode};
pub use emit::{Emit, Gone, Member};
pub use engine::{BLOCK_SIZES, Engine, Settings};
pub use executor::{Drain, Executor, Feed, Line, Lost};
pub(crate) use failure::plain;
pub use failure::{Failure, Tally};
pub use fibers::Fibers;
pub use threads::Threads;

#[cfg(test)]
mod tests;
