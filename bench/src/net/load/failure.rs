//! Why a load has no figures.

use std::{error, fmt, io};

/// What was wrong, and where.
#[derive(Debug)]
pub enum Failure {
    /// A connection broke, or could not be made.
    Io {
        /// Which of the connections, or which part of the load.
        place: String,
        /// What the system says.
        error: io::Error,
    },
    /// A server answered wrongly.
    Wrong {
        /// Which of the connections.
        connection: usize,
        /// In words.
        what: String,
    },
    /// Nothing came for a long time.
    Silent {
        /// How many answers were still awaited.
        awaited: u64,
    },
}

impl Failure {
    /// Puts a place to an error of the system.
    pub(super) fn at(place: impl Into<String>) -> impl FnOnce(io::Error) -> Failure {
        let place = place.into();
        move |error| Failure::Io { place, error }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Io { place, error } => write!(out, "{place}: {error}"),
            Failure::Wrong { connection, what } => {
                write!(out, "connection {connection}: {what}")
            }
            Failure::Silent { awaited } => {
                write!(out, "the server is silent, {awaited} answers are missing")
            }
        }
    }
}

impl error::Error for Failure {}
