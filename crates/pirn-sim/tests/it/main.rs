//! Known bugs are found, correct programs pass, failures replay.
#![expect(
    clippy::disallowed_methods,
    reason = "tests of the campaign itself, on plain threads"
)]

mod corpus;
mod diagram;
mod found;
mod histories;
mod passes;
mod points;
mod properties;
mod replays;
mod searches;
mod stuck;
mod time;
