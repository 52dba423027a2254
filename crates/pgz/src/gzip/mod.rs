//! The gzip file format (RFC 1952) and what pgz adds to it. Pure: bytes in, bytes out.
//!
//! * [`Header`], [`Trailer`]: what stands around the deflate data of a member.
//! * [`Mark`]: the extra field by which `-i` files say where each member ends.
//! * [`Damage`], [`Flaw`]: what is wrong with a file, and at which byte.
//! * [`Counted`]: a reader that knows its offset in the file.
//!
//! The room knows nothing of deflate, of files, or of who runs it.

mod counted;
mod damage;
mod header;
mod mark;
mod trailer;

pub use counted::Counted;
pub use damage::{Damage, Flaw};
pub use header::{Header, MAGIC};
pub use mark::Mark;
pub use trailer::Trailer;

#[cfg(test)]
mod tests;
