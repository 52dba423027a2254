//! The wheel of armed timers, and its levels.

mod armed;
mod levels;

pub(crate) use armed::Wheel;
pub(crate) use levels::Levels;
