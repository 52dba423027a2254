//! The outcome of a decoder's step: more data, the end, or a failure.

use std::io;

use crate::gzip::{Damage, Flaw};

/// Whether a decoder has more data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It may have appended data; there may be more.
    More,
    /// The data is complete.
    End,
}

/// Why a decoder stopped.
#[derive(Debug)]
pub enum Stop {
    /// The input could not be read.
    Read(io::Error),
    /// The input is damaged.
    Damage(Damage),
}

impl Stop {
    pub(super) fn damage(offset: u64, flaw: Flaw) -> Stop {
        Stop::Damage(Damage { offset, flaw })
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Stop::Read(error)
    }
}
