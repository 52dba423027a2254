//! The participating peers, and those that exist for these cases alone.

use super::super::OURS;

/// pirn with fibers that may migrate.
pub(crate) const FREE: &str = "pirn-free";

/// pirn with four times as many workers as processors.
pub(crate) const EIGHT: &str = "pirn-8";

/// tokio with `spawn_blocking` for code that computes or blocks.
pub(crate) const ASIDE: &str = "tokio-sb";

/// All peers of the programs in one process.
pub(in crate::peers) const PEERS: &[&str] =
    &[OURS, FREE, EIGHT, "threads", "tokio", ASIDE, "may", "go"];

/// The peers that have no other cases.
pub(in crate::peers) const ALONE: &[&str] = &[FREE, EIGHT, ASIDE];
