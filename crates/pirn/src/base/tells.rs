//! Whether the library keeps what only reports read: counters that no decision rests on, why a
//! fiber waits, what a worker is watched for.
//!
//! It does in every build but one: `cargo xtask bench cost` builds the library once more with
//! `--cfg pirn_bare` and compares instructions, so that what all this costs is known.

/// False in the build that others are compared with.
pub(crate) const TELLS: bool = !cfg!(pirn_bare);
