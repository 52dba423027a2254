//! The reason why a load has no figures.

use std::{error, fmt, io};

/// An error, and its place.
#[derive(Debug)]
pub enum Failure {
    /// A connection failed, or could not be opened.
    Io {
        /// The connection, or the part of the load.
        place: String,
        /// The system's error.
        error: io::Error,
    },
    /// A server answered wrongly.
    Wrong {
        /// The connection.
        connection: usize,
        /// In words.
        what: String,
    },
    /// No bytes arrived for a long time.
    Silent {
        /// Number of missing answers.
        awaited: u64,
    },
}

impl Failure {
    /// Adds a place to an error of the system.
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
