//! The gzip file format (RFC 1952) and pgz's additions. Pure: bytes in, bytes out.
//!
//! * [`Header`], [`Trailer`]: the parts around the deflate data of a member.
//! * [`Mark`]: the extra field of `-i` files with the length of each member.
//! * [`Damage`], [`Flaw`]: a kind of damage, and its offset.
//! * [`Counted`]: a reader that knows its offset in the file.
//!
//! The module knows nothing of deflate, files, or the executor.

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
