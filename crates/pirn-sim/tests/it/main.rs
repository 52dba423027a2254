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
<<<<<<< HEAD
mod stuck;
=======
mod searches;
>>>>>>> 6454b3e6 (wip)
mod time;
