//! What holds of `compare` as a whole.

mod servers;
