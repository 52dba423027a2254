//! Processors and systems without a shadow stack that a switch could break.

use std::io;

/// Returns `Ok`.
///
/// # Errors
/// None here.
pub(crate) fn check_shadow_stack() -> io::Result<()> {
    Ok(())
}
