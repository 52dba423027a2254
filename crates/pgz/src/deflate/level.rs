//! gzip's levels in terms of the library's efforts.
//!
//! The library's own level 1 is twice as fast as gzip's, with 18 % larger output. Users compare
//! `pgz -1` with `gzip -1` by size as well as by speed. So each level takes the cheapest effort
//! with output at most 1 % larger than pigz's. Level 8 takes the effort of 9, which is both smaller
//! and faster than the library's 8.

/// A compression level, 1 (fast) to 9 (small).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level(u8);

impl Level {
    /// Returns the level with that number; `None` outside 1..=9.
    pub fn new(number: u8) -> Option<Level> {
        (1..=9).contains(&number).then_some(Level(number))
    }

    /// Returns the number on the command line.
    pub fn number(self) -> u8 {
        self.0
    }

    /// Returns the header's XFL byte: 4 for the fastest, 2 for the slowest level.
    pub fn xfl(self) -> u8 {
        match self.0 {
            1 => 4,
            9 => 2,
            _ => 0,
        }
    }

    pub(super) fn effort(self) -> flate2::Compression {
        flate2::Compression::new(EFFORT[usize::from(self.0) - 1])
    }
}

impl Default for Level {
    fn default() -> Self {
        Level(6)
    }
}

/// Library effort for levels 1 to 9. Measured on a 328 MB tar of sources, scripts and
/// documentation; see `bench/RESULTS.md`.
const EFFORT: [u32; 9] = [2, 2, 3, 4, 5, 6, 7, 9, 9];
