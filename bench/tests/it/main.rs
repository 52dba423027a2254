//! What holds of `compare` as a whole.

mod forks;
mod servers;
