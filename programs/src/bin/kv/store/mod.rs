//! Keys, their values and their expiry.
//!
//! A key belongs to one of 64 tables by its hash, each behind a lock that is held for as long as
//! one command works on one key. A command on several keys, and a transaction, first lock all
//! shards that they need, in ascending order, and hold them to the end: [`Keys::hold`].
//!
//! No lock is held while a large value is copied, sent or freed: such values are shared.
//!
//! An expired key does not exist for any command. Rounds of a sweeper remove the expired keys that
//! no command accesses.

mod garbage;
mod keys;
mod scan;
mod shard;
mod shards;
mod value;
mod watch;

pub(crate) use keys::{Keys, Shards};
pub(crate) use scan::Page;
pub(crate) use shards::{Condition, NoSum, Store, Until};
pub(crate) use value::{LARGE, Value};
pub(crate) use watch::Alert;
