//! The participating libraries.

use super::super::OURS;

/// pirn again, in the form that passes a scope.
pub(in crate::peers) const SCOPE: &str = "pirn-scope";

/// Plain calls on one thread.
pub(in crate::peers) const SERIAL: &str = "serial";

/// The libraries that can join two closures on their workers, and plain calls.
pub(in crate::peers) const LIBRARIES: &[&str] = &[OURS, SCOPE, "rayon", "chili", SERIAL];
